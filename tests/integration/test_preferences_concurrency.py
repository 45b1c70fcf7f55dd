"""Many hands at once: every capture is kept, positions have no gaps, groups wait in no ring."""

from __future__ import annotations

import itertools
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from judgment.db.connection import Database
from tests.fakes.people import make_owner, switch_flag
from tests.fakes.preferences import Shelf, signal
from tests.fakes.rounds import rows

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P3-hosted", "P3-measure")

THREADS = 8


@pytest.fixture
def shelves(module_database: TestDatabase) -> Iterator[list[Shelf]]:
    """A door per hand, each with a connection of its own."""
    switch_flag(module_database, '{"global": true, "user_overrides": {}}')
    made = [Shelf(module_database) for _ in range(THREADS)]
    yield made
    for shelf in made:
        shelf.close()


def together(*deeds: Callable[[], object]) -> None:
    """All at once, to the end; raises what one of them raised."""
    barrier = threading.Barrier(len(deeds))
    failures: list[BaseException] = []

    def run(deed: Callable[[], object]) -> None:
        barrier.wait(30)
        try:
            deed()
        except BaseException as error:  # noqa: BLE001  (raised again below)
            failures.append(error)

    threads = [threading.Thread(target=run, args=(deed,)) for deed in deeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    if failures:
        raise failures[0]


def keep(shelf: Shelf, who: uuid.UUID, *signals: dict[str, Any], key: str | None = None) -> Any:
    status, body = shelf.as_agent(who, "POST", "/signals", body={"signals": list(signals)}, key=key)
    assert status == 201, body
    return body["signals"]


def positions(database: TestDatabase, table: str, who: uuid.UUID) -> list[int]:
    return [
        place
        for (place,) in rows(
            database, f"SELECT position FROM {table} WHERE user_id = %s ORDER BY position", who
        )
    ]


def test_a_hundred_captures_at_once_on_one_key_and_on_many_are_all_kept(shelves: list[Shelf]):
    database, who = shelves[0].database, make_owner(shelves[0].database)
    wanted = [("one.key", n) for n in range(50)] + [(f"many.k{n}", n) for n in range(50)]

    def hand(place: int) -> Callable[[], object]:
        mine = wanted[place::THREADS]
        return lambda: [keep(shelves[place], who, signal(key, n)) for key, n in mine]

    together(*(hand(place) for place in range(THREADS)))
    kept = rows(
        database,
        "SELECT key, (statement ->> 'value')::int FROM judgment.preference_signals"
        " WHERE user_id = %s",
        who,
    )
    assert sorted(kept) == sorted(wanted)
    assert positions(database, "judgment.preference_signals", who) == list(range(1, 101))
    for shelf in shelves:
        assert shelf.deliver() == []
    page = shelves[0].get(who, limit=200)
    assert (page["total"], page["pending"]) == (51, 0)
    (one,) = shelves[0].get(who, below="one")["entries"]
    assert one["provenance"]["n_signals"] == 50


def test_the_same_capture_from_all_hands_is_one(shelves: list[Shelf]):
    database, who = shelves[0].database, make_owner(shelves[0].database)
    named = str(uuid.uuid4())
    answers: list[Any] = []
    together(
        *(
            lambda shelf=shelf: answers.append(keep(shelf, who, signal(id=named)))
            for shelf in shelves[:4]
        ),
        *(
            lambda shelf=shelf: answers.append(keep(shelf, who, signal("keyed"), key="k"))
            for shelf in shelves[4:]
        ),
    )
    assert positions(database, "judgment.preference_signals", who) == [1, 2]
    new = [one["is_new"] for (one,) in answers if one["key"] != "keyed"]
    assert sorted(new) == [False, False, False, True]
    assert len({one["id"] for (one,) in answers}) == 2


def test_positions_have_no_gaps_where_some_captures_fail(shelves: list[Shelf]):
    """A capture that is refused after it took its place gives the place back."""
    database, who = shelves[0].database, make_owner(shelves[0].database)
    named = str(uuid.uuid4())
    keep(shelves[0], who, signal("first", id=named))
    clash = {"signals": [signal("lost"), signal("other", id=named)]}

    def hand(shelf: Shelf) -> Callable[[], object]:
        def work() -> None:
            for n in range(5):
                assert shelf.as_agent(who, "POST", "/signals", body=clash)[0] == 409
                keep(shelf, who, signal("kept", n), signal("kept too", n))

        return work

    together(*map(hand, shelves))
    assert positions(database, "judgment.preference_signals", who) == list(
        range(1, 2 + THREADS * 10)
    )
    assert rows(
        database,
        "SELECT appended, revision FROM judgment.preference_state WHERE user_id = %s",
        who,
    ) == [(1 + THREADS * 10,) * 2]


@pytest.mark.promise("P3-ledger-chain")
def test_the_chain_is_whole_under_reads_captures_and_consent_at_once(shelves: list[Shelf]):
    database, who = shelves[0].database, make_owner(shelves[0].database)

    def hand(place: int) -> Callable[[], object]:
        def work() -> None:
            shelf = shelves[place]
            for n in range(6):
                if place % 3 == 0:
                    keep(shelf, who, signal(f"k{place}", n))
                elif place % 3 == 1:
                    shelf.allow(who, f"name{place}.{n}")
                shelf.get(who)

        return work

    together(*(hand(place) for place in range(THREADS)))
    reads = THREADS * 6
    assert positions(database, "judgment.preference_ledger", who) == list(range(1, reads + 1))
    checked = shelves[0].verification(who)
    assert (checked["intact"], checked["length"]) == (True, reads)
    steps = positions(database, "judgment.consent_events", who)
    assert steps == list(range(1, len(steps) + 1))


@pytest.mark.promise("P3-hosted-group")
def test_groups_of_the_same_people_do_not_wait_in_a_ring(shelves: list[Shelf]):
    people = [make_owner(shelves[0].database) for _ in range(4)]
    for asking, asked in itertools.permutations(people, 2):
        shelves[0].allow(asked, f"user:{asking}", level="solve")

    def hand(place: int) -> Callable[[], object]:
        order = people[place % 4 :] + people[: place % 4]
        body = {
            "options": [{"id": "a", "keys": ["k"]}],
            "participants": [{"owner": str(who)} for who in order],
        }

        def work() -> None:
            for _ in range(5):
                status, answer = shelves[place].as_agent(order[0], "POST", "/solve", body=body)
                assert (status, answer["without_consent"]) == (200, [])

        return work

    together(*(hand(place) for place in range(THREADS)))
    for who in people:
        assert shelves[0].verification(who)["length"] == THREADS * 5


@pytest.mark.promise("P3-consent")
def test_a_revoke_that_was_answered_is_known_to_every_hand(shelves: list[Shelf]):
    ann, bob = (make_owner(shelves[0].database) for _ in range(2))
    shelves[0].capture(ann, signal())
    shelves[0].allow(ann, f"user:{bob}")
    revoked = threading.Event()
    late: list[int] = []

    def ask(shelf: Shelf) -> Callable[[], object]:
        def work() -> None:
            for _ in range(15):
                was_revoked = revoked.is_set()
                status = shelf.as_agent(bob, "GET", query={"owner": ann})[0]
                if was_revoked:
                    late.append(status)

        return work

    def revoke() -> None:
        shelves[0].revoke(ann, "*")
        revoked.set()

    together(revoke, *map(ask, shelves[1:]))
    assert set(late) <= {403}
    assert shelves[1].as_agent(bob, "GET", query={"owner": ann})[0] == 403


def test_one_connection_serves_one_owner_after_another(module_database: TestDatabase):
    """The claim ends with its transaction, also after a refusal."""
    shelf = Shelf(module_database, postgres=Database(module_database.url("judgment_preferences")))
    ann, bob = shelf.somebody(), shelf.somebody()
    shelf.capture(ann, signal("ann"))
    shelf.capture(bob, signal("bob"))
    for _ in range(3):
        assert list(shelf.values(ann)) == ["ann"]
        assert shelf.as_agent(bob, "GET", query={"owner": ann})[0] == 403
        assert list(shelf.values(bob)) == ["bob"]
    shelf.close()

"""The compiler, as messages of the bus reach it, against a real database."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from judgment.contract.jobs import Event
from judgment.db.connection import Database
from judgment.preferences import store
from judgment.preferences.compiling import compile_signals, encoded
from judgment.preferences.recompiling import Recompiling
from judgment.preferences.signals import from_stored
from tests.fakes.people import make_owner, run_as_admin, switch_flag
from tests.fakes.preferences import Shelf, message, signal
from tests.fakes.rounds import TestClock, rows

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P3-hosted", "P3-core-compile")

EVENTS = Path(__file__).parents[2] / "events/preference_compile"


@pytest.fixture
def shelf(module_database: TestDatabase) -> Iterator[Shelf]:
    switch_flag(module_database, '{"global": true, "user_overrides": {}}')
    made = Shelf(module_database)
    yield made
    made.close()


@pytest.fixture
def who(shelf: Shelf) -> uuid.UUID:
    return shelf.somebody()


def told(who: uuid.UUID, **changes: Any) -> Event:
    """An event of a capture."""
    values = {
        "id": uuid.uuid4(),
        "type": "preference.captured",
        "user_id": who,
        "subject_id": uuid.uuid4(),
        "correlation_id": "c-1",
    }
    return Event(**(values | changes))


def keep(shelf: Shelf, who: uuid.UUID, *signals: dict[str, Any]) -> Any:
    """Capture without compiling."""
    status, body = shelf.as_owner(who, "POST", "/signals", body={"signals": list(signals)})
    assert status == 201, body
    shelf.delivered = len(shelf.bus.taken)
    return body["signals"]


def documents(shelf: Shelf, who: uuid.UUID) -> dict[str, tuple[str, Any]]:
    """Text and time of each stored document, by platform."""
    found = rows(
        shelf.database,
        "SELECT platform, document::text, updated_at FROM judgment.preference_documents"
        " WHERE user_id = %s",
        who,
    )
    return {platform: (text, at) for platform, text, at in found}


def revisions(shelf: Shelf, who: uuid.UUID) -> Any:
    (found,) = rows(
        shelf.database,
        "SELECT revision, compiled_revision FROM judgment.preference_state WHERE user_id = %s",
        who,
    )
    return found


def test_what_is_stored_is_what_the_pure_compiler_makes_of_the_stream(shelf: Shelf, who: uuid.UUID):
    keep(shelf, who, signal(), signal("a", 1), signal("a", 2, scope="platform:codex"))
    now = datetime(2026, 12, 24, tzinfo=UTC)
    compiler = Recompiling(shelf.worker.transaction, TestClock(now))
    assert compiler.compile(who) == "compiled"
    statements = [
        statement
        for (statement,) in rows(
            shelf.database,
            "SELECT statement FROM judgment.preference_signals WHERE user_id = %s",
            who,
        )
    ]
    expected = compile_signals([from_stored(one) for one in reversed(statements)], now)
    stored = {platform: text for platform, (text, _) in documents(shelf, who).items()}
    assert stored == {p or "": encoded(d) for p, d in expected.documents.items()}
    assert set(stored) == {"", "codex"}


def test_a_message_that_comes_twice_late_or_for_what_is_done_writes_nothing(
    shelf: Shelf, who: uuid.UUID
):
    keep(shelf, who, signal())
    event = message(told(who))
    assert shelf.hand(event, event) == []
    before = documents(shelf, who)
    assert shelf.hand(event, message(told(who)), event) == []
    assert documents(shelf, who) == before
    assert revisions(shelf, who) == (1, 1)


def test_a_document_that_says_the_same_is_not_written_again(shelf: Shelf, who: uuid.UUID):
    keep(shelf, who, signal("a"), signal("b", scope="platform:codex"))
    assert shelf.hand(message(told(who))) == []
    before = documents(shelf, who)
    (old,) = keep(shelf, who, signal("c", scope="platform:codex"))
    assert shelf.hand(message(told(who))) == []
    after = documents(shelf, who)
    assert after[""] == before[""]
    assert after["codex"] != before["codex"]
    assert shelf.forget(who, old["id"])[0] == 204
    assert shelf.deliver() == []
    assert (
        json.loads(documents(shelf, who)["codex"][0])["digest"]
        == (json.loads(before["codex"][0])["digest"])
    )


@pytest.mark.promise("P3-defect-04")
def test_a_record_that_cannot_be_read_is_counted_and_breaks_nothing(shelf: Shelf, who: uuid.UUID):
    keep(shelf, who, signal("a"), signal("b"))
    run_as_admin(
        shelf.database,
        'UPDATE judgment.preference_signals SET statement = \'{"v": 2, "kind": "fact"}\''
        " WHERE user_id = %s AND key = 'b'",
        who,
    )
    assert shelf.hand(message(told(who))) == []
    page = shelf.get(who)
    assert ([e["key"] for e in page["entries"]], page["quarantined"]) == (["a"], 1)
    status, stream = shelf.as_owner(who, "GET", "/signals")
    assert (status, [one["key"] for one in stream["signals"]]) == (200, ["a"])
    assert shelf.as_owner(who, "GET", "/why", query={"key": "b"})[1]["candidates"] == []


def test_two_compilers_at_once_end_with_the_newest(shelf: Shelf, who: uuid.UUID):
    """The one that has read less comes last to write, and does not."""
    keep(shelf, who, signal(value="first"))
    read, go = threading.Event(), threading.Event()

    class Slow(TestClock):
        def __call__(self) -> datetime:
            read.set()
            assert go.wait(30)
            return datetime.now(UTC)

    slow = Database(shelf.database.url("judgment_worker"))
    outcome: list[str] = []
    late = threading.Thread(
        target=lambda: outcome.append(Recompiling(slow.transaction, Slow()).compile(who))
    )
    late.start()
    assert read.wait(30)
    keep(shelf, who, signal(value="second"))
    assert Recompiling(shelf.worker.transaction).compile(who) == "compiled"
    newest = documents(shelf, who)
    go.set()
    late.join(30)
    slow.close()
    assert outcome == ["overtaken"]
    assert documents(shelf, who) == newest
    assert shelf.values(who) == {"dining.cuisine.thai": "second"}
    assert revisions(shelf, who) == (2, 2)


def test_what_comes_while_it_compiles_is_left_for_the_next_message(shelf: Shelf, who: uuid.UUID):
    keep(shelf, who, signal(value="first"))

    class Busy(TestClock):
        def __call__(self) -> datetime:
            keep(shelf, who, signal(value="second"))
            return datetime.now(UTC)

    assert Recompiling(shelf.worker.transaction, Busy()).compile(who) == "compiled"
    assert revisions(shelf, who) == (2, 1)
    assert shelf.get(who)["pending"] == 1
    assert shelf.hand(message(told(who))) == []
    assert shelf.values(who) == {"dining.cuisine.thai": "second"}


def test_an_owner_who_was_erased_meanwhile_is_nothing_to_do(shelf: Shelf, who: uuid.UUID):
    keep(shelf, who, signal())

    class Erased(TestClock):
        def __call__(self) -> datetime:
            run_as_admin(shelf.database, "DELETE FROM auth.users WHERE id = %s", who)
            return datetime.now(UTC)

    assert Recompiling(shelf.worker.transaction, Erased()).compile(who) == "overtaken"
    assert shelf.hand(message(told(who)), message(told(uuid.uuid4()))) == []
    assert set(map(tuple, shelf.everything(who).values())) == {()}


def test_what_is_no_event_of_a_capture_fails_alone(shelf: Shelf, who: uuid.UUID):
    keep(shelf, who, signal())
    good = message(told(who))
    bad = [
        message(told(who), source="sync"),
        message(told(who), source="Judgment"),
        message(told(who, type="consent.changed")),
        message(told(who, version=2)),
        json.dumps(json.loads(good) | {"detail-type": "consent.changed"}),
        json.dumps(json.loads(good)["detail"]),
        "",
        "no json",
        "[" * 100_000,
        "[]",
    ]
    assert shelf.hand(*bad) == [f"m{n}" for n in range(len(bad))]
    assert documents(shelf, who) == {}
    assert shelf.hand(bad[0], good, bad[1]) == ["m0", "m2"]
    assert set(documents(shelf, who)) == {""}


def test_a_database_that_is_down_gives_the_message_back(shelf: Shelf, who: uuid.UUID):
    keep(shelf, who, signal())
    living = shelf.worker
    dead = Database("postgresql://judgment_worker@127.0.0.1:1/x")
    from functions.preference_compile.handler import build
    from judgment.entry.observability import Telemetry

    door = shelf.compile
    shelf.compile = build(Recompiling(dead.transaction), Telemetry("preference_compile"))
    assert shelf.hand(message(told(who))) == ["m0"]
    shelf.compile = door
    assert shelf.hand(message(told(who))) == []
    with living.transaction(who) as tx:
        assert store.revisions(tx, who) == (1, 1)


def test_the_examples_are_what_their_names_say(shelf: Shelf):
    captured = json.loads((EVENTS / "captured.json").read_text())
    person = uuid.UUID(json.loads(captured["Records"][0]["body"])["detail"]["user_id"])
    make_owner(shelf.database, person)
    keep(shelf, person, signal())
    assert shelf.compile(captured, None) == {"batchItemFailures": []}
    assert shelf.values(person) == {"dining.cuisine.thai": "yes"}
    refused = json.loads((EVENTS / "refused.json").read_text())
    failed = shelf.compile(refused, None)["batchItemFailures"]
    assert [f["itemIdentifier"] for f in failed] == [r["messageId"] for r in refused["Records"]]

"""An event is there exactly when its change is, and is sent at least once, whatever dies when."""

from __future__ import annotations

import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgment.contract.jobs import Event
from judgment.db.connection import Database
from judgment.kit.errors import Unavailable
from judgment.queue import outbox, store
from judgment.queue.processed import first_time
from tests.fakes.bus import FakeBus
from tests.integration.outbox_child import FileBus

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P1-1-outbox", "P1-1-killpoints")

ROOT = Path(__file__).parents[2]
CONSUMER = "under-test"


class Outbox:
    """The outbox of a database with one owner, as that owner and as the worker."""

    def __init__(self, database: TestDatabase):
        self.database = database
        self.owner = Database(database.url("judgment_owner"))
        self.worker = Database(database.url("judgment_worker"))
        self.user_id = uuid.uuid4()
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("INSERT INTO auth.users (id) VALUES (%s)", (self.user_id,))

    def event(self) -> Event:
        return Event(
            id=uuid.uuid4(),
            type="profile.changed",
            user_id=self.user_id,
            subject_id=self.user_id,
            correlation_id="c",
        )

    def change(self, count: int = 1, *, keep: bool = True) -> list[Event]:
        events = [self.event() for _ in range(count)]
        with suppress(ZeroDivisionError), self.owner.transaction(self.user_id) as tx:
            for event in events:
                outbox.put(tx, event)
            if not keep:
                raise ZeroDivisionError
        return events

    def publish(self, bus: Any, events: list[Event]) -> int:
        return outbox.publish(self.owner.transaction, bus, events)

    def sweep(self, bus: Any, **options: Any) -> outbox.Sweep:
        return outbox.sweep(self.worker.transaction, bus, **({"grace_seconds": 0.0} | options))

    def unsent(self) -> int:
        with self.worker.transaction() as tx:
            return store.count_unsent(tx)[0]

    def close(self) -> None:
        self.owner.close()
        self.worker.close()


@pytest.fixture
def box(fresh_database: TestDatabase) -> Iterator[Outbox]:
    made = Outbox(fresh_database)
    yield made
    made.close()


def test_a_committed_event_is_sent_at_once_and_not_again(box: Outbox) -> None:
    bus = FakeBus()
    events = box.change(23)
    assert box.publish(bus, events) == 23
    assert box.sweep(bus) == outbox.Sweep(sent=0, refused=0, waiting=0, oldest_seconds=0)
    assert sorted(bus.taken, key=lambda e: e.id) == sorted(events, key=lambda e: e.id)


def test_a_rolled_back_change_has_no_event(box: Outbox) -> None:
    bus = FakeBus()
    box.change(keep=False)
    assert box.sweep(bus).sent == 0
    assert bus.taken == []


def test_a_bus_that_is_down_costs_nothing_but_time(box: Outbox) -> None:
    bus = FakeBus()
    bus.down = True
    events = box.change(3)
    assert box.publish(bus, events) == 0
    swept = box.sweep(bus)
    assert (swept.sent, swept.refused, swept.waiting) == (0, 3, 3)
    assert swept.oldest_seconds > 0
    bus.down = False
    assert box.sweep(bus).sent == 3


def test_events_that_the_bus_refuses_do_not_hold_up_the_others(box: Outbox) -> None:
    bus = FakeBus()
    poison = box.change(outbox.BATCH + 2)
    bus.refused = {event.id for event in poison}
    good = box.change(3)
    swept = box.sweep(bus)
    assert (swept.sent, swept.refused, swept.waiting) == (3, len(poison), len(poison))
    assert {event.id for event in bus.taken} == {event.id for event in good}
    bus.refused = set()
    assert box.sweep(bus).sent == len(poison)


def test_the_sweep_leaves_fresh_events_to_the_request_that_made_them(box: Outbox) -> None:
    bus = FakeBus()
    box.change()
    swept = box.sweep(bus, grace_seconds=60.0)
    assert (swept.sent, swept.waiting) == (0, 1)


def test_a_sweep_stops_after_its_batches_and_says_what_is_left(box: Outbox) -> None:
    bus = FakeBus()
    box.change(3 * outbox.BATCH)
    swept = box.sweep(bus, batches=2)
    assert (swept.sent, swept.waiting) == (2 * outbox.BATCH, outbox.BATCH)


def test_two_sweeps_at_once_send_each_event_once(box: Outbox) -> None:
    bus = FakeBus()
    together = threading.Barrier(2)
    events = box.change(100)
    first_batch = threading.local()

    def meet() -> None:
        # Both sweeps hold a batch now; only then does either of them go on.
        if not getattr(first_batch, "seen", False):
            first_batch.seen = True
            together.wait(10)

    bus.after_taking = meet

    def run() -> None:
        worker = Database(box.database.url("judgment_worker"))
        outbox.sweep(worker.transaction, bus, grace_seconds=0)
        worker.close()

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(e.id for e in bus.taken) == sorted(e.id for e in events)
    assert box.unsent() == 0


def test_old_rows_are_retired_and_unsent_ones_never(box: Outbox) -> None:
    bus = FakeBus()
    box.publish(bus, box.change(2))
    box.change()
    with psycopg.connect(box.database.admin_url, autocommit=True) as admin:
        admin.execute(
            "INSERT INTO judgment.idempotency_keys (user_id, key, route, body_sha256, status)"
            " VALUES (%s, 'k', 'r', '0', 200)",
            (box.user_id,),
        )
        for table, column in (
            ("outbox", "created_at"),
            ("outbox", "sent_at"),
            ("idempotency_keys", "created_at"),
        ):
            moved = f"UPDATE judgment.{table} SET {column} = {column} - interval '40 days'"
            admin.execute(moved.encode())
    with box.worker.transaction() as tx:
        first_time(tx, CONSUMER, uuid.uuid4())
        assert store.retire(tx) == {"outbox": 2, "processed": 0, "idempotency_keys": 1}
    assert box.unsent() == 1


@pytest.mark.parametrize(
    ("point", "is_kept", "sent_by_child", "sent_by_sweep"),
    [
        ("outbox.before_commit", False, 0, 0),
        ("outbox.after_commit", True, 0, 1),
        ("outbox.after_send", True, 1, 1),
        ("none", True, 1, 0),
    ],
)
def test_a_process_killed_there_loses_nothing_and_doubles_no_effect(
    box: Outbox,
    tmp_path: Path,
    point: str,
    is_kept: bool,
    sent_by_child: int,
    sent_by_sweep: int,
) -> None:
    bus, event_id = FileBus(tmp_path / "bus"), str(uuid.uuid4())
    url = box.database.url("judgment_owner")
    child = subprocess.run(
        [
            *(sys.executable, "-m", "tests.integration.outbox_child"),
            *(url, str(box.user_id), event_id, str(tmp_path / "bus"), point),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert child.returncode == (0 if point == "none" else -9), child.stderr
    with box.owner.transaction(box.user_id) as tx:
        assert bool(tx.value("SELECT 1 FROM judgment.profile_state")) == is_kept
    assert bus.taken() == [event_id] * sent_by_child
    assert box.sweep(bus).sent == sent_by_sweep
    assert bus.taken() == [event_id] * (sent_by_child + sent_by_sweep)
    assert box.sweep(bus).sent == 0
    effects = 0
    for delivered in bus.taken():
        with box.worker.transaction() as tx:
            effects += first_time(tx, CONSUMER, uuid.UUID(delivered))
    assert effects == int(is_kept)


def test_a_delivery_that_failed_may_have_its_effect_later(box: Outbox) -> None:
    message = uuid.uuid4()
    with pytest.raises(ZeroDivisionError):
        _consume_and_fail(box, message)
    with box.worker.transaction() as tx:
        assert first_time(tx, CONSUMER, message)
    with box.worker.transaction() as tx:
        assert not first_time(tx, CONSUMER, message)
        assert first_time(tx, "another consumer", message)


def _consume_and_fail(box: Outbox, message: uuid.UUID) -> None:
    with box.worker.transaction() as tx:
        assert first_time(tx, CONSUMER, message)
        raise ZeroDivisionError


def test_two_deliveries_at_once_have_one_effect(box: Outbox) -> None:
    message, waiting, outcome = uuid.uuid4(), threading.Event(), list[bool]()

    def second() -> None:
        other = Database(box.database.url("judgment_worker"))
        with other.transaction() as tx:
            waiting.set()
            outcome.append(first_time(tx, CONSUMER, message))
        other.close()

    thread = threading.Thread(target=second)
    with box.worker.transaction() as tx:
        assert first_time(tx, CONSUMER, message)
        thread.start()
        assert waiting.wait(10)
    thread.join(10)
    assert outcome == [False]


class Death(BaseException):
    """The process ends here."""


class TrickyBus(FakeBus):
    """Takes part of what it gets, is down, or kills its caller after it took it."""

    def __init__(self, moods: Iterator[str]):
        super().__init__()
        self._moods = moods

    def put(self, events: Any) -> frozenset[uuid.UUID]:
        mood = next(self._moods, "fine")
        if mood == "down":
            raise Unavailable
        self.refused = {event.id for event in events[::2]} if mood == "picky" else set()
        taken = super().put(events)
        if mood == "deadly":
            raise Death
        return taken


STEPS = st.lists(
    st.tuples(st.sampled_from(["kept", "undone", "sweep"]), st.integers(1, 12), st.booleans()),
    max_size=8,
)
MOODS = st.lists(st.sampled_from(["fine", "down", "picky", "deadly"]), max_size=20)


@pytest.fixture(scope="module")
def shared_box(module_database: TestDatabase) -> Iterator[Outbox]:
    made = Outbox(module_database)
    yield made
    made.close()


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(STEPS, MOODS)
def test_no_history_loses_an_event_or_doubles_its_effect(
    shared_box: Outbox, steps: list[tuple[str, int, bool]], moods: list[str]
) -> None:
    box, bus, committed = shared_box, TrickyBus(iter(moods)), list[Event]()
    for deed, count, at_once in steps:
        with suppress(Death):
            if deed == "sweep":
                box.sweep(bus)
                continue
            events = box.change(count, keep=deed == "kept")
            if deed == "kept":
                committed += events
                if at_once:
                    box.publish(bus, events)
    for _ in range(len(moods) + 2):
        with suppress(Death):
            box.sweep(bus)
    assert box.unsent() == 0
    assert {event.id for event in bus.taken} == {event.id for event in committed}
    with box.worker.transaction() as tx:
        effects = [e.id for e in bus.taken if first_time(tx, CONSUMER, e.id)]
    assert sorted(effects) == sorted(event.id for event in committed)

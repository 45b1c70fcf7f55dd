"""The broom, against a real database and a bus in this process."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest

from functions.maintenance.handler import build
from judgment.contract.jobs import Event
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.errors import Unavailable
from judgment.queue.outbox import put
from tests.fakes.bus import FakeBus
from tests.fakes.people import make_owner, run_as_admin

if TYPE_CHECKING:
    from judgment.entry.schedule import ScheduleDoor
    from tests.databases import TestDatabase


class Harness:
    """The door over a real database."""

    def __init__(self, database: TestDatabase):
        self.database = database
        self.bus = FakeBus()
        self.worker = Database(database.url("judgment_worker"))
        self.door: ScheduleDoor = build(self.worker.transaction, self.bus, Telemetry("maintenance"))

    def event(self, who: uuid.UUID, *, minutes_ago: int = 1) -> Event:
        event = Event(
            id=uuid.uuid4(),
            type="profile.changed",
            user_id=who,
            subject_id=who,
            correlation_id="c",
        )
        owner = Database(self.database.url("judgment_owner"))
        with owner.transaction(who) as tx:
            put(tx, event)
        owner.close()
        run_as_admin(
            self.database,
            "UPDATE judgment.outbox SET created_at = now() - make_interval(mins => %s)"
            " WHERE id = %s",
            minutes_ago,
            event.id,
        )
        return event


@pytest.fixture
def h(fresh_database: TestDatabase) -> Iterator[Harness]:
    harness = Harness(fresh_database)
    yield harness
    harness.worker.close()


@pytest.mark.promise("P1-1-outbox")
def test_what_was_not_sent_goes_out_once(h: Harness):
    who = make_owner(h.database)
    events = [h.event(who) for _ in range(12)]
    answer = h.door({"task": "sweep"}, None)
    assert (answer["sent"], answer["waiting"]) == (12, 0)
    assert {event.id for event in h.bus.taken} == {event.id for event in events}
    assert h.door({"task": "sweep"}, None)["sent"] == 0
    assert len(h.bus.taken) == 12


@pytest.mark.promise("P1-1-outbox")
def test_while_the_bus_is_down_events_wait_and_are_counted(
    h: Harness, capsys: pytest.CaptureFixture[str]
):
    h.event(make_owner(h.database), minutes_ago=3)
    h.bus.down = True
    answer = h.door({"task": "sweep"}, None)
    assert (answer["sent"], answer["waiting"]) == (0, 1)
    assert answer["oldest_seconds"] >= 180
    assert '"OutboxWaiting":[1.0]' in capsys.readouterr().out
    h.bus.down = False
    assert h.door({"task": "sweep"}, None)["sent"] == 1


def test_retention_takes_what_is_past_its_time_and_nothing_else(h: Harness):
    who = make_owner(h.database)
    for age, key in ((8, "old"), (6, "young")):
        run_as_admin(
            h.database,
            "INSERT INTO judgment.idempotency_keys"
            " (user_id, key, route, body_sha256, status, created_at)"
            " VALUES (%s, %s, 'POST /x', 'd', 201, now() - make_interval(days => %s))",
            who,
            key,
            age,
        )
    waiting = h.event(who, minutes_ago=60 * 24 * 30)
    assert h.door({"task": "retention"}, None)["idempotency_keys"] == 1
    with psycopg.connect(h.database.admin_url) as admin:
        keys = admin.execute("SELECT key FROM judgment.idempotency_keys").fetchall()
        outbox = admin.execute("SELECT id FROM judgment.outbox").fetchall()
    assert (keys, outbox) == ([("young",)], [(waiting.id,)])


def test_a_database_that_is_down_fails_the_tick(h: Harness):
    dead = Database("postgresql://judgment_worker@127.0.0.1:1/judgment")
    door = build(dead.transaction, h.bus, Telemetry("maintenance"))
    with pytest.raises(Unavailable):
        door({"task": "sweep"}, None)

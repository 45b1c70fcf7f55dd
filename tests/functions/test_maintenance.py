"""The broom, against a real database and a bus in this process."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from functions.maintenance.handler import build
from judgment.contract.jobs import Event
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.errors import Unavailable
from judgment.queue.outbox import put
from judgment.summary import debounce
from judgment.summary.wakeups import wake_overdue
from tests.fakes.bus import FakeBus, FakeQueue
from tests.fakes.people import make_owner, run_as_admin

if TYPE_CHECKING:
    from judgment.entry.schedule import ScheduleDoor
    from tests.databases import TestDatabase

ROOT = Path(__file__).parents[2]
START = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
WINDOW = timedelta(minutes=10)


class Harness:
    """The door over a real database."""

    def __init__(self, database: TestDatabase):
        self.database = database
        self.bus = FakeBus()
        self.worker = Database(database.url("judgment_worker"))
        self.queue = FakeQueue()
        self.now = START
        self.door = self.over(self.worker)

    def over(self, worker: Database) -> ScheduleDoor:
        """The door over that database."""
        summaries = partial(wake_overdue, worker.transaction, self.queue, lambda: self.now, WINDOW)
        return build(worker.transaction, self.bus, summaries, Telemetry("maintenance"))

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

    def request(self) -> uuid.UUID:
        """An owner whose profile has moved now."""
        who = make_owner(self.database)
        owner = Database(self.database.url("judgment_owner"))
        with owner.transaction(who) as tx:
            debounce.request(tx, who, f"of {who}", self.now, WINDOW)
        owner.close()
        return who


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


@pytest.mark.promise("P4-memory-import", "P4-refuse")
def test_parts_of_an_import_that_nobody_carried_out_go_after_a_day(h: Harness):
    old, young = make_owner(h.database), make_owner(h.database)
    for who, hours in ((old, 25), (young, 23)):
        run_as_admin(
            h.database,
            "INSERT INTO judgment.memory_imports (user_id, import_id, part, content, created_at)"
            " VALUES (%s, gen_random_uuid(), 1, 'x', now() - make_interval(hours => %s))",
            who,
            hours,
        )
    assert h.door({"task": "retention"}, None)["memory_imports"] == 1
    with psycopg.connect(h.database.admin_url) as admin:
        left = admin.execute("SELECT user_id FROM judgment.memory_imports").fetchall()
    assert left == [(young,)]


def test_a_database_that_is_down_fails_the_tick(h: Harness):
    dead = Database("postgresql://judgment_worker@127.0.0.1:1/judgment")
    with pytest.raises(Unavailable):
        h.over(dead)({"task": "sweep"}, None)


@pytest.mark.promise("P2-5-debounce")
def test_an_overdue_summary_is_woken_again_each_minute_until_somebody_takes_it(
    h: Harness, capsys: pytest.CaptureFixture[str]
):
    who = h.request()
    assert h.door({"task": "sweep"}, None)["overdue"] == 0
    h.now += timedelta(minutes=2)
    answer = h.door({"task": "sweep"}, None)
    assert (answer["overdue"], answer["woken"]) == (1, 1)
    ((body, delay),) = h.queue.sent
    assert (json.loads(body), delay) == (
        {"user_id": str(who), "correlation_id": f"of {who}"},
        0,
    )
    assert '"SummaryOverdue":[1.0]' in capsys.readouterr().out
    with h.worker.transaction(who) as tx:
        assert debounce.claim(tx, who, h.now)
    assert h.door({"task": "sweep"}, None)["overdue"] == 0


@pytest.mark.promise("P2-5-debounce")
def test_a_dead_worker_is_followed_in_the_next_window(h: Harness):
    who = h.request()
    with h.worker.transaction(who) as tx:
        assert debounce.claim(tx, who, h.now)
    h.now += timedelta(minutes=3)
    assert h.door({"task": "sweep"}, None)["woken"] == 1
    assert [delay for _, delay in h.queue.sent] == [7 * 60]


@pytest.mark.promise("P2-5-debounce")
def test_while_the_queue_is_down_overdue_summaries_wait_and_events_still_go_out(h: Harness):
    h.request()
    h.event(make_owner(h.database))
    h.now += timedelta(minutes=2)
    h.queue.down = True
    answer = h.door({"task": "sweep"}, None)
    assert (answer["sent"], answer["overdue"], answer["woken"]) == (1, 1, 0)
    h.queue.down = False
    assert h.door({"task": "sweep"}, None)["woken"] == 1


@pytest.mark.promise("P2-accept-5")
def test_the_runbook_of_summaries_shows_who_waits_and_has_one_written_anew(h: Harness):
    page = (ROOT / "docs" / "runbooks" / "summaries.md").read_text()
    show, renew = re.findall(r"```(?:sql)?\n((?:SELECT|UPDATE).*?)```", page, re.DOTALL)
    h.now = datetime.now(UTC) - timedelta(hours=1)
    who = h.request()
    with psycopg.connect(h.database.url("judgment_worker"), autocommit=True) as worker:
        assert [row[0] for row in worker.execute(show.encode()).fetchall()] == [who]
        with h.worker.transaction(who) as tx:
            claimed = debounce.claim(tx, who, h.now)
            assert claimed
            assert debounce.finish(tx, who, claimed, None, h.now)
        assert worker.execute(show.encode()).fetchall() == []
        assert worker.execute(renew.replace("<user id>", str(who)).encode()).rowcount == 1
    h.now = datetime.now(UTC) + timedelta(minutes=2)
    assert h.door({"task": "sweep"}, None)["woken"] == 1

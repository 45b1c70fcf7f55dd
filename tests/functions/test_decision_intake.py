"""Decisions that a Sync app made, as messages of the bus, against a real database."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from functions.decision_intake.handler import build
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.profile.movement import components
from judgment.profile.service import read_stored
from judgment.profile.store import profile_row
from judgment.scenarios.intake import DecisionIntake
from judgment.scenarios.ports import Summaries
from judgment.summary.moves import request_if_moved
from judgment.summary.wakeups import wake
from tests.fakes.bus import FakeQueue
from tests.fakes.events import sqs_event
from tests.fakes.people import make_owner, run_as_admin
from tests.fakes.rounds import TestClock, rows

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P2-3-intake", "R-24-intake", "R-24")

EVENTS = Path(__file__).parents[2] / "events/decision_intake"


def message(who: uuid.UUID, *, source: str = "sync", **detail: Any) -> dict[str, Any]:
    """The envelope in which EventBridge puts an event into a queue."""
    inner = {
        "id": str(uuid.uuid4()),
        "type": "decision.recorded",
        "version": 1,
        "user_id": str(who),
        "subject_id": str(uuid.uuid4()),
        "correlation_id": "sync-1",
    } | detail
    return {
        "version": "0",
        "id": str(uuid.uuid4()),
        "detail-type": inner["type"],
        "source": source,
        "account": "123456789012",
        "time": "2026-11-30T12:00:00Z",
        "region": "eu-central-1",
        "resources": [],
        "detail": inner,
    }


def batch(*bodies: Any) -> dict[str, Any]:
    """A delivery of SQS; texts go in as they are."""
    return sqs_event("rounds", *(b if isinstance(b, str) else json.dumps(b) for b in bodies))


class Harness:
    """The door over a real database, with one owner of a Sync app."""

    def __init__(self, database: TestDatabase):
        self.database = database
        self.clock = TestClock()
        self.queue = FakeQueue()
        self.worker = Database(database.url("judgment_worker"))
        self.door = self.door_over(self.worker)
        self.who = make_owner(database)
        self.keep_profile("0.5")

    def door_over(self, worker: Database) -> Any:
        asking = partial(request_if_moved, window=timedelta(minutes=10))
        summaries = Summaries(asking, partial(wake, self.queue))
        intake = DecisionIntake(worker.transaction, summaries, self.clock)
        return build(intake, Telemetry("decision_intake"))

    def keep_profile(self, rate: str) -> None:
        """What the Sync app does before it tells us."""
        run_as_admin(
            self.database,
            "INSERT INTO public.player_decision_profiles AS p"
            " (user_id, games_analyzed, persuadability)"
            " VALUES (%s, 23, jsonb_build_object('n', 9, 'moved', %s::numeric))"
            " ON CONFLICT (user_id) DO UPDATE SET persuadability = excluded.persuadability,"
            " games_analyzed = p.games_analyzed + 1",
            self.who,
            rate,
        )

    def deliver(self, *bodies: Any) -> list[str]:
        """The ids of the messages that failed."""
        answer = self.door(batch(*bodies), None)
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    def missing(self) -> list[str]:
        found = rows(
            self.database,
            "SELECT decision_id::text FROM judgment.missing_snapshots WHERE user_id = %s",
            self.who,
        )
        return [row[0] for row in found]

    def everything(self) -> list[Any]:
        """All that an intake could touch."""
        tables = ("missing_snapshots", "processed", "summary_state", "decisions", "outbox")
        return [
            rows(self.database, f"SELECT to_jsonb(t)::text FROM judgment.{table} t ORDER BY 1")
            for table in tables
        ] + [self.profile()]

    def profile(self) -> list[Any]:
        return rows(
            self.database,
            "SELECT to_jsonb(p)::text FROM public.player_decision_profiles p WHERE user_id = %s",
            self.who,
        )


@pytest.fixture
def h(module_database: TestDatabase) -> Iterator[Harness]:
    harness = Harness(module_database)
    yield harness
    harness.worker.close()


def test_the_snapshot_is_counted_as_missing_and_a_summary_asked_for(h: Harness):
    before = h.profile()
    told = message(h.who)
    assert h.deliver(told) == []
    assert h.missing() == [told["detail"]["subject_id"]]
    ((woken, delay),) = h.queue.sent
    assert json.loads(woken) == {"user_id": str(h.who), "correlation_id": "sync-1"}
    assert delay == 0
    assert rows(
        h.database,
        "SELECT requested_seq, run_after = %s FROM judgment.summary_state WHERE user_id = %s",
        h.clock.now,
        h.who,
    ) == [(1, True)]
    assert h.profile() == before


def test_nothing_is_guessed(h: Harness):
    h.deliver(message(h.who))
    for table in (
        "judgment.decisions",
        "public.choices",
        "public.evaluation_snapshots",
        "judgment.outbox",
        "judgment.profile_state",
    ):
        found = rows(h.database, f"SELECT count(*) FROM {table} WHERE user_id = %s", h.who)
        assert found == [(0,)], table


def test_twice_and_out_of_order_and_as_two_events_is_once(h: Harness):
    first, second = message(h.who), message(h.who)
    retold = message(h.who, subject_id=first["detail"]["subject_id"])
    assert h.deliver(second, first, first, retold) == []
    assert h.deliver(first, retold, second) == []
    assert sorted(h.missing()) == sorted(told["detail"]["subject_id"] for told in (first, second))
    assert len(h.queue.sent) == 1
    assert rows(
        h.database, "SELECT requested_seq FROM judgment.summary_state WHERE user_id = %s", h.who
    ) == [(2,)]


def test_the_same_message_to_two_workers_at_once_is_once(h: Harness):
    told, workers = message(h.who), [Database(h.database.url("judgment_worker")) for _ in range(2)]
    failures: list[Any] = []
    together = threading.Barrier(2)

    def run(worker: Database) -> None:
        door = h.door_over(worker)
        together.wait(10)
        failures.append(door(batch(told), None)["batchItemFailures"])

    threads = [threading.Thread(target=run, args=(worker,)) for worker in workers]
    for thread in threads:
        thread.start()
    for thread, worker in zip(threads, workers, strict=True):
        thread.join(30)
        worker.close()
    assert failures == [[], []]
    assert h.missing() == [told["detail"]["subject_id"]]
    assert len(h.queue.sent) == 1


def test_a_profile_that_did_not_move_since_its_summary_asks_for_none(h: Harness):
    with h.worker.transaction(h.who) as tx:
        summarised = components(read_stored(profile_row(tx, h.who)))
    assert summarised["signal:persuadability:moved"] == 0.5
    run_as_admin(
        h.database,
        "INSERT INTO judgment.summary_state (user_id, requested_seq, claimed_seq, done_seq,"
        " games_analyzed, components) VALUES (%s, 1, 1, 1, 22, %s::jsonb)",
        h.who,
        json.dumps(summarised),
    )
    h.keep_profile("0.54")
    assert h.deliver(message(h.who)) == []
    assert h.queue.sent == []
    h.keep_profile("0.55")
    assert h.deliver(message(h.who)) == []
    assert len(h.queue.sent) == 1
    assert len(h.missing()) == 2


def test_a_decision_told_before_its_profile_was_written_is_counted_all_the_same(h: Harness):
    run_as_admin(
        h.database, "DELETE FROM public.player_decision_profiles WHERE user_id = %s", h.who
    )
    assert h.deliver(message(h.who)) == []
    assert len(h.missing()) == 1
    assert h.queue.sent == []


def test_a_queue_that_is_down_leaves_the_wake_up_to_the_sweep(h: Harness):
    h.queue.down = True
    assert h.deliver(message(h.who)) == []
    assert len(h.missing()) == 1
    assert rows(
        h.database,
        "SELECT requested_seq > done_seq, run_after IS NOT NULL FROM judgment.summary_state"
        " WHERE user_id = %s",
        h.who,
    ) == [(True, True)]


def test_what_cannot_be_a_sync_apps_decision_fails_alone_and_changes_nothing(h: Harness):
    good = message(h.who)
    bad = [
        message(h.who, source="judgment"),
        message(h.who, source="Sync"),
        {k: v for k, v in message(h.who).items() if k != "source"},
        message(h.who, type="profile.changed"),
        message(h.who) | {"detail-type": "profile.changed"},
        message(h.who, version=2),
        message(h.who, version=True),
        message(h.who, user_id="me"),
        message(h.who, subject_id=None),
        message(h.who, chosen="a"),
        message(h.who, correlation_id=""),
        message(h.who, correlation_id="c" * 129),
        message(h.who) | {"detail": "text"},
        message(h.who)["detail"],
        "",
        "no json",
        "[" * 100_000,
        [],
        message(uuid.uuid4()),
    ]
    before = h.everything()
    assert h.deliver(*bad) == [f"m{n}" for n in range(len(bad))]
    assert h.everything() == before
    assert h.deliver(bad[0], good, bad[-1]) == ["m0", "m2"]
    assert h.missing() == [good["detail"]["subject_id"]]


def test_a_message_that_failed_for_want_of_its_owner_works_once_they_are_there(h: Harness):
    late = uuid.uuid4()
    told = message(late)
    assert h.deliver(told) == ["m0"]
    make_owner(h.database, late)
    assert h.deliver(told) == []


def test_a_database_that_is_down_gives_the_message_back(h: Harness):
    dead = h.door_over(Database("postgresql://judgment_worker@127.0.0.1:1/x"))
    told = message(h.who)
    assert dead(batch(told), None) == {"batchItemFailures": [{"itemIdentifier": "m0"}]}
    assert h.deliver(told) == []


def test_the_examples_are_what_their_names_say(h: Harness):
    told = json.loads((EVENTS / "sync-decision.json").read_text())
    body = json.loads(told["Records"][0]["body"])
    make_owner(h.database, uuid.UUID(body["detail"]["user_id"]))
    assert h.door(told, None) == {"batchItemFailures": []}
    refused = json.loads((EVENTS / "refused.json").read_text())
    assert [f["itemIdentifier"] for f in h.door(refused, None)["batchItemFailures"]] == [
        record["messageId"] for record in refused["Records"]
    ]

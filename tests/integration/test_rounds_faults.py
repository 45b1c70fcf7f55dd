"""Whatever dies while a decision is recorded, it is there whole or not at all, and once."""

from __future__ import annotations

import json
import shutil
import subprocess
import tempfile
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from infra.local.database import make_database
from infra.local.ports import free_port
from infra.local.postgres import LocalPostgres
from judgment.contract.rounds import DecisionRequest, RecordedDecision
from judgment.db.connection import Database
from judgment.kit.deadline import Deadline
from judgment.kit.errors import Unavailable
from judgment.profile import store as profiles
from judgment.profile.progress import ProfileProgress
from judgment.queue import outbox
from judgment.queue.idempotency import idempotent
from judgment.summary import debounce
from judgment.summary.wakeups import wake
from tests.databases import TestDatabase
from tests.fakes.bus import FakeBus, FakeQueue
from tests.fakes.people import make_owner, run_as_admin
from tests.fakes.rounds import (
    WINDOW,
    TestClock,
    everything_of,
    rounds_over,
    rows,
    store_scenario,
)
from tests.functions.test_decision_intake import message
from tests.functions.test_rounds import assert_profile_equals_rebuild
from tests.integration.outbox_child import FileBus
from tests.integration.rounds_child import Deed, FileQueue, Told, arguments

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

pytestmark = pytest.mark.promise("P2-refuse-killed", "P2-accept-3", "P2-3")

ROOT = Path(__file__).parents[2]
KEY = "the-key"
BEFORE_COMMIT = ("rounds.claimed", "rounds.decided", "outbox.before_commit", "rounds.before_commit")
AFTER_COMMIT = {
    "rounds.after_commit": (0, 0),
    "outbox.after_commit": (0, 0),
    "outbox.after_send": (2, 0),
    "rounds.before_wake": (2, 0),
    "rounds.after_wake": (2, 1),
}
"""What a process that dies there has sent: events, and wake-ups."""


class Stage:
    """One owner and one scenario, a bus and a queue that outlive their senders."""

    def __init__(self, database: TestDatabase, folder: Path):
        self.database = database
        self.who = make_owner(database)
        self.made = store_scenario(database)
        self.clock = TestClock()
        self.bus = FileBus(folder / "bus")
        self.queue = FileQueue(folder / "queue")
        self.folder = folder

    def child(self, point: str) -> subprocess.CompletedProcess[str]:
        """A process that records the decision, and dies at that point."""
        deed = Deed(
            url=self.database.url("judgment_owner"),
            owner=str(self.who),
            scenario=str(self.made.id),
            key=KEY,
            bus=str(self.folder / "bus"),
            queue=str(self.folder / "queue"),
            point=point,
            now=self.clock.now.isoformat(),
        )
        return subprocess.run(
            arguments(deed), cwd=ROOT, capture_output=True, text=True, check=False
        )

    def retry(self) -> RecordedDecision:
        """The same request, in a process that lives on."""
        owner = Database(self.database.url("judgment_owner"))
        rounds = rounds_over(owner, self.bus, self.queue, self.clock)
        request = DecisionRequest(scenario_id=self.made.id, option_id="open")
        answer = rounds.record(self.who, request, KEY, "child")
        owner.close()
        return answer

    def everything(self) -> dict[str, list[str]]:
        return everything_of(self.database, self.who)

    def sweep(self) -> int:
        """What the broom does each minute; how many events it sent."""
        worker = Database(self.database.url("judgment_worker"))
        sent = outbox.sweep(worker.transaction, self.bus, grace_seconds=0).sent
        with worker.transaction() as tx:
            late = debounce.overdue(tx, self.clock.now, WINDOW)
        for one in late:
            wake(self.queue, one.user_id, one.run_after, one.correlation_id, self.clock.now)
        worker.close()
        return sent


@pytest.fixture
def stage(module_database: TestDatabase, tmp_path: Path) -> Stage:
    return Stage(module_database, tmp_path)


@pytest.mark.parametrize("point", BEFORE_COMMIT)
def test_a_process_killed_before_the_commit_leaves_nothing(stage: Stage, point: str):
    before = stage.everything()
    killed = stage.child(point)
    assert killed.returncode == -9, killed.stderr
    assert stage.everything() == before
    assert stage.sweep() == 0
    assert stage.bus.taken() == []
    assert stage.queue.sent() == []
    assert_a_retry_is_the_one_decision(stage)


@pytest.mark.parametrize("point", AFTER_COMMIT)
def test_a_process_killed_after_the_commit_leaves_all_of_it(stage: Stage, point: str):
    killed = stage.child(point)
    assert killed.returncode == -9, killed.stderr
    kept = stage.everything()
    events, woken = AFTER_COMMIT[point]
    assert len(kept["judgment.decisions"]) == 1
    assert len(stage.bus.taken()) == events
    assert len(stage.queue.sent()) == woken
    assert_a_retry_is_the_one_decision(stage)
    unchanged = {t: r for t, r in stage.everything().items() if t != "judgment.outbox"}
    assert unchanged == {t: r for t, r in kept.items() if t != "judgment.outbox"}


def assert_a_retry_is_the_one_decision(stage: Stage) -> None:
    """The same request again gives one decision, each event and a wake-up, however it began."""
    answer = stage.retry()
    assert stage.retry() == answer
    assert (answer.scenario_id, answer.games_played) == (stage.made.id, 1)
    kept = stage.everything()
    for table, count in {
        "judgment.decisions": 1,
        "judgment.idempotency_keys": 1,
        "judgment.outbox": 2,
        "public.choices": 1,
        "public.evaluation_snapshots": 1,
        "public.player_decision_profiles": 1,
        "judgment.summary_state": 1,
    }.items():
        assert len(kept[table]) == count, table
    assert_profile_equals_rebuild(stage.database, stage.who, 1)
    stage.clock.move(seconds=61)
    stage.sweep()
    assert stage.sweep() == 0
    known = {json.loads(row)["id"] for row in kept["judgment.outbox"]}
    assert known <= set(stage.bus.taken())
    assert str(stage.who) in {message["user_id"] for message, _ in stage.queue.sent()}


def test_a_process_that_is_left_alone_does_it_once(stage: Stage):
    """Without this, the children could die of anything."""
    done = stage.child("none")
    assert done.returncode == 0, done.stderr
    assert RecordedDecision.model_validate_json(done.stdout) == stage.retry()
    assert (len(stage.bus.taken()), len(stage.queue.sent())) == (2, 1)


@pytest.mark.promise("P2-3-intake", "R-24-intake")
@pytest.mark.parametrize(
    ("point", "is_kept"), [("intake.before_commit", False), ("intake.after_commit", True)]
)
def test_a_worker_killed_over_a_sync_apps_decision_is_done_by_the_next_delivery(
    stage: Stage, point: str, is_kept: bool
):
    run_as_admin(
        stage.database,
        "INSERT INTO public.player_decision_profiles (user_id, games_analyzed) VALUES (%s, 23)",
        stage.who,
    )
    told = Told(
        url=stage.database.url("judgment_worker"),
        body=json.dumps(message(stage.who)),
        queue=str(stage.folder / "queue"),
        point=point,
        now=stage.clock.now.isoformat(),
    )

    def delivered(told: Told) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            arguments(told), cwd=ROOT, capture_output=True, text=True, check=False
        )

    def missing() -> int:
        return len(
            rows(
                stage.database,
                "SELECT 1 FROM judgment.missing_snapshots WHERE user_id = %s",
                stage.who,
            )
        )

    killed = delivered(told)
    assert killed.returncode == -9, killed.stderr
    assert missing() == int(is_kept)
    assert stage.queue.sent() == []
    again = delivered(replace(told, point="none"))
    assert json.loads(again.stdout) is not is_kept, again.stderr
    assert missing() == 1
    stage.clock.move(seconds=61)
    stage.sweep()
    assert str(stage.who) in {woken["user_id"] for woken, _ in stage.queue.sent()}


class Hall:
    """Rounds in this process, whose parts a test may make fail."""

    def __init__(self, database: TestDatabase):
        self.database = database
        self.who = make_owner(database)
        self.made = store_scenario(database)
        self.postgres = Database(database.url("judgment_owner"), application_name="under-test")
        self.bus = FakeBus()
        self.queue = FakeQueue()
        self.clock = TestClock()

    def record(self, **parts: Any) -> RecordedDecision:
        edges = {"bus": self.bus, "queue": self.queue, "clock": self.clock} | parts
        rounds = rounds_over(edges.pop("postgres", self.postgres), **edges)
        request = DecisionRequest(scenario_id=self.made.id, option_id="part")
        return rounds.record(self.who, request, KEY, "faults")

    def cut(self) -> None:
        """End the connection from the server's side."""
        with psycopg.connect(self.database.server.url(dbname="postgres"), autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = %s AND application_name = 'under-test'",
                (self.database.name,),
            )

    def unsent(self) -> int:
        ((count,),) = rows(
            self.database,
            "SELECT count(*) FROM judgment.outbox WHERE user_id = %s AND sent_at IS NULL",
            self.who,
        )
        return count

    def decisions(self) -> int:
        return len(everything_of(self.database, self.who)["judgment.decisions"])


@pytest.fixture
def hall(module_database: TestDatabase) -> Iterator[Hall]:
    made = Hall(module_database)
    yield made
    made.postgres.close()


class After:
    """A part of the transaction after which something happens to the connection."""

    def __init__(self, happens: Callable[[], None]):
        self._happens = happens

    def once(self, *args: Any) -> Any:
        answer = idempotent(*args)
        self._happens()
        return answer

    def record(self, tx: Transaction, user_id: uuid.UUID, decision: Any) -> Any:
        answer = ProfileProgress(profiles).record(tx, user_id, decision)
        self._happens()
        return answer


@pytest.mark.promise("P2-refuse-postgres")
def test_a_connection_lost_in_the_middle_or_at_the_commit_is_503_and_leaves_nothing(hall: Hall):
    before = everything_of(hall.database, hall.who)
    broken = After(hall.cut)
    for parts in ({"profiles": broken}, {"once": broken.once}):
        with pytest.raises(Unavailable):
            hall.record(**parts)
        assert everything_of(hall.database, hall.who) == before
        assert hall.bus.taken == []
    assert hall.record().games_played == 1
    assert hall.decisions() == 1


@pytest.mark.promise("P2-refuse-postgres")
def test_a_commit_whose_answer_was_lost_is_answered_by_the_retry(hall: Hall):
    class Deaf:
        """Commits, and does not hear that it did."""

        @contextmanager
        def transaction(self, *args: Any) -> Iterator[Any]:
            with hall.postgres.transaction(*args) as tx:
                yield tx
            raise Unavailable

    with pytest.raises(Unavailable):
        hall.record(postgres=Deaf())
    kept = everything_of(hall.database, hall.who)
    assert len(kept["judgment.decisions"]) == 1
    assert hall.bus.taken == []
    assert hall.unsent() == 2
    assert hall.record().games_played == 1
    assert everything_of(hall.database, hall.who) == kept


@pytest.mark.promise("P2-refuse-postgres")
def test_a_connection_lost_between_commit_and_send_loses_no_event(hall: Hall):
    hall.bus.after_taking = hall.cut
    assert hall.record().games_played == 1
    assert len(hall.bus.taken) == 2
    hall.bus.after_taking = lambda: None
    worker = Database(hall.database.url("judgment_worker"))
    outbox.sweep(worker.transaction, hall.bus, grace_seconds=0)
    worker.close()
    assert hall.unsent() == 0
    assert hall.decisions() == 1


@pytest.fixture
def own_server() -> Iterator[TestDatabase]:
    """A server that a test may stop: on a port that it keeps."""
    home = Path(tempfile.mkdtemp(prefix="judgment-test-"))
    home.chmod(0o755)
    server = LocalPostgres(home / "pg", port=free_port()).start()
    try:
        make_database(server, "judgment")
        yield TestDatabase(server, "judgment")
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)


@pytest.mark.promise("P2-refuse-postgres")
def test_a_server_stopped_between_commit_and_send_loses_nothing(own_server: TestDatabase):
    hall = Hall(own_server)
    hall.bus.after_taking = own_server.server.stop
    first = hall.record()
    assert first.games_played == 1
    assert len(hall.bus.taken) == 2
    hall.bus.after_taking = lambda: None
    with pytest.raises(Unavailable):
        hall.record()
    own_server.server.start()
    assert hall.record() == first
    assert hall.unsent() == 2
    worker = Database(own_server.url("judgment_worker"))
    assert outbox.sweep(worker.transaction, hall.bus, grace_seconds=0).sent == 2
    hall.clock.move(minutes=2)
    with worker.transaction() as tx:
        late = debounce.overdue(tx, hall.clock.now, WINDOW)
    assert [one.user_id for one in late] == [hall.who], "nobody has taken it yet"
    assert hall.decisions() == 1
    worker.close()
    hall.postgres.close()


def test_a_bus_that_hangs_takes_no_more_time_than_there_is(hall: Hall):
    """With too little time left nothing is sent, because a call of AWS may take longer."""
    left = [12.0]

    class Slow(FakeBus):
        def put(self, events: Any) -> frozenset[uuid.UUID]:
            left[0] -= 10
            raise Unavailable

    rounds = rounds_over(hall.postgres, Slow(), hall.queue, hall.clock)
    request = DecisionRequest(scenario_id=hall.made.id, option_id="part")
    answer = rounds.record(hall.who, request, KEY, "faults", Deadline(lambda: left[0]))
    assert answer.games_played == 1
    assert left == [2.0]
    assert hall.queue.sent == []
    worker = Database(hall.database.url("judgment_worker"))
    with worker.transaction() as tx:
        late = debounce.overdue(tx, hall.clock.now + timedelta(seconds=61), WINDOW)
    worker.close()
    assert hall.who in {one.user_id for one in late}

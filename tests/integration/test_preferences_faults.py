"""Whatever dies or is cut, a capture is kept whole or not at all, and nothing is shown unnoted."""

from __future__ import annotations

import json
import subprocess
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from judgment.db.connection import Database
from judgment.kit.errors import Unavailable
from judgment.queue import outbox
from judgment.queue.idempotency import idempotent
from tests.fakes.people import make_owner, run_as_admin, switch_flag
from tests.fakes.preferences import Shelf, signal
from tests.fakes.rounds import rows
from tests.integration.outbox_child import FileBus
from tests.integration.preferences_child import arguments, capture

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P3-hosted", "P3-refuse")

ROOT = Path(__file__).parents[2]
BODY = json.dumps({"signals": [signal(), signal("b", 2)]})
BEFORE = ("outbox.before_commit", "preferences.before_commit")
AFTER = {"preferences.after_commit": 0, "outbox.after_commit": 0, "outbox.after_send": 1}
"""What a process that dies there has sent."""


@pytest.fixture
def shelf(module_database: TestDatabase) -> Iterator[Shelf]:
    switch_flag(module_database, '{"global": true, "user_overrides": {}}')
    made = Shelf(module_database)
    yield made
    made.close()


class Stage:
    """An owner, and a bus that outlives its senders."""

    def __init__(self, shelf: Shelf, folder: Path):
        self.shelf = shelf
        self.who = make_owner(shelf.database)
        self.bus = FileBus(folder / "bus")
        self.path = folder / "bus"
        self.url = shelf.database.url("judgment_preferences")

    def child(self, point: str) -> None:
        """A process that keeps two signals, and is killed at that point."""
        given = {"url": self.url, "owner": str(self.who), "bus": str(self.path)}
        command = arguments(**given, body=BODY, key="k", point=point)
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == -9, done.stderr

    def sweep(self) -> list[str]:
        """What the broom does each minute, and the compiler then; messages that failed."""
        outbox.sweep(self.shelf.worker.transaction, self.shelf.bus, grace_seconds=0)
        assert self.who in {event.user_id for event in self.shelf.bus.taken}
        return self.shelf.deliver()


@pytest.fixture
def stage(shelf: Shelf, tmp_path: Path) -> Stage:
    return Stage(shelf, tmp_path)


@pytest.mark.parametrize("point", BEFORE)
def test_a_process_killed_before_the_commit_leaves_nothing(stage: Stage, point: str):
    stage.child(point)
    assert set(map(tuple, stage.shelf.everything(stage.who).values())) == {()}
    answer = json.loads(capture(stage.url, stage.who, stage.path, BODY, "k"))
    assert [one["position"] for one in answer["signals"]] == [1, 2]


@pytest.mark.parametrize("point", AFTER)
def test_a_process_killed_after_the_commit_is_compiled_by_the_sweep(stage: Stage, point: str):
    stage.child(point)
    assert len(stage.bus.taken()) == AFTER[point]
    kept = stage.shelf.everything(stage.who)
    assert len(kept["judgment.preference_signals"]) == 2
    assert stage.shelf.get(stage.who)["pending"] == 2
    assert stage.sweep() == []
    assert stage.shelf.values(stage.who) == {"dining.cuisine.thai": "yes", "b": 2}
    answer = json.loads(capture(stage.url, stage.who, stage.path, BODY, "k"))
    assert [one["position"] for one in answer["signals"]] == [1, 2]
    after = stage.shelf.everything(stage.who)
    assert after["judgment.preference_signals"] == kept["judgment.preference_signals"]


class Broken:
    """A shelf whose connection is cut when a part of the transaction is done."""

    def __init__(self, database: TestDatabase):
        self.cuts = True
        self.shelf = Shelf(database, once=self.once)
        self.who = self.shelf.somebody()
        self.shelf.parts.gate._agent_access = self.switches  # type: ignore[method-assign]

    def cut(self) -> None:
        """End the connection from the server's side."""
        server = self.shelf.database.server
        with psycopg.connect(server.url(dbname="postgres"), autocommit=True) as admin:
            admin.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
                " WHERE datname = %s AND application_name = 'under-test'",
                (self.shelf.database.name,),
            )

    def once(self, *given: Any) -> Any:
        answer = idempotent(*given)
        if self.cuts:
            self.cut()
        return answer

    def switches(self, _tx: Any) -> bool:
        if self.cuts:
            self.cut()
        return True


@pytest.fixture
def broken(module_database: TestDatabase) -> Iterator[Broken]:
    made = Broken(module_database)
    yield made
    made.shelf.close()


def test_a_connection_cut_in_the_middle_is_503_and_leaves_nothing(broken: Broken):
    shelf, who = broken.shelf, broken.who
    ask: list[Callable[[], tuple[int, Any]]] = [
        lambda: shelf.as_owner(who, "POST", "/signals", body=BODY, key="k"),
        lambda: shelf.as_owner(
            who, "POST", "/consent", body={"key_glob": "*", "audience": "bob"}, key="k"
        ),
        lambda: shelf.as_agent(who, "GET"),
        lambda: shelf.as_agent(who, "POST", "/signals", body=BODY),
    ]
    for one in ask:
        status, problem = one()
        assert (status, problem["code"]) == (503, "unavailable")
        assert set(map(tuple, shelf.everything(who).values())) == {()}
        assert shelf.bus.taken == []
    broken.cuts = False
    assert [one()[0] for one in ask] == [201, 201, 200, 201]
    assert shelf.verification(who)["intact"]


def test_a_commit_that_did_not_come_to_be_shows_nothing(shelf: Shelf):
    """The ledger's line and the answer stand or fall together."""
    who = shelf.somebody()
    shelf.capture(who, signal())

    class Deaf:
        """Does everything and then cannot commit."""

        @contextmanager
        def transaction(self, *given: Any, **more: Any) -> Iterator[Any]:
            with shelf.postgres.transaction(*given, **more) as tx:
                yield tx
                raise Unavailable

        def close(self) -> None:
            """Nothing of its own."""

    deaf: Any = Deaf()
    other = Shelf(shelf.database, postgres=deaf)
    for answer in (other.as_agent(who, "GET"), other.as_owner(who, "GET")):
        assert answer[0] == 503
        assert "yes" not in json.dumps(answer[1])
    other.worker.close()
    assert shelf.ledger(who) == []


def test_a_ledger_that_cannot_be_written_shows_nothing(fresh_database: TestDatabase):
    shelf = Shelf(fresh_database)
    who, bob = shelf.somebody(), shelf.somebody()
    shelf.capture(who, signal())
    shelf.allow(who, f"user:{bob}", "*", level="solve")
    run_as_admin(
        fresh_database, "REVOKE INSERT ON judgment.preference_ledger FROM judgment_definer"
    )
    solving = {
        "options": [{"id": "a", "keys": ["dining.cuisine.thai"]}],
        "participants": [{"owner": str(who)}],
    }
    for answer in (
        shelf.as_agent(who, "GET"),
        shelf.as_agent(who, "GET", "/block", query={"platform": "codex"}),
        shelf.as_agent(who, "GET", "/why", query={"key": "dining.cuisine.thai"}),
        shelf.as_owner(who, "GET", "/signals"),
        shelf.as_agent(bob, "GET", query={"owner": who}),
        shelf.as_agent(bob, "POST", "/solve", body=solving),
    ):
        assert answer[0] == 500
        assert "yes" not in json.dumps(answer[1])
    shelf.close()


def test_a_bus_that_is_down_costs_the_owner_nothing(shelf: Shelf):
    who = shelf.somebody()
    shelf.bus.down = True
    assert shelf.as_owner(who, "POST", "/signals", body=BODY)[0] == 201
    unsent = "SELECT count(*) FROM judgment.outbox WHERE user_id = %s AND sent_at IS NULL"
    assert rows(shelf.database, unsent, who) == [(1,)]
    shelf.bus.down = False
    outbox.sweep(shelf.worker.transaction, shelf.bus, grace_seconds=0)
    assert shelf.deliver() == []
    assert rows(shelf.database, unsent, who) == [(0,)]
    assert len(shelf.values(who)) == 2


def test_a_database_that_is_down_is_503(shelf: Shelf):
    dead = Shelf(
        shelf.database, postgres=Database("postgresql://judgment_preferences@127.0.0.1:1/x")
    )
    for answer in (
        dead.as_agent(uuid.uuid4(), "GET"),
        dead.as_owner(uuid.uuid4(), "POST", "/signals", body=BODY),
    ):
        assert (answer[0], answer[1]["code"]) == (503, "unavailable")
    dead.close()

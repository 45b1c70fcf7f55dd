"""Owners play on while workers and Postgres are killed under them: what they see, what is left.

That what is left owing is then sent and written up, by a sweep within minutes, is shown with an
injected clock in `tests/integration`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from infra.local.places import Places
from infra.local.waiting import wait_for
from tests.e2e.running import RunningStack, run_dev
from tests.e2e.somebody import Somebody

if TYPE_CHECKING:
    from uuid import UUID

PLAYERS, ROUNDS = 4, 12
PATIENCE_SECONDS = 60.0
LEFT = """
SELECT array(SELECT id::text FROM judgment.decisions WHERE user_id = %(who)s) AS decisions,
       (SELECT count(*) FROM public.evaluation_snapshots WHERE user_id = %(who)s) AS snapshots,
       (SELECT count(*) FROM public.choices WHERE user_id = %(who)s) AS choices,
       (SELECT count(*) FROM judgment.outbox WHERE user_id = %(who)s
         AND type = 'decision.recorded') AS events
"""
FORGOTTEN = """
SELECT count(*) FROM judgment.summary_state
 WHERE requested_seq <> done_seq AND run_after IS NULL AND lease_until IS NULL
"""
"""Summaries that are wanted and that no sweep would ever find."""


@pytest.fixture
def own_stack() -> Iterator[RunningStack]:
    """A running stack that this test may break."""
    state = Path(tempfile.mkdtemp(prefix="judgment-killed-"))
    options = ["--state", str(state), "--port", "0"]
    try:
        started = run_dev("up", "--detach", *options, SUMMARY_WINDOW_SECONDS="2")
        assert started.returncode == 0, started.stdout + started.stderr
        yield RunningStack.read(Places(state))
    finally:
        run_dev("down", "--state", str(state))
        shutil.rmtree(state, ignore_errors=True)


def _kill_workers(stack: RunningStack) -> None:
    """End every process that runs a door, whatever it is at."""
    gateway = json.loads((stack.places.state / "children.json").read_text())["gateway"]
    for thread in Path(f"/proc/{gateway}/task").iterdir():
        for worker in (thread / "children").read_text().split():
            os.kill(int(worker), signal.SIGKILL)


def _kill_postgres(stack: RunningStack) -> None:
    """End the database server; the supervisor starts it again."""
    pid = int((stack.places.postgres / "postmaster.pid").read_text().split()[0])
    os.kill(pid, signal.SIGKILL)


class Player:
    """An owner who asks again until there is an answer, with the key of the first time."""

    def __init__(self, stack: RunningStack, api: httpx.Client, seen: Counter[int]):
        self._api = api
        self.somebody = Somebody(stack, api)
        self.user_id: UUID = self.somebody.user_id
        self._seen = seen

    def plays(self) -> set[str]:
        """The ids of the decisions that were said to be recorded."""
        recorded: set[str] = set()
        for number in range(ROUNDS):
            scenario = self._insists("GET", "/api/v1/scenarios/next")
            option = scenario["options"][number % 3]["id"]
            body = {"scenario_id": scenario["id"], "option_id": option, "confidence": 0.6}
            recorded.add(self._insists("POST", "/api/v1/decisions", body)["decision_id"])
        return recorded

    def _insists(self, method: str, path: str, body: Any = None) -> Any:
        headers = {**self.somebody.headers, "Idempotency-Key": str(uuid4())}
        found: list[Any] = []

        def is_answered() -> bool:
            answer = self._api.request(method, path, json=body, headers=headers)
            self._seen[answer.status_code] += 1
            if answer.is_success:
                found.append(answer.json())
                return True
            assert answer.status_code in (500, 503), answer.text
            assert set(answer.json()) == {"code", "message"}
            return False

        assert wait_for(is_answered, PATIENCE_SECONDS, 0.1)
        return found[0]


@pytest.fixture
def own_api(own_stack: RunningStack) -> Iterator[httpx.Client]:
    """A client of it."""
    with httpx.Client(base_url=own_stack.api_url, timeout=30) as client:
        yield client


@pytest.mark.promise("P2-refuse-killed", "P2-refuse-postgres", "P2-accept-3")
@pytest.mark.skipif(sys.platform != "linux", reason="finds the gateway's workers in /proc")
def test_whatever_is_killed_each_decision_is_recorded_once_and_none_forgotten(
    own_stack: RunningStack, own_api: httpx.Client
) -> None:
    seen: Counter[int] = Counter()
    players = [Player(own_stack, own_api, seen) for _ in range(PLAYERS)]
    with ThreadPoolExecutor(PLAYERS) as pool:
        playing = [pool.submit(player.plays) for player in players]
        for number in range(1, 8):
            assert wait_for(lambda n=number: seen[201] >= 5 * n, PATIENCE_SECONDS)
            (_kill_postgres if number == 4 else _kill_workers)(own_stack)
        recorded = [future.result() for future in playing]
    assert seen[201] == PLAYERS * ROUNDS
    assert seen[500] + seen[503] > 0, "nobody noticed: nothing was killed in the middle"
    with psycopg.connect(own_stack.database_url, autocommit=True) as database:
        for player, decisions in zip(players, recorded, strict=True):
            left = database.execute(LEFT, {"who": player.user_id}).fetchone()
            assert left is not None
            assert (sorted(left[0]), *left[1:]) == (sorted(decisions), *[ROUNDS] * 3)
            assert player.somebody.profile()["games_played"] == ROUNDS
        assert database.execute(FORGOTTEN).fetchone() == (0,)

"""Child processes that play: some die where they are told to, some storm with others.

They are told what to do by the name of one of the classes here and a JSON object with its fields;
what they say on standard output is JSON too.
"""

from __future__ import annotations

import json
import sys
import threading
import uuid
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from judgment.contract.rounds import DecisionRequest
from judgment.db.connection import Database
from judgment.kit.errors import Refusal
from judgment.kit.killpoints import arm
from judgment.scenarios.intake import DecisionIntake
from judgment.scenarios.ports import Summaries
from judgment.summary.moves import request_if_moved
from judgment.summary.wakeups import wake
from tests.fakes.rounds import TestClock, rounds_over
from tests.integration.outbox_child import FileBus


@dataclass(frozen=True)
class Deed:
    """One decision, by a process that dies at `point` (or `none`)."""

    url: str
    owner: str
    scenario: str
    key: str
    bus: str
    queue: str
    point: str
    now: str


@dataclass(frozen=True)
class Storm:
    """Each thread decides on its list of scenarios, once the file `go` is there.

    `keys`: whether a decision carries a key, which is the scenario's id.
    """

    url: str
    owner: str
    scenarios: list[list[str]]
    keys: bool
    go: str
    bus: str
    queue: str


@dataclass(frozen=True)
class Told:
    """One message of a Sync app's decision, to a worker that dies at `point` (or `none`)."""

    url: str
    body: str
    queue: str
    point: str
    now: str


class FileQueue:
    """A queue that outlives its senders: a line per message, with its delay."""

    def __init__(self, path: Path):
        self._path = path

    def send(self, body: str, *, delay_seconds: int = 0) -> None:
        """See `judgment.queue.jobs.JobQueue.send`."""
        with self._path.open("a") as file:
            file.write(json.dumps([json.loads(body), delay_seconds]) + "\n")

    def sent(self) -> list[Any]:
        """Body and delay of each message, in the order in which they came."""
        if not self._path.exists():
            return []
        return [json.loads(line) for line in self._path.read_text().splitlines()]


def decide(deed: Deed) -> None:
    """Record the decision, and say what was answered."""
    arm(deed.point)
    database = Database(deed.url)
    rounds = rounds_over(
        database,
        FileBus(Path(deed.bus)),
        FileQueue(Path(deed.queue)),
        TestClock(datetime.fromisoformat(deed.now)),
    )
    request = DecisionRequest(scenario_id=uuid.UUID(deed.scenario), option_id="open")
    answer = rounds.record(uuid.UUID(deed.owner), request, deed.key, "child")
    database.close()
    print(answer.model_dump_json())


def take(told: Told) -> None:
    """Take note of the decision, and say whether it was new."""
    arm(told.point)
    database = Database(told.url)
    summaries = Summaries(request_if_moved, partial(wake, FileQueue(Path(told.queue))))
    clock = TestClock(datetime.fromisoformat(told.now))
    is_new = DecisionIntake(database.transaction, summaries, clock).take(told.body)
    database.close()
    print(json.dumps(is_new))


def storm(orders: Storm) -> None:
    """Decide on everything at once, and say what each got: an answer or the code of a refusal."""
    go = Path(orders.go)
    ready = threading.Barrier(len(orders.scenarios) + 1)
    answers: list[Any] = []
    threads = [
        threading.Thread(target=_play, args=(orders, scenarios, ready, answers))
        for scenarios in orders.scenarios
    ]
    for thread in threads:
        thread.start()
    print("ready", flush=True)
    while not go.exists():
        threading.Event().wait(0.005)
    ready.wait(30)
    for thread in threads:
        thread.join()
    print(json.dumps(answers))


def _play(
    orders: Storm, scenarios: list[str], ready: threading.Barrier, answers: list[Any]
) -> None:
    database = Database(orders.url)
    rounds = rounds_over(
        database, FileBus(Path(orders.bus)), FileQueue(Path(orders.queue)), TestClock()
    )
    with database.transaction() as tx:
        tx.execute("SELECT 1")
    ready.wait(30)
    for scenario in scenarios:
        request = DecisionRequest(scenario_id=uuid.UUID(scenario), option_id="open")
        try:
            answer = rounds.record(
                uuid.UUID(orders.owner), request, scenario if orders.keys else None, "storm"
            )
            answers.append([scenario, json.loads(answer.model_dump_json())])
        except Refusal as refusal:
            answers.append([scenario, refusal.code])
    database.close()


def arguments(value: Deed | Storm | Told) -> list[str]:
    """How a test starts this module."""
    name = type(value).__name__
    return [sys.executable, "-m", "tests.integration.rounds_child", name, json.dumps(asdict(value))]


if __name__ == "__main__":
    kind, given = sys.argv[1], json.loads(sys.argv[2])
    if kind == "Deed":
        decide(Deed(**given))
    elif kind == "Told":
        take(Told(**given))
    else:
        storm(Storm(**given))

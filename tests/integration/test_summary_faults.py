"""A worker that dies anywhere, a provider that does anything: texts, calls and edges are kept."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from judgment.profile.composer import compose
from judgment.summary.wakeups import wake_overdue
from tests.fakes.bus import FakeQueue
from tests.fakes.model_server import ModelServer
from tests.fakes.model_trouble import Flood, Late, Raw
from tests.fakes.model_wire import Reply, Say, Turn
from tests.fakes.models import ScriptedModels
from tests.fakes.summaries import MARK, START, WINDOW, Summarised, lying, said_by, truthful
from tests.unit.llm.wired import TROUBLES, Wired, wired
from tests.unit.summary.profiles import simulated

if TYPE_CHECKING:
    from tests.databases import TestDatabase
    from tests.fakes.model_trouble import Trouble

ROOT = Path(__file__).parents[2]
PROFILE, MOVED = simulated(1), simulated(2)
VERSION = "openai-compatible:fake-model"


@pytest.fixture
def row(module_database: TestDatabase) -> Iterator[Summarised]:
    made = Summarised(module_database)
    yield made
    made.close()


@pytest.fixture
def provider() -> Iterator[ModelServer]:
    """A provider whose model tells the truth."""
    with ModelServer(lambda turn: Say(truthful(turn.told).model_dump_json())) as server:
        yield server


def child(row: Summarised, provider: ModelServer, point: str) -> str:
    """What a process that dies at `point` said before."""
    url = row.database.url("judgment_worker")
    told = (url, str(row.user_id), provider.url, row.now.isoformat(), point)
    done = subprocess.run(
        [sys.executable, "-m", "tests.integration.summary_child", *told],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (0 if point == "none" else -9), done.stderr
    return done.stdout.strip()


def sweep(row: Summarised) -> list[int]:
    """The delays of the wake-ups for this owner that a sweep sends."""
    queue = FakeQueue()
    wake_overdue(row.worker.transaction, queue, lambda: row.now, WINDOW)
    return [delay for body, delay in queue.sent if str(row.user_id) in body]


@pytest.mark.promise("P2-5-debounce", "P2-refuse-killed", "P2-accept-3")
@pytest.mark.parametrize(
    ("point", "calls_before", "is_written"),
    [
        ("summary.claimed", 0, False),
        ("summary.answered", 1, False),
        ("summary.before_commit", 1, False),
        ("summary.after_commit", 1, True),
        ("none", 1, True),
    ],
)
def test_a_worker_killed_there_loses_no_edge_and_pays_once_in_a_window(
    row: Summarised, provider: ModelServer, point: str, calls_before: int, is_written: bool
) -> None:
    row.save(PROFILE)
    child(row, provider, point)
    assert len(provider.turns) == calls_before
    assert (row.texts()["summary_text"] is not None) is is_written
    assert row.calls() == (["ok"] if is_written else [])
    row.save(MOVED)
    models = ScriptedModels(said_by(truthful))
    for seconds in (1, 151, 300):
        row.now = START + timedelta(seconds=seconds)
        sweep(row)
        assert row.run(models).ending == "later"
    assert models.asked == []
    row.now = START + WINDOW
    assert child(row, provider, "none") == "written"
    assert len(provider.turns) == calls_before + 1
    assert row.texts()["summary_model_version"] == VERSION
    assert row.state()["games_analyzed"] == MOVED.games_analyzed
    assert row.state()["requested_seq"] == row.state()["done_seq"]


@pytest.mark.promise("P2-refuse-killed")
def test_a_worker_killed_with_no_later_move_is_followed_all_the_same(
    row: Summarised, provider: ModelServer
) -> None:
    row.save(PROFILE)
    child(row, provider, "summary.answered")
    row.pass_time(seconds=151)
    assert sweep(row) == [449]
    row.pass_time(seconds=449)
    assert child(row, provider, "none") == "written"
    assert (len(provider.turns), row.calls()) == (2, ["ok"])


@pytest.fixture
def wire() -> Iterator[Wired]:
    with wired() as made:
        yield made


def scripted(wire: Wired, *makers: object) -> None:
    """The provider's model answers so in turn, the last for ever."""
    left = list(makers)

    def answer(turn: Turn) -> Reply | Trouble:
        made = left.pop(0) if len(left) > 1 else left[0]
        return Say(made(turn.told).model_dump_json()) if callable(made) else made  # type: ignore[return-value]

    wire.server.script = answer


@pytest.mark.promise("P2-5-verify", "P2-5")
def test_a_truthful_model_on_the_wire_is_quoted_and_named(row: Summarised, wire: Wired) -> None:
    row.save(PROFILE)
    scripted(wire, truthful)
    done = row.run(wire.models)
    assert (done.ending, done.version, done.failure) == ("written", VERSION, None)
    assert MARK in row.texts()["summary_text"]
    assert row.texts()["summary_model_version"] == VERSION
    assert len(wire.server.turns) == 1


@pytest.mark.promise("P2-5-verify", "P2-accept-1")
def test_a_liar_on_the_wire_ends_in_the_composer_after_two_calls(
    row: Summarised, wire: Wired
) -> None:
    row.save(PROFILE)
    scripted(wire, lying)
    done = row.run(wire.models)
    assert (done.failure, done.calls) == ("invalid_output", 2)
    assert "invented_number" in done.complaints
    assert len(wire.server.turns) == 2
    assert row.texts()["summary_text"] == compose(PROFILE).summary_text
    assert row.texts()["summary_model_version"] == "composer-1"
    assert row.state()["last_failure"] == "invalid_output"


@pytest.mark.promise("P2-refuse-provider", "P2-accept-3")
@pytest.mark.parametrize(
    ("trouble", "code", "is_retried"),
    [
        *((reply, code, code in {"unreachable", "rate_limited", "provider_error"})
          for code, reply in TROUBLES.items()),
        (Flood(10 * 1_048_576), "too_large", False),
        (Late(5), "timeout", True),
        (Raw(b"<html>"), "provider_error", True),
        (Say("I would rather not."), "invalid_output", False),
        (Say('{"summary": [], "block": []}'), "invalid_output", False),
    ],
)  # fmt: skip
def test_whatever_a_provider_does_the_composer_serves_and_the_failure_is_on_record(
    row: Summarised, trouble: Reply | Trouble, code: str, is_retried: bool
) -> None:
    row.save(PROFILE)
    with wired(timeout_seconds=0.5) as wire:
        scripted(wire, trouble)
        done = row.run(wire.models)
        turns = len(wire.server.turns)
    assert (done.ending, done.failure) == ("written", code)
    assert 1 <= turns <= 2
    assert len(row.calls()) == turns
    assert row.texts()["summary_text"] == compose(PROFILE).summary_text
    assert row.state()["last_failure"] == code
    assert (done.look_at is not None) is is_retried
    assert row.state()["run_after"] == (START + WINDOW if is_retried else None)

"""`judgment chat` on a running stack with a real, weak model: it streams, and acts by a schema."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from infra.local.places import Places
from judgment.cli.running import DONE, REFUSED
from judgment.conversation.tools import TOOLS
from tests.e2e.running import RunningStack, run_dev
from tests.models.small_model import CHOICE

if TYPE_CHECKING:
    from tests.models.small_model import SmallModel

pytestmark = [pytest.mark.promise("P4-accept-model", "P4-chat"), pytest.mark.timeout(600)]

ENTRY = "import sys; from judgment.cli.main import main; sys.exit(main())"
ATTEMPTS = 5
CALLS = (
    "SELECT outcome, prompt_tokens, completion_tokens FROM judgment.model_calls"
    " WHERE user_id = %s AND role = 'message' ORDER BY created_at"
)


@contextmanager
def running(small_model: SmallModel, **more: str) -> Generator[RunningStack]:
    """A stack of its own whose messages the small model answers."""
    state = Path(tempfile.mkdtemp(prefix="judgment-small-model-"))
    settings = {"MODEL_MESSAGE": CHOICE.label, "OLLAMA_BASE_URL": small_model.url, **more}
    options = ["--state", str(state), "--port", "0", "--parent", str(os.getpid())]
    try:
        result = run_dev("up", "--detach", *options, **settings)
        assert result.returncode == 0, result.stderr
        yield RunningStack.read(Places(state))
    finally:
        run_dev("down", "--state", str(state))
        shutil.rmtree(state, ignore_errors=True)


def chat(stack: RunningStack, message: str) -> tuple[int, list[dict[str, Any]]]:
    """One turn at the terminal: its exit status, and every event; each was held to its shape."""
    words = ["chat", "--json", "--stack", str(stack.places.stack_file), message]
    done = subprocess.run(
        [sys.executable, "-c", ENTRY, *words], capture_output=True, text=True, check=False
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events, done.stderr
    return done.returncode, events


def calls(stack: RunningStack) -> list[Any]:
    """What each call of the model cost."""
    with psycopg.connect(stack.database_url) as connection:
        return connection.execute(CALLS, (stack.owners["demo"].user_id,)).fetchall()


def of(events: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [event["data"] for event in events if event["event"] == name]


@pytest.mark.promise("P4-provider")
def test_a_turn_is_streamed_and_its_tokens_are_counted(small_model: SmallModel) -> None:
    with running(small_model) as stack:
        status, events = chat(stack, "Say hello in one short sentence.")
        counted = calls(stack)
    assert len(of(events, "text-delta")) > 1
    assert events[-1]["event"] == "done"
    assert status == DONE
    for outcome, into, out in counted:
        assert (outcome, into > 0, out > 0) == ("ok", True, True)
    print(f"\n{counted} {''.join(one['delta'] for one in of(events, 'text-delta'))[:200]!r}")


@pytest.mark.promise("P4-provider-notools")
def test_an_action_by_schema_is_carried_out_or_refused_cleanly(small_model: SmallModel) -> None:
    """Whichever it picks. A weak model may ramble until its time is up: that ends a turn as an
    error, and it is asked anew, until one turn holds an action."""
    by_schema = {"MODEL_WITHOUT_TOOLS": CHOICE.label, "MODEL_TIMEOUT_SECONDS": "45"}
    with running(small_model, **by_schema) as stack:
        turns: list[list[dict[str, Any]]] = []
        while len(turns) < ATTEMPTS and not any(of(events, "tool-call") for events in turns):
            status, events = chat(stack, "List the files in the folder me.")
            assert (status, events[-1]["event"]) in ((DONE, "done"), (REFUSED, "error"))
            turns.append(events)
        counted = calls(stack)
    acted, results = of(turns[-1], "tool-call"), of(turns[-1], "tool-result")
    assert acted, f"no turn held an action: {[events[-1] for events in turns]}"
    assert {one["name"] for one in acted} <= {tool.name for tool in TOOLS}
    assert [one["id"] for one in results] == [one["id"] for one in acted]
    for one in results:
        assert one["status"] == "ok" or one["output"]["recoverable"] is True
    assert "ok" in {outcome for outcome, _, _ in counted}
    print(f"\n{[(one['name'], one['input']) for one in acted]} {turns[-1][-1]} {counted}")

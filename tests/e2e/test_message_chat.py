"""A conversation at the terminal on a stack of its own: reads, edits, approvals, a restart."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from infra.local.places import Places
from tests.e2e.running import RunningStack, run_dev
from tests.fakes.model_server import ModelServer, always
from tests.fakes.model_wire import Call, Say, Turn
from tests.unit.cli.chat.terminals import Terminal

if TYPE_CHECKING:
    from tests.fakes.model_wire import Reply

pytestmark = pytest.mark.promise("P4-accept-chat", "P4-chat", "AC-034")

SPEC = "documents/fitness/spec.md"
ASKED = "approve? [y]es, [n]o, [s]how, [l]ater: "


class OwnStack:
    """A stack that a test may stop and start again; its model is the scripted provider."""

    def __init__(self, state: Path, model: ModelServer):
        self._state = state
        self._settings = {
            "MODEL_MESSAGE": "ollama:fake-model",
            "OLLAMA_BASE_URL": f"{model.url}/v1",
        }
        self.file = str(Places(state).stack_file)

    def up(self) -> RunningStack:
        """Start it."""
        options = ["--state", str(self._state), "--port", "0"]
        started = run_dev("up", "--detach", *options, **self._settings)
        assert started.returncode == 0, started.stdout + started.stderr
        return RunningStack.read(Places(self._state))

    def down(self) -> None:
        """Stop it; its data stay."""
        run_dev("down", "--state", str(self._state))


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with ModelServer(always("no script")) as server:
        yield server


@pytest.fixture
def own_stack(model: ModelServer) -> Iterator[OwnStack]:
    state = Path(tempfile.mkdtemp(prefix="judgment-chat-"))
    stack = OwnStack(state, model)
    try:
        yield stack
    finally:
        stack.down()
        shutil.rmtree(state, ignore_errors=True)


def _plays(model: ModelServer, *rounds: str | tuple[str, dict[str, Any]]) -> None:
    left = list(rounds)

    def script(turn: Turn) -> Reply:
        one = left.pop(0)
        if isinstance(one, str):
            return Say(one)
        tool = turn.tool(one[0])
        assert tool is not None
        return Call(tool, one[1])

    model.script = script


def _spec(stack: RunningStack) -> str:
    answer = httpx.get(
        f"{stack.api_url}/projects/fitness/file-content?path={SPEC}",
        headers=stack.owners["demo"].headers,
        timeout=30,
    )
    assert answer.status_code == 200, answer.text
    return answer.json()["content"]


def _edit(find: str, replace: str) -> tuple[str, dict[str, Any]]:
    return ("memory_edit", {"path": SPEC, "find": find, "replace": replace})


@pytest.mark.promise("P4-approval", "P4-approval-mode", "R-30")
def test_a_conversation_with_reads_edits_approvals_and_a_restart(
    own_stack: OwnStack, model: ModelServer, tmp_path: Path
) -> None:
    first = own_stack.up()
    mode = httpx.put(
        f"{first.api_url}/approvals/mode",
        json={"approval_mode": "ask-on-write"},
        headers=first.owners["demo"].headers,
        timeout=30,
    )
    assert mode.status_code == 200, mode.text
    words = ["--stack", own_stack.file, "--project", "fitness"]
    _plays(
        model,
        ("memory_read", {"path": SPEC}),
        "These are your goals.",
        _edit("# Your Goals", "# Our Goals"),
        "Done.",
        _edit("# Our Goals", "# My Goals"),
        "It is done, as you said.",
    )
    with Terminal(None, tmp_path, *words) as terminal:
        terminal.sees("> ")
        terminal.types("What are my goals?")
        terminal.sees(f"* memory_read on {SPEC}: done")
        terminal.sees("These are your goals.")
        terminal.sees("> ")
        terminal.types("They are ours")
        terminal.sees(ASKED)
        assert _spec(first).startswith("# Your Goals\n")
        terminal.types("y")
        terminal.sees(f"* memory_edit on {SPEC}: done")
        terminal.sees("Done.")
        assert _spec(first).startswith("# Our Goals\n")
        terminal.sees("> ")
        terminal.types("No, mine")
        terminal.sees(ASKED)
        terminal.presses_ctrl_c()
        terminal.sees("waits for your answer.")
        terminal.sees("[l]ater: ")
        terminal.types("l")
        terminal.sees("> ")
        terminal.types("/quit")
        terminal.ends()
    (conversation,) = set(re.findall(r"in conversation (\S+) waits", terminal.shown))

    own_stack.down()
    second = own_stack.up()
    assert _spec(second).startswith("# Our Goals\n")
    with Terminal(None, tmp_path, *words, "--conversation", conversation) as terminal:
        terminal.sees("> ")
        terminal.types("/approvals")
        terminal.sees(f"memory_edit on {SPEC} in conversation {conversation} waits")
        terminal.sees("[l]ater: ")
        terminal.types("y")
        terminal.sees("approved; the next message there settles it.")
        assert _spec(second).startswith("# Our Goals\n")
        terminal.sees("> ")
        terminal.types("Well?")
        terminal.sees("* approved, as you decided earlier")
        terminal.sees(f"* the call on {SPEC}: done")
        terminal.sees("It is done, as you said.")
        assert _spec(second).startswith("# My Goals\n")
        terminal.sees("> ")
        terminal.types("\x04")
        terminal.ends()
    told = [message for message in model.turns[-1].body["messages"] if message["role"] == "tool"]
    assert '"awaiting_approval"' not in str(told)

"""The README's lines, run as they are printed, on a running stack."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from infra.checkout import ROOT
from judgment.contract.profile import AgentProfile, RecentDecisions
from judgment.entry.agent_clients import CLIENTS
from tests.e2e.somebody import Somebody
from tests.fakes.model_server import always

if TYPE_CHECKING:
    import httpx

    from tests.e2e.running import RunningStack
    from tests.fakes.model_server import ModelServer

README = (ROOT / "README.md").read_text()
BLOCK = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)


def _script(stack: RunningStack) -> list[str]:
    """The commands of the first read, on this stack instead of a freshly started one."""
    first_read = README.partition("## The first read")[2].partition("## Play")[0]
    text = "".join(BLOCK.findall(first_read)).replace("\\\n", " ")
    python = Path(sys.executable)
    state = stack.places.state
    text = text.replace("./dev env", f"{python} -m infra.local env --state {state}")
    text = text.replace(".venv/bin/judgment", str(python.with_name("judgment")))
    return [line for line in text.splitlines() if line and not line.startswith("./dev up")]


def _run(stack: RunningStack) -> list[str]:
    """What each command printed, but for the one that sets the variables."""
    setting, *commands = _script(stack)
    assert "infra.local env" in setting
    printed: list[str] = []
    for command in commands:
        result = subprocess.run(
            ["sh", "-ec", f"{setting}\n{command}"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert result.returncode == 0, (command, result.stderr)
        printed.append(result.stdout)
    return printed


@pytest.mark.promise("P1-10", "P1-accept-1")
def test_the_first_read_works_as_printed(stack: RunningStack) -> None:
    profile, recent, block, why, over_mcp = _run(stack)
    read = AgentProfile.model_validate_json(profile)
    assert read.games_played == 12
    assert len(RecentDecisions.model_validate_json(recent).decisions) == 3
    assert read.agent_context_block is not None
    assert block.strip() == read.agent_context_block.strip()
    assert f"{read.model_confidence:.2f}" in why
    result = json.loads(over_mcp)["result"]
    assert AgentProfile.model_validate(result["structuredContent"]) == read


def _played(stack: RunningStack, me: Somebody, kind: str) -> list[dict[str, Any]]:
    """What the commands of one kind under "Play rounds" answer a new owner, who pastes them."""
    section = README.partition("## Play rounds")[2].partition("\n## ")[0]
    blocks = re.findall(rf"^```{kind}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    script = "".join(block for block in blocks if "./dev up" not in block)
    done = subprocess.run(
        ["sh", "-ec", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={
            "PATH": os.environ["PATH"],
            "SYNC_API_URL": stack.api_url,
            "SYNC_API_KEY": me.minted["key"],
            "SYNC_OWNER_TOKEN": me.token,
        },
    )
    assert done.returncode == 0, done.stderr
    found: list[dict[str, Any]] = []
    rest = done.stdout.strip()
    while rest:
        answer, end = json.JSONDecoder().raw_decode(rest)
        found.append(answer)
        rest = rest[end:].strip()
    return found


@pytest.mark.promise("P1-10", "P2-accept-1")
def test_a_round_is_played_as_printed(stack: RunningStack, api: httpx.Client) -> None:
    me = Somebody(stack, api)
    scenario, recorded, profile = _played(stack, me, "sh")
    assert scenario["theme"] == "frontier"
    assert recorded["scenario_id"] == scenario["id"]
    assert profile["games_played"] == 1
    assert me.awaits_summary_of(1)["summary_text"]


@pytest.mark.promise("P1-10", "P2-accept-4")
def test_a_personal_round_is_asked_for_as_printed(stack: RunningStack, api: httpx.Client) -> None:
    """The scripted model stands in for Ollama's and is no use: the answer is a canonical round."""
    me = Somebody(stack, api)
    me.chooses_the_scripted_model("scenario")
    context, scenario = _played(stack, me, "sh model")
    assert context["personal_context"].startswith("I run a small bakery")
    assert scenario["personalized"] is False


@pytest.mark.promise("P1-10", "P3-readme")
def test_preferences_are_kept_and_read_as_printed(
    stack: RunningStack, api: httpx.Client, tmp_path: Path
) -> None:
    me = Somebody(stack, api)
    section = README.partition("## Say what you want")[2].partition("\n## ")[0]
    script = "".join(BLOCK.findall(section))
    programs = Path(sys.executable).parent
    done = subprocess.run(
        ["sh", "-ec", script.replace(".venv/bin", str(programs))],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path),
            "SYNC_API_URL": stack.api_url,
            "SYNC_OWNER_TOKEN": me.token,
        },
    )
    assert done.returncode == 0, done.stderr
    files, _, hosted = done.stdout.partition("editor.indent")[2].partition("dining.cuisine.thai")
    assert '"wins"' in files
    assert "spaces" in files
    assert "/ledger" not in hosted
    assert hosted.count('"audience":"self"') >= 1


def _talked(stack: RunningStack, me: Somebody, home: Path, kind: str) -> str:
    """What the commands of one kind under "Talk over your memory" print, but for the dialogue."""
    section = README.partition("## Talk over your memory")[2].partition("\n## ")[0]
    blocks = re.findall(rf"^```{kind}\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    dialogue = ".venv/bin/judgment chat --project fitness\n"
    script = "".join(blocks).replace(dialogue, "")
    done = subprocess.run(
        ["sh", "-ec", script.replace(".venv/bin", str(Path(sys.executable).parent))],
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(home),
            "SYNC_API_URL": stack.api_url,
            "SYNC_OWNER_TOKEN": me.token,
        },
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.promise("P1-10", "P4-accept-chat")
def test_a_memory_is_talked_over_and_taken_along_as_printed(
    stack: RunningStack, api: httpx.Client, scripted_model: ModelServer, tmp_path: Path
) -> None:
    """The scripted model stands in for Ollama's."""
    me = Somebody(stack, api)
    me.chooses_the_scripted_model("message")
    scripted_model.script = always("Nothing yet. Tell me.")
    assert "Nothing yet. Tell me." in _talked(stack, me, tmp_path, "sh model")
    printed = _talked(stack, me, tmp_path, "sh")
    assert '"id":"fitness"' in printed
    assert "Initialize memory root" in printed
    overlay = tmp_path / "judgment-memory" / "AGENT-user.md"
    assert overlay.read_text() == "Call me Captain.\n"


@pytest.mark.promise("P1-10")
def test_the_agent_lines_are_those_of_the_table_that_tests_run() -> None:
    shown = " ".join(README.replace("\\\n", " ").split())
    claude = next(client for client in CLIENTS if client.name == "Claude Code")
    for line in claude.lines("$SYNC_API_URL", "sync-judgment"):
        assert " ".join(line.split()) in shown


@pytest.mark.promise("P1-10")
@pytest.mark.parametrize("command", ["./dev up", "./dev test"])
def test_the_two_commands_stand_on_the_first_screen(command: str) -> None:
    assert any(line.startswith(command) for line in README.splitlines()[:12])

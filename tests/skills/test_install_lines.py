"""The install lines say truly whether a test runs them, and hold no secret and no broken JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from judgment.entry.agent_clients import CLIENTS, AgentClient
from tests.e2e import test_agents_codex, test_agents_more
from tests.e2e.agents.runtimes import SKILL, Codex

API = "https://judgment.example.com"
ROOT = Path(__file__).parents[2]


@pytest.mark.promise("P1-8")
def test_a_line_says_that_it_is_run_when_a_test_runs_it_and_only_then() -> None:
    said = {client.name: client.executed for client in CLIENTS if client.executed}
    more = {runtime.name: _file(test_agents_more.__file__) for runtime in test_agents_more.RUNTIMES}
    assert said == {**more, Codex.name: _file(test_agents_codex.__file__)}


@pytest.mark.promise("P1-8")
def test_every_runtime_of_the_brief_has_lines() -> None:
    assert [client.name for client in CLIENTS] == [
        "Hermes",
        "Claude Code",
        "Codex",
        "OpenClaw",
        "opencode",
        "Cursor",
        "VS Code",
    ]


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.name)
def test_lines_point_at_this_api_and_take_the_key_from_outside(client: AgentClient) -> None:
    to_install, to_connect = client.lines(API, SKILL)
    assert API in to_install
    assert f"{API}/mcp" in to_connect
    assert "sync_" not in to_install + to_connect
    assert ("SYNC_API_KEY" in to_connect) or ("${input:" in to_connect)
    if to_connect.startswith("//"):
        json.loads(to_connect.partition("\n")[2])


def _file(module: str | None) -> str:
    assert module is not None
    return str(Path(module).relative_to(ROOT))

"""MCP Inspector and the conformance scenarios against the running stack."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.e2e.agents.header_proxy import HeaderProxy
from tests.e2e.agents.workbench import CLIENTS, Home, programs

if TYPE_CHECKING:
    from tests.e2e.running import RunningStack

SCENARIOS = [
    "server-initialize",
    "ping",
    "tools-list",
    "tools-call-error",
    "dns-rebinding-protection",
]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "home", programs(CLIENTS))


def inspect(home: Home, stack: RunningStack, era: str, *arguments: str) -> dict[str, object]:
    """What the Inspector's command line prints."""
    key = stack.owners["demo"].agent["Authorization"]
    return json.loads(
        home.run(
            *("mcp-inspector", "--cli", "--server-url", stack.mcp_url, "--transport", "http"),
            *("--stored-auth-only", "--header", f"Authorization: {key}"),
            *("--protocol-era", era, *arguments),
        )
    )


@pytest.mark.promise("P1-accept-2")
@pytest.mark.parametrize("era", ["legacy", "auto", "modern"])
def test_the_inspector_receives_the_real_profile(home: Home, stack: RunningStack, era: str) -> None:
    call = ("--method", "tools/call", "--tool-name", "sync.get_profile")
    told = inspect(home, stack, era, *call)
    rest = httpx.get(
        f"{stack.api_url}/api/agent/v1/profile", headers=stack.owners["demo"].agent, timeout=30
    )
    assert told["structuredContent"] == rest.raise_for_status().json()


@pytest.mark.promise("P1-accept-2")
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspectors_strict_check_finds_no_fault_in_the_schemas(
    home: Home, stack: RunningStack, era: str
) -> None:
    listed = inspect(home, stack, era, "--method", "tools/list", "--strict")
    assert len(listed["tools"]) == 2  # type: ignore[arg-type]


@pytest.mark.promise("P1-accept-2")
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_conformance_scenarios_pass(home: Home, stack: RunningStack, scenario: str) -> None:
    with HeaderProxy(stack.mcp_url, stack.owners["demo"].agent) as proxy:
        written = home.run(
            "conformance", "server", "--url", f"{proxy.url}/mcp", "--scenario", scenario
        )
    assert ", 0 failed" in written
    assert "Passed: 0/" not in written

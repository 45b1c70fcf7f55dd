"""Preferences over the running stack's MCP endpoint: said, compiled, read, decided with."""

from __future__ import annotations

import json
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from infra.local.waiting import wait_for
from tests.e2e.agents.workbench import CLIENTS, Home, programs
from tests.e2e.somebody import FOLLOWS_SECONDS, POLL_SECONDS, Somebody
from tests.e2e.test_mcp_stack import connected

if TYPE_CHECKING:
    from pathlib import Path

    import httpx
    from mcp import Client

    from tests.e2e.running import RunningStack

MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])
BOTH = ["preferences:read", "preferences:write"]
KEY = "dining.cuisine.thai"


class Agent:
    """An agent with a key of these scopes, speaking MCP by the official SDK."""

    def __init__(self, stack: RunningStack, who: Somebody, mode: str, scopes: list[str]):
        self.headers = {"Authorization": f"Bearer {who.mint(scopes=scopes)['key']}"}
        self._url = stack.mcp_url
        self._mode = mode

    def connected(self) -> AbstractAsyncContextManager[Client]:
        """A client."""
        return connected(self._url, self.headers, self._mode)

    def tools(self) -> list[str]:
        """The names that are listed."""

        async def listed() -> list[str]:
            async with self.connected() as client:
                return [tool.name for tool in (await client.list_tools()).tools]

        return anyio.run(listed)

    def calls(self, name: str, **arguments: Any) -> Any:
        """The structure of an answer, or the problem of a refusal."""

        async def called() -> Any:
            async with self.connected() as client:
                told = await client.call_tool(name, arguments)
                if told.is_error:
                    return json.loads(told.content[0].text)  # type: ignore[union-attr]
                return told.structured_content

        return anyio.run(called)

    def says(self, value: Any, strength: float, sequence: int, **more: Any) -> Any:
        """A statement, kept."""
        source = {"platform": "codex", "session": "s-1", "sequence": sequence}
        signal = {"key": KEY, "value": value, "strength": strength, "source": source, **more}
        return self.calls("prefs.capture", signals=[signal])["signals"][0]

    def awaits(self, value: Any) -> dict[str, Any]:
        """The entry, once it has that value."""
        seen: list[dict[str, Any]] = []

        def is_there() -> bool:
            entries = self.calls("prefs.get", platform="codex", below="dining")["entries"]
            seen[:] = [entry for entry in entries if entry["value"] == value]
            return bool(seen)

        assert wait_for(is_there, FOLLOWS_SECONDS, POLL_SECONDS), "it was not compiled in time"
        return seen[0]


@pytest.mark.promise("P3-mcp", "P3-hosted")
@MODES
def test_what_is_said_over_mcp_is_compiled_read_explained_and_decided_with(
    stack: RunningStack, api: httpx.Client, mode: str
) -> None:
    agent = Agent(stack, Somebody(stack, api), mode, BOTH)
    assert agent.tools() == ["prefs.get", "prefs.why", "prefs.solve", "prefs.capture"]
    assert agent.calls("prefs.get")["entries"] == []
    first = agent.says({"liked": True}, 0.9, 0)
    second = agent.says({"liked": False}, -0.7, 1, corrects=True)
    assert first["is_new"]
    assert second["is_new"]
    assert first["id"] != second["id"]
    entry = agent.awaits({"liked": False})
    assert entry["weight"] == pytest.approx(-0.7, abs=0.001)
    told = agent.calls("prefs.why", key=KEY)
    assert told["winner"] == second["id"]
    assert {one["signal"]["id"] for one in told["candidates"]} == {first["id"], second["id"]}
    options = [{"id": "thai", "keys": [KEY]}, {"id": "other", "keys": ["dining.cuisine.x"]}]
    solved = agent.calls("prefs.solve", options=options, participants=[{"self": True}])
    assert [ranked["option"] for ranked in solved["ranking"]] == ["other", "thai"]


@pytest.mark.promise("P3-mcp", "P3-ledger")
def test_a_read_over_mcp_is_in_the_owners_ledger(stack: RunningStack, api: httpx.Client) -> None:
    who = Somebody(stack, api)
    agent = Agent(stack, who, "auto", BOTH)
    agent.says("mild", 0.5, 0)
    agent.awaits("mild")
    entries = who.ask("GET", "/api/v1/preferences/ledger")["entries"]
    shown = next(entry for entry in entries if entry["keys"] == [KEY])
    assert (shown["kind"], shown["audience"], shown["purpose"]) == ("disclosure", "self", "read")
    assert shown["by"].startswith("key ")
    assert who.ask("GET", "/api/v1/preferences/ledger/verification")["intact"]


@pytest.mark.promise("P3-mcp", "R-3", "R-20")
def test_a_key_uses_the_tools_of_its_scopes_alone(stack: RunningStack, api: httpx.Client) -> None:
    who = Somebody(stack, api)
    reader = Agent(stack, who, "auto", BOTH[:1])
    assert reader.tools() == ["prefs.get", "prefs.why", "prefs.solve"]
    source = {"platform": "codex"}
    signal = {"key": KEY, "value": 1, "strength": 1, "source": source}
    assert reader.calls("prefs.capture", signals=[signal])["code"] == "forbidden"
    writer = Agent(stack, who, "auto", BOTH[1:])
    assert writer.tools() == ["prefs.capture"]
    assert writer.calls("prefs.get")["code"] == "forbidden"
    assert Agent(stack, who, "auto", ["profile:read"]).calls("prefs.get")["code"] == "forbidden"


@pytest.mark.promise("P3-mcp", "000-10.1")
def test_the_owners_switch_closes_preferences_on_the_next_call(
    stack: RunningStack, api: httpx.Client
) -> None:
    who = Somebody(stack, api)
    agent = Agent(stack, who, "auto", BOTH)
    assert agent.calls("prefs.get")["total"] == 0
    who.ask("PUT", "/api/v1/agent-access", {"enabled": False})
    for name, arguments in (("prefs.get", {}), ("prefs.why", {"key": KEY})):
        assert agent.calls(name, **arguments)["code"] == "profile_access_disabled"
    who.ask("PUT", "/api/v1/agent-access", {"enabled": True})
    assert agent.calls("prefs.get")["total"] == 0


@pytest.mark.promise("P3-mcp")
@pytest.mark.parametrize("era", ["legacy", "modern"])
def test_the_inspectors_strict_check_finds_no_fault_in_the_tools_of_preferences(
    stack: RunningStack, api: httpx.Client, tmp_path: Path, era: str
) -> None:
    key = Somebody(stack, api).mint(scopes=["profile:read", *BOTH])["key"]
    written = Home(tmp_path / "home", programs(CLIENTS)).run(
        *("mcp-inspector", "--cli", "--server-url", stack.mcp_url, "--transport", "http"),
        *("--stored-auth-only", "--header", f"Authorization: Bearer {key}"),
        *("--protocol-era", era, "--method", "tools/list", "--strict"),
    )
    assert len(json.loads(written)["tools"]) == 6

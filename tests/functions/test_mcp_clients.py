"""The official SDK client, in both protocol eras, against the door in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.fakes.gateway import AGENT, LambdaTransport, mcp_door
from tests.fakes.rest_api import DECISION, FakeRest, trained_profile
from tests.fakes.rest_preferences import (
    CAPTURE,
    CAPTURED,
    SOLVE,
    page,
    solved,
    why,
    with_preferences,
)

MODES = pytest.mark.parametrize(
    ("mode", "version"),
    [("legacy", "2025-11-25"), ("auto", "2026-07-28"), ("2026-07-28", "2026-07-28")],
)


@pytest.fixture
def rest() -> FakeRest:
    return FakeRest()


@pytest.fixture
def transport(rest: FakeRest) -> Iterator[LambdaTransport]:
    with mcp_door(rest) as door:
        yield LambdaTransport(door)


@asynccontextmanager
async def connected(
    transport: LambdaTransport, mode: str, query: str = ""
) -> AsyncIterator[Client]:
    """An SDK client speaking to the door."""
    async with httpx2.AsyncClient(transport=transport) as http:
        link = streamable_http_client(f"https://api.test/mcp{query}", http_client=http)
        async with Client(link, mode=mode) as client:
            yield client


@pytest.mark.promise("000-5", "P1-7", "000-12")
@MODES
def test_the_sdk_client_lists_and_calls_every_tool(
    transport: LambdaTransport, mode: str, version: str
) -> None:
    async def talk() -> None:
        async with connected(transport, mode) as client:
            assert client.protocol_version == version
            tools = (await client.list_tools()).tools
            assert [t.name for t in tools] == ["sync.get_profile", "sync.get_recent_decisions"]
            profile = await client.call_tool("sync.get_profile")
            assert profile.structured_content == trained_profile()
            decisions = await client.call_tool("sync.get_recent_decisions", {"limit": 1})
            assert decisions.structured_content == {"decisions": [DECISION]}

    anyio.run(talk)
    assert {status for method, status in transport.exchanges if method == "POST"} <= {200, 202}


@pytest.mark.promise("P3-mcp")
@MODES
def test_the_sdk_client_uses_preferences_and_is_told_what_each_tool_does(
    rest: FakeRest, mode: str, version: str
) -> None:
    async def talk(transport: LambdaTransport) -> None:
        async with connected(transport, mode) as client:
            tools = {tool.name: tool for tool in (await client.list_tools()).tools}
            assert list(tools) == ["prefs.get", "prefs.why", "prefs.solve", "prefs.capture"]
            hints = {name: tool.annotations.read_only_hint for name, tool in tools.items()}
            assert [name for name, reads in hints.items() if not reads] == ["prefs.capture"]
            answers = [
                await client.call_tool("prefs.get", {"platform": "codex"}),
                await client.call_tool("prefs.why", {"key": "dining.cuisine.thai"}),
                await client.call_tool("prefs.solve", SOLVE),
                await client.call_tool("prefs.capture", CAPTURE),
            ]
            assert [a.structured_content for a in answers] == [page(), why(), solved(), CAPTURED]

    with mcp_door(with_preferences(rest)) as door:
        agent = replace(AGENT, scopes=frozenset({"preferences:read", "preferences:write"}))
        anyio.run(talk, LambdaTransport(door, agent))


@pytest.mark.promise("000-10.1")
@MODES
def test_the_sdk_client_sees_a_switched_off_profile_as_a_tool_error(
    transport: LambdaTransport, rest: FakeRest, mode: str, version: str
) -> None:
    rest.refuse(403, {"code": "profile_access_disabled", "message": "Access is off."})

    async def talk() -> None:
        async with connected(transport, mode) as client:
            told = await client.call_tool("sync.get_profile")
            assert told.is_error
            assert "profile_access_disabled" in told.content[0].text  # type: ignore[union-attr]

    anyio.run(talk)


@MODES
def test_the_sdk_client_works_with_underscores(
    transport: LambdaTransport, mode: str, version: str
) -> None:
    async def talk() -> None:
        async with connected(transport, mode, "?names=underscore") as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == ["sync_get_profile", "sync_get_recent_decisions"]
            assert not (await client.call_tool(names[1], {"limit": 20})).is_error

    anyio.run(talk)

"""The MCP endpoint of the running stack, by the official SDK client and by hand."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import anyio
import httpx
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

if TYPE_CHECKING:
    from tests.e2e.running import RunningStack

MODES = pytest.mark.parametrize("mode", ["legacy", "auto"])
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "sync.get_profile"}}


@asynccontextmanager
async def connected(url: str, headers: dict[str, str], mode: str) -> AsyncIterator[Client]:
    """An SDK client with a key, over real HTTP."""
    async with (
        httpx2.AsyncClient(headers=headers, timeout=30, trust_env=False) as http,
        Client(streamable_http_client(url, http_client=http), mode=mode) as client,
    ):
        yield client


@pytest.mark.promise("P1-accept-2", "000-12", "000-1")
@MODES
def test_the_sdk_client_receives_the_real_profile(stack: RunningStack, mode: str) -> None:
    owner = stack.owners["demo"]
    rest = httpx.get(f"{stack.api_url}/api/agent/v1/profile", headers=owner.agent, timeout=30)
    profile = rest.raise_for_status().json()
    assert profile["games_played"] > 0

    async def talk() -> Any:
        async with connected(stack.mcp_url, owner.agent, mode) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == ["sync.get_profile", "sync.get_recent_decisions"]
            told = await client.call_tool("sync.get_profile")
            recent = await client.call_tool("sync.get_recent_decisions", {"limit": 3})
            assert len(recent.structured_content["decisions"]) == 3
            return told.structured_content

    assert anyio.run(talk) == profile


@pytest.mark.promise("000-10.1")
@MODES
def test_a_switched_off_owner_is_refused_in_words(stack: RunningStack, mode: str) -> None:
    async def talk() -> None:
        async with connected(stack.mcp_url, stack.owners["disabled"].agent, mode) as client:
            told = await client.call_tool("sync.get_profile")
            assert told.is_error
            assert "profile_access_disabled" in told.content[0].text  # type: ignore[union-attr]

    anyio.run(talk)


@pytest.fixture
def client(stack: RunningStack) -> Iterator[httpx.Client]:
    """Plain HTTP with the demo owner's key."""
    headers = {**stack.owners["demo"].agent, "Accept": "application/json, text/event-stream"}
    with httpx.Client(headers=headers, timeout=30, trust_env=False) as made:
        yield made


@pytest.mark.promise("P1-refuse", "R-20")
def test_the_refusals_of_the_endpoint(stack: RunningStack, client: httpx.Client) -> None:
    url = stack.mcp_url
    assert client.post(url, json=PING).status_code == 200
    assert client.post(url, json=[PING]).status_code == 400
    assert client.post(url, content=b"{", headers={"Content-Type": "application/json"}).is_error
    assert client.post(url, json=PING, headers={"Origin": "https://evil.test"}).status_code == 403
    assert client.post(url, json={**PING, "params": {"x": "y" * 5 * 2**20}}).status_code == 413
    for method in ("GET", "DELETE", "HEAD", "OPTIONS", "PUT"):
        reply = httpx.request(method, url, timeout=30)
        assert (method, reply.status_code) == (method, 405)
        assert reply.headers["Allow"] == "POST"


@pytest.mark.promise("R-19", "P1-refuse")
def test_without_a_good_key_every_call_is_the_one_401(stack: RunningStack) -> None:
    owner = stack.owners["demo"]
    replies = [
        httpx.post(stack.mcp_url, json=PING, headers=headers, timeout=30)
        for headers in (
            {},
            {"Authorization": "Bearer sync_" + "x" * 43},
            {"Authorization": f"Basic {owner.agent_key}"},
            owner.headers,
        )
    ]
    assert {reply.status_code for reply in replies} == {401}
    [body] = {reply.content for reply in replies}
    assert json.loads(body)["error"] == "Unauthorized"
    assert {reply.headers["WWW-Authenticate"] for reply in replies} == {'Bearer realm="sync"'}


@pytest.mark.promise("000-10.3", "P1-6")
def test_one_correlation_id_runs_through_mcp_and_rest(
    stack: RunningStack, client: httpx.Client
) -> None:
    mark = f"trace-{uuid4()}"
    reply = client.post(stack.mcp_url, json=CALL, headers={"X-Correlation-Id": mark})
    assert reply.headers["X-Correlation-Id"] == mark
    assert reply.json()["result"]["isError"] is False
    seen = [line for line in stack.wire_lines() if mark in line.values()]
    assert [line["via"] for line in seen] == ["mcp"]


@pytest.mark.promise("P1-accept-3")
def test_revocation_and_both_switches_show_on_the_very_next_call(stack: RunningStack) -> None:
    owner = {"Authorization": f"Bearer {stack.issuer.token(uuid4())}"}
    with httpx.Client(base_url=stack.api_url, timeout=30) as http:
        minted = http.post("/api/v1/keys", json={"name": "mcp"}, headers=owner).json()
        key = {"Authorization": f"Bearer {minted['key']}"}

        def told() -> dict[str, Any]:
            reply = http.post("/mcp", json=CALL, headers=key)
            assert reply.status_code == 200
            return reply.json()["result"]

        assert told()["structuredContent"]["summary_text"] is None
        http.put("/api/v1/agent-access", json={"enabled": False}, headers=owner).raise_for_status()
        assert "profile_access_disabled" in told()["content"][0]["text"]
        http.put("/api/v1/agent-access", json={"enabled": True}, headers=owner).raise_for_status()
        assert told()["isError"] is False
        http.delete(f"/api/v1/keys/{minted['id']}", headers=owner).raise_for_status()
        assert http.post("/mcp", json=CALL, headers=key).status_code == 401

"""Calls of `/mcp` in either protocol era, and what their replies say."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import pytest

from tests.fakes.gateway import AGENT, META, proxy_event

Ask: TypeAlias = Callable[..., dict[str, Any]]


def legacy(method: str, params: Any = None, version: str = "2025-11-25") -> dict[str, Any]:
    """An event of the handshake era."""
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params or {}}
    return proxy_event(message, headers={"MCP-Protocol-Version": version})


def modern(method: str, params: Any = None) -> dict[str, Any]:
    """An event of the per-request era."""
    sent = {**(params or {}), "_meta": META}
    headers = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    if "name" in sent:
        headers["Mcp-Name"] = sent["name"]
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": sent}
    return proxy_event(message, headers=headers)


ERAS = pytest.mark.parametrize("era", [legacy, modern], ids=["2025", "2026"])


def result(reply: dict[str, Any]) -> dict[str, Any]:
    """The JSON-RPC result of a 200."""
    assert reply["statusCode"] == 200, reply
    return json.loads(reply["body"])["result"]


def problem(reply: dict[str, Any]) -> dict[str, Any]:
    """The refusal inside an `isError` result."""
    told = result(reply)
    assert told["isError"] is True
    assert "structuredContent" not in told
    return json.loads(told["content"][0]["text"])


def call(era: Ask, name: str = "sync.get_profile", **arguments: Any) -> dict[str, Any]:
    """A tools/call event."""
    return era("tools/call", {"name": name, "arguments": arguments})


def with_scopes(event: Mapping[str, Any], *scopes: str) -> dict[str, Any]:
    """The same call by a key of these scopes."""
    context = replace(AGENT, scopes=frozenset(scopes)).to_context()
    return {**event, "requestContext": {**event["requestContext"], "authorizer": context}}

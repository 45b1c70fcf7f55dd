"""API Gateway in front of one handler, for clients that run in this process."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import anyio.to_thread
import httpx2

from functions.mcp.door import McpDoor
from functions.mcp.rest import Rest
from functions.mcp.server import build_server
from judgment.contract.principal import Principal
from judgment.entry.observability import Telemetry
from tests.fakes.events import http_event
from tests.fakes.rest_api import OWNER, FakeRest

Handler = Callable[[Mapping[str, Any], Any], Mapping[str, Any]]

KEY = "sync_" + "k" * 43
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}
"""What every message of the per-request era carries in `params._meta`."""
AGENT = Principal(
    kind="agent",
    user_id=OWNER,
    key_id=UUID("1f6f0a4b-6f0e-4a39-9d0e-7b0c4a562c11"),
    key_prefix=KEY[:12],
    scopes=frozenset({"profile:read"}),
)


def proxy_event(
    body: Any = None,
    *,
    method: str = "POST",
    headers: Mapping[str, str] | None = None,
    query: Mapping[str, str] | None = None,
    principal: Principal | None = AGENT,
) -> dict[str, Any]:
    """A REST-proxy event for `/mcp`; `body` is sent as JSON unless it is text already."""
    sent = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {KEY}",
        "Host": "attacker.example",
        **(headers or {}),
    }
    return http_event(
        method,
        "/mcp",
        principal=principal,
        query={name: [value] for name, value in (query or {}).items()},
        headers=sent,
        body=body if isinstance(body, str) or body is None else json.dumps(body),
    )


@contextmanager
def mcp_door(rest: FakeRest) -> Iterator[McpDoor]:
    """The MCP door of `https://api.test` over that REST API; a console may call it."""
    client = Rest(rest.connect)
    origins = frozenset({"https://console.test"})
    made = McpDoor(build_server(client), client, "https://api.test/", origins, Telemetry("mcp"))
    try:
        yield made
    finally:
        made.close()


class LambdaTransport(httpx2.AsyncBaseTransport):
    """An HTTP transport that makes a proxy event of a request and asks the handler.

    The handler has its own event loop, so it runs in a thread, one invocation at a time, as
    Lambda has it. `exchanges` keeps method and status of each request.
    """

    def __init__(self, handler: Handler, principal: Principal = AGENT):
        self._handler = handler
        self._principal = principal
        self._one_at_a_time = threading.Lock()
        self.exchanges: list[tuple[str, int]] = []

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answer as the deployment would."""
        event = proxy_event(
            (await request.aread()).decode(),
            method=request.method,
            headers={name.title(): value for name, value in request.headers.items()},
            query=dict(request.url.params),
            principal=self._principal,
        )
        reply = await anyio.to_thread.run_sync(self._invoke, event)
        self.exchanges.append((request.method, reply["statusCode"]))
        return httpx2.Response(
            reply["statusCode"], headers=dict(reply["headers"]), content=reply["body"].encode()
        )

    def _invoke(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        with self._one_at_a_time:
            return self._handler(event, None)

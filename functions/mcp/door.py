"""One invocation: admit the request, run the SDK's app for it, settle the reply.

An app of the SDK can be started once only, and Mangum starts its app on every invocation, so the
app is made anew each time around the one server. The event loop and the HTTP connections live as
long as the environment.
"""

from __future__ import annotations

import asyncio
from typing import Any

from mangum import Mangum
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings
from starlette.types import Receive, Scope, Send

from functions.mcp.edge import Admitted, Declined, Reply, admit, settle
from functions.mcp.rest import Caller, Rest
from functions.mcp.server import CALLER, SPELLING, instructions
from functions.mcp.tools import find
from judgment.entry.event import CORRELATION_HEADER, Event, correlation_id
from judgment.entry.observability import UNAVAILABLE, Telemetry

# API Gateway routes by Host and terminates TLS; Origin is checked at our edge.
_TRUSTING = TransportSecuritySettings(enable_dns_rebinding_protection=False)


class McpDoor:
    """The handler of the `mcp` Lambda.

    `api_url` is where REST is; empty means the domain name under which API Gateway was called.
    """

    def __init__(
        self,
        server: Server[Any],
        rest: Rest,
        api_url: str,
        allowed_origins: frozenset[str],
        telemetry: Telemetry,
    ):
        self._server = server
        self._rest = rest
        self._api_url = api_url.rstrip("/")
        self._origins = allowed_origins
        self._telemetry = telemetry
        self._loop = asyncio.new_event_loop()

    def __call__(self, event: Event, context: Any) -> Reply:
        """Answer one REST-proxy event."""
        try:
            admitted = admit(event, self._origins)
        except Declined as declined:
            return self._finish(declined.reply, correlation_id(event), "", None)
        caller = self._caller(admitted, event)
        reply = settle(self._run(admitted, caller, context))
        return self._finish(reply, caller.correlation_id, admitted.method, admitted.name)

    def close(self) -> None:
        """Close connections and loop; only tests end a door."""
        self._rest.close()
        self._loop.close()

    def _run(self, admitted: Admitted, caller: Caller, context: Any) -> Reply:
        asyncio.set_event_loop(self._loop)
        # The SDK knows one text for everybody; an environment serves one invocation at a time.
        self._server.instructions = instructions(caller.scopes)
        app = self._server.streamable_http_app(
            stateless_http=True, json_response=True, transport_security=_TRUSTING
        )
        spelling = "underscores" if admitted.underscores else "dots"

        async def with_caller(scope: Scope, receive: Receive, send: Send) -> None:
            scope[CALLER], scope[SPELLING] = caller, spelling
            await app(scope, receive, send)

        return Mangum(with_caller, lifespan="on")(admitted.event, context)

    def _finish(self, reply: Reply, correlation: str, method: str, name: object) -> Reply:
        status = reply["statusCode"]
        known = find(name) if isinstance(name, str) else None
        self._telemetry.info(
            "mcp",
            correlation_id=correlation,
            status=status,
            rpc_method=method[:64],
            tool=known.name if known else None,
        )
        if status == 503:
            self._telemetry.count(UNAVAILABLE)
        self._telemetry.flush()
        headers = {"Cache-Control": "no-store", CORRELATION_HEADER: correlation}
        return {**reply, "headers": {**(reply.get("headers") or {}), **headers}}

    def _caller(self, admitted: Admitted, event: Event) -> Caller:
        return Caller(
            authorization=admitted.headers.get("authorization", ""),
            correlation_id=correlation_id(event),
            api_url=self._api_url or _own_address(event),
            scopes=admitted.principal.scopes,
        )


def _own_address(event: Event) -> str:
    """The address API Gateway was reached by, from what it says itself, never from Host.

    Under the default domain the path carries the stage, which `requestContext.path` shows.
    """
    context = event["requestContext"]
    full, path = str(context.get("path", "")), str(event.get("path", ""))
    stage = full.removesuffix(path) if path and full.endswith(path) else ""
    return f"https://{context['domainName']}{stage}"

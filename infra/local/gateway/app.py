"""The gateway's ASGI application: one request from its first byte to its line in the wire log."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from infra.access_log import WIRE_LOG_PREFIX, access_log_line
from infra.local.gateway.authorizing import Refused, authorize
from infra.local.gateway.events import Event, HttpRequest, Stamp, proxy_event
from infra.local.gateway.invoking import (
    FunctionError,
    IntegrationTimeout,
    PayloadTooLarge,
    Streamed,
)
from infra.local.gateway.replies import (
    HttpResponse,
    MalformedReply,
    head_of,
    own_response,
    rendered,
)

if TYPE_CHECKING:
    from infra.local.gateway.routing import Match, Router
    from judgment.kit.clock import Clock

MAX_BODY_BYTES = 10 * 1024 * 1024
MAX_HEADER_BYTES = 10_240
INTEGRATION_SECONDS = 29.0
STREAM_SECONDS = 900.0
"""API Gateway quotas for REST APIs: payload, headers, integration timeout, streamed timeout."""

Send = Callable[[dict[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[dict[str, Any]]]


class Functions(Protocol):
    """What runs the doors."""

    async def invoke(self, door: str, event: Event, limit_s: float | None = None) -> Any:
        """The door's reply. Raises InvocationFailed."""
        ...

    def streams(self, door: str) -> bool:
        """Whether the door answers in chunks."""
        ...


@dataclass(frozen=True)
class Rules:
    """What may be set: the public host, the authorizer's door, the limit of buffered doors."""

    domain: str
    authorizer: str = "authorizer"
    integration_seconds: float = INTEGRATION_SECONDS


class Gateway:
    """An ASGI application over a route table and the functions behind it."""

    def __init__(
        self,
        router: Router,
        functions: Functions,
        rules: Rules,
        *,
        clock: Clock,
        wire_log: Callable[[str], None],
    ):
        self._router = router
        self._functions = functions
        self._rules = rules
        self._clock = clock
        self._wire_log = wire_log

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        """Serve one HTTP request; other scopes are refused by closing."""
        if scope["type"] != "http":
            await send({"type": "websocket.close"})
            return
        started = time.perf_counter()
        stamp = Stamp(str(uuid.uuid4()), self._clock(), self._rules.domain)
        context = {
            "requestTime": stamp.request_time,
            "requestId": stamp.request_id,
            "httpMethod": scope["method"],
            "path": scope["raw_path"].decode("latin-1"),
        }
        try:
            answer = await self._answer(scope, receive, stamp, context)
        except ClientGone:
            return
        if isinstance(answer, Streamed):
            status = await _stream(answer, receive, send, stamp)
        else:
            status = answer.status
            await _send(answer, send, stamp)
        if context["path"].startswith(WIRE_LOG_PREFIX):
            context["status"] = str(status)
            context["responseLatency"] = str(round((time.perf_counter() - started) * 1000))
            self._wire_log(access_log_line(context))

    async def _answer(
        self, scope: dict[str, Any], receive: Receive, stamp: Stamp, context: dict[str, str]
    ) -> HttpResponse | Streamed:
        match = self._router.match(scope["method"], context["path"])
        if match is None:
            return own_response("MISSING_AUTHENTICATION_TOKEN")
        if sum(len(name) + len(value) for name, value in scope["headers"]) > MAX_HEADER_BYTES:
            return own_response("REQUEST_TOO_LARGE")
        body = await _body(receive)
        if body is None:
            return own_response("REQUEST_TOO_LARGE")
        event = proxy_event(_request(scope, context["path"], body), match, stamp)
        try:
            await self._authorize(match, event, context)
            return await self._integrate(match, event)
        except Refused as refused:
            return own_response(refused.type)

    async def _authorize(self, match: Match, event: Event, context: dict[str, str]) -> None:
        if match.route.auth == "none":
            return

        async def ask(question: Event) -> Any:
            limit = self._rules.integration_seconds
            return await self._functions.invoke(self._rules.authorizer, question, limit)

        found = await authorize(ask, event)
        event["requestContext"]["authorizer"] = found
        context.update({f"authorizer.{name}": value for name, value in found.items()})

    async def _integrate(self, match: Match, event: Event) -> HttpResponse | Streamed:
        door = match.route.door
        stream = self._functions.streams(door)
        limit = STREAM_SECONDS if stream else self._rules.integration_seconds
        try:
            reply = await self._functions.invoke(door, event, limit)
            if isinstance(reply, Streamed):
                head_of(reply.head)
                return reply
            return rendered(reply)
        except IntegrationTimeout as failure:
            raise Refused("INTEGRATION_TIMEOUT") from failure
        except PayloadTooLarge as failure:
            raise Refused("REQUEST_TOO_LARGE") from failure
        except (FunctionError, MalformedReply) as failure:
            raise Refused("DEFAULT_5XX") from failure


class ClientGone(ConnectionError):
    """The client left before its request was complete; no door must see the half of it."""


async def _body(receive: Receive) -> bytes | None:
    """The whole body, or None when it is over the limit. Raises ClientGone."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        part = message.get("body", b"")
        size += len(part)
        if size > MAX_BODY_BYTES:
            return None
        parts.append(part)
        if not message.get("more_body", False):
            return b"".join(parts)


def _request(scope: dict[str, Any], path: str, body: bytes) -> HttpRequest:
    client = scope.get("client") or ("127.0.0.1", 0)
    return HttpRequest(
        method=scope["method"],
        path=path,
        query=scope["query_string"].decode("latin-1"),
        headers=tuple((n.decode("latin-1"), v.decode("latin-1")) for n, v in scope["headers"]),
        client=client[0],
        body=body,
    )


def _asgi_headers(headers: tuple[tuple[str, str], ...], stamp: Stamp) -> list[tuple[bytes, bytes]]:
    shown = [(n.encode("latin-1"), v.encode("utf-8", "replace")) for n, v in headers]
    return [*shown, (b"x-amzn-requestid", stamp.request_id.encode())]


async def _send(response: HttpResponse, send: Send, stamp: Stamp) -> None:
    headers = _asgi_headers(response.headers, stamp)
    headers.append((b"content-length", str(len(response.body)).encode()))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": response.body})


class StreamBroken(ConnectionAbortedError):
    """The function failed after its first byte; the server cuts the connection."""


async def _stream(reply: Streamed, receive: Receive, send: Send, stamp: Stamp) -> int:
    """Pass the chunks on until the function ends or the client leaves. Raises StreamBroken."""
    status, headers = head_of(reply.head)
    start = {"status": status, "headers": _asgi_headers(headers, stamp)}
    await send({"type": "http.response.start", **start})
    gone = asyncio.ensure_future(_gone(receive))
    try:
        while (chunk := await _chunk_unless(gone, reply)) is not None:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
    finally:
        gone.cancel()
    if reply.abandoned:
        return status
    if reply.broke_off:
        raise StreamBroken("the function broke off")
    await send({"type": "http.response.body", "body": b""})
    return status


async def _chunk_unless(gone: asyncio.Future[None], reply: Streamed) -> bytes | None:
    chunk = asyncio.ensure_future(reply.chunk())
    await asyncio.wait((chunk, gone), return_when=asyncio.FIRST_COMPLETED)
    if gone.done():
        chunk.cancel()
        reply.abandon()
        return None
    return chunk.result()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

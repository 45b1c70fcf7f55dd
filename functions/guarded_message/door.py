"""One request: who asks, what they say, then the turn's events as they happen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from judgment.contract.messages import Failed, MessageRequest
from judgment.contract.principal import Principal
from judgment.conversation.sse import MEDIA_TYPE, frame
from judgment.entry import event as read
from judgment.entry import observability as seen
from judgment.entry.event_stream import (
    EventStream,
    deadline_of,
    event_of,
    json_answer,
    read_body,
)
from judgment.entry.refusals import InvalidShape, gateway_body, problem_headers
from judgment.kit.deadline import Deadline
from judgment.kit.errors import NotFound, Refusal, Unauthorized, Unavailable

if TYPE_CHECKING:
    from judgment.contract.messages import AnyEvent
    from judgment.conversation.turn import BegunTurn, Turns
    from judgment.entry.event_stream import Receive, Scope, Send
    from judgment.entry.observability import Telemetry

BODY_LIMIT = 256 * 1024
CONVERSATION_HEADER = "x-conversation-id"
HEADERS = {
    "content-type": MEDIA_TYPE,
    "cache-control": "no-cache",
    "connection": "keep-alive",
}
NOT_STORED = (
    "Storage cannot be reached. Your message is kept, and so is all that was confirmed before this."
)
BROKEN = (
    "Something went wrong on our side. Your message is kept, and so is all that was confirmed "
    "before this."
)


class MessageDoor:
    """An ASGI app. `longest_seconds`: what the caller's side waits for, where that is less than
    the function's own time."""

    def __init__(self, turns: Turns, telemetry: Telemetry, longest_seconds: float | None = None):
        self._turns = turns
        self._telemetry = telemetry
        self._longest = longest_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one HTTP request."""
        started = time.perf_counter()
        event = event_of(scope)
        told = _Told(read.correlation_id(event))
        try:
            begun = await self._begun(scope, receive, event)
        except Refusal as refusal:
            await self._refuse(send, refusal, told)
        except Exception as error:  # noqa: BLE001 - a defect is answered in the contract's form
            self._count(seen.INTERNAL_ERROR, error, told)
            await self._refuse(send, Refusal("Internal Server Error"), told)
        else:
            headers = HEADERS | dict(begun.headers) | {"x-correlation-id": told.correlation}
            stream = EventStream(lambda left: self._frames(begun, left.is_set, told), headers)
            await stream(scope, receive, send)
        finally:
            self._say(event, told, started)
            self._telemetry.flush()

    async def _begun(self, scope: Scope, receive: Receive, event: read.Event) -> BegunTurn:
        if (scope["method"], scope["path"]) != ("POST", "/message"):
            raise NotFound
        owner = _owner(event)
        body = await read_body(receive, BODY_LIMIT)
        try:
            request = MessageRequest.model_validate_json(body)
        except ValidationError as error:
            raise InvalidShape from error
        deadline = self._deadline(scope)
        conversation_id = next(iter(read.headers(event, CONVERSATION_HEADER)), None)
        return await asyncio.to_thread(
            self._turns.begin, owner.user_id, request, conversation_id, deadline
        )

    def _frames(self, begun: BegunTurn, gone: Callable[[], bool], told: _Told) -> Iterator[bytes]:
        """The turn's events as bytes; what escapes it is logged, and one last event."""
        told.ended = "abandoned"
        try:
            with closing(begun.events(gone)) as events:
                for event in events:
                    told.ended = _ending(event) or told.ended
                    yield frame(event)
        except Exception as error:  # noqa: BLE001 - the head is out: the client is told in the form
            away = isinstance(error, Unavailable)
            cause = (error.__cause__ if away else None) or error
            self._count(seen.UNAVAILABLE if away else seen.INTERNAL_ERROR, cause, told)
            if not gone():
                failed = Failed(code="tool_error", message=NOT_STORED if away else BROKEN)
                told.ended = _ending(failed)
                yield frame(failed)

    def _count(self, what: str, error: BaseException, told: _Told) -> None:
        self._telemetry.count(what)
        self._telemetry.failure(what, error, correlation_id=told.correlation)

    def _deadline(self, scope: Scope) -> Deadline:
        ends = deadline_of(scope)
        if self._longest is None:
            return ends
        own = Deadline.after(self._longest)
        return Deadline(lambda: min(ends.remaining(), own.remaining()))

    async def _refuse(self, send: Send, refusal: Refusal, told: _Told) -> None:
        told.status = refusal.status
        if refusal.status == 503:
            self._count(seen.UNAVAILABLE, refusal.__cause__ or refusal, told)
        headers = {
            "cache-control": "no-store",
            "x-content-type-options": "nosniff",
            "x-correlation-id": told.correlation,
            **problem_headers(refusal),
        }
        await json_answer(send, refusal.status, gateway_body(refusal), headers)

    def _say(self, event: read.Event, told: _Told, started: float) -> None:
        who = read.section(event, "requestContext", "authorizer")
        self._telemetry.info(
            "request",
            correlation_id=told.correlation,
            method=event.get("httpMethod"),
            path=str(event.get("path"))[:200],
            status=told.status,
            ended=told.ended,
            milliseconds=round((time.perf_counter() - started) * 1000, 1),
            user_id=who.get("user_id"),
        )


class _Told:
    """What one request was told: its status, and how its stream ended."""

    def __init__(self, correlation: str):
        self.correlation = correlation
        self.status = 200
        self.ended: str | None = None


def _ending(event: AnyEvent) -> str | None:
    if event.type == "done":
        return event.finish_reason[:50]
    return event.code if event.type == "error" else None


def _owner(event: read.Event) -> Principal:
    context: dict[str, Any] = read.section(event, "requestContext", "authorizer")
    try:
        principal = Principal.from_context(context)
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise Unauthorized from error
    if principal.kind != "owner":
        raise Unauthorized
    return principal

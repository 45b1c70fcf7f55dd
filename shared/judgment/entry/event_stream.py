"""What an ASGI door needs to answer with events: the stream itself, and the little around it.

The events are made by a generator that may block, as reading from a database or a model does. It
runs in one thread, a step at a time, and its next step begins when the last frame has been written:
so nothing happens that the client was not told of, and a slow client slows it down.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from judgment.contract.routes import ROUTES
from judgment.entry.refusals import JSON, gateway_body, problem_body
from judgment.kit.deadline import Deadline
from judgment.kit.errors import Refusal, TooLarge

if TYPE_CHECKING:
    from judgment.entry.event import Event

Message: TypeAlias = dict[str, Any]
Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

HEARTBEAT_SECONDS = 15.0
"""Half of the shortest idle timeout on the way, that of an edge-optimized API."""
KEEP_ALIVE = b": keep-alive\n\n"


class Stopped(Protocol):
    """Whether nobody listens any more; may be asked from any thread."""

    def is_set(self) -> bool:
        """The answer of now."""
        ...


class ClientLeft(ConnectionError):
    """The client went away before its request was whole."""


class EventStream:
    """An ASGI response of status 200 that writes each frame as soon as it is made.

    A comment goes out whenever nothing came for `heartbeat_seconds`. When the client leaves,
    `stopped` is set and the iterator is closed after the step it is in: a GeneratorExit at its
    `yield`, in its own thread. The call returns when that thread has ended, because Lambda freezes
    the process then. Whatever the iterator raises is raised after the frames before it, so that
    the answer is cut off rather than ended as if it were whole.
    """

    def __init__(
        self,
        frames: Callable[[Stopped], Iterator[bytes]],
        headers: Mapping[str, str],
        *,
        heartbeat_seconds: float = HEARTBEAT_SECONDS,
    ):
        self._frames = frames
        self._headers = headers
        self._heartbeat = heartbeat_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request whose body has been read."""
        stopped = threading.Event()
        steps = _Steps(self._frames(stopped))
        gone = asyncio.ensure_future(_left(receive))
        try:
            if not await _written(send, _start(200, self._headers)):
                return
            step = steps.begin()
            while await self._heard(step, gone, send):
                step = steps.begin()
            stopped.set()
            await step
        finally:
            stopped.set()
            gone.cancel()
            await steps.close()

    async def _heard(
        self, step: asyncio.Future[bytes | None], gone: asyncio.Future[None], send: Send
    ) -> bool:
        """Pass one frame on; whether there may be another that somebody wants."""
        while not step.done():
            await asyncio.wait(
                (step, gone), timeout=self._heartbeat, return_when=asyncio.FIRST_COMPLETED
            )
            if gone.done():
                return False
            if not step.done() and not await _written(send, _body(KEEP_ALIVE)):
                return False
        frame = step.result()
        if frame is None:
            await _written(send, _body(b"", more=False))
            return False
        return await _written(send, _body(frame))


class _Steps:
    """An iterator that runs in a thread of its own, one step at a time."""

    def __init__(self, frames: Iterator[bytes]):
        self._frames = frames
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="event-stream")

    def begin(self) -> asyncio.Future[bytes | None]:
        """The next frame, None after the last."""
        return asyncio.get_running_loop().run_in_executor(self._thread, next, self._frames, None)

    async def close(self) -> None:
        """Wait for the step that runs, close the iterator, end the thread."""
        close: Callable[[], None] = getattr(self._frames, "close", lambda: None)
        try:
            await asyncio.get_running_loop().run_in_executor(self._thread, close)
        finally:
            self._thread.shutdown()


async def read_body(receive: Receive, limit: int) -> bytes:
    """The request's body. Raises TooLarge when it has more than `limit` bytes, and ClientLeft."""
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientLeft("the request is not whole")
        body += message.get("body", b"")
        if len(body) > limit:
            raise TooLarge(f"The body is over {limit // 1024} KiB.")
        if not message.get("more_body", False):
            return bytes(body)


async def json_answer(send: Send, status: int, body: str, headers: Mapping[str, str]) -> None:
    """Send a whole answer of JSON; a client that left is no error."""
    content = body.encode()
    own = {"content-type": JSON, "content-length": str(len(content))}
    if await _written(send, _start(status, {**headers, **own})):
        await _written(send, _body(content, more=False))


def defect_body(event: Event) -> str:
    """The body of a 500 for what escaped a door, in the form of the route that was asked."""
    asked = (event.get("httpMethod"), event.get("resource"))
    rows = [route for route in ROUTES if (route.method, route.path) == asked]
    if any(row.errors == "gateway" for row in rows):
        return gateway_body(Refusal("Internal Server Error"))
    return problem_body(Refusal())


def deadline_of(scope: Scope) -> Deadline:
    """When the invocation is cut off, by its Lambda context, streamed or buffered."""
    return Deadline.of_lambda(scope.get("aws.context"))


def event_of(scope: Scope) -> Event:
    """The REST-proxy event of the request."""
    return scope["aws.event"]


def _start(status: int, headers: Mapping[str, str]) -> Message:
    lines = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
    return {"type": "http.response.start", "status": status, "headers": lines}


def _body(content: bytes, *, more: bool = True) -> Message:
    return {"type": "http.response.body", "body": content, "more_body": more}


async def _written(send: Send, message: Message) -> bool:
    """Whether somebody took it."""
    try:
        await send(message)
    except OSError:
        return False
    return True


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass

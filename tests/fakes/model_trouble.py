"""How providers go wrong on the wire; a script may return these beside what `model_wire` has."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from tests.fakes.listening import QuietHandler

_JSON = {"Content-Type": "application/json"}
WHOLE: dict[str, Any] = {
    "id": "chat_1",
    "object": "chat.completion",
    "created": 1,
    "model": "fake-model",
    "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
}


@dataclass(frozen=True)
class Raw:
    """Exactly these bytes."""

    body: bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=lambda: _JSON)

    def give(self, handler: QuietHandler, stopped: threading.Event) -> None:
        """Answer so."""
        handler.give(self.status, self.body, self.headers)


@dataclass(frozen=True)
class Cut:
    """Says that more follows than does, and hangs up."""

    body: bytes = b'{"choices": ['

    def give(self, handler: QuietHandler, stopped: threading.Event) -> None:
        """Answer so."""
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(self.body) + 1_000))
        handler.end_headers()
        handler.wfile.write(self.body)
        handler.close_connection = True


@dataclass(frozen=True)
class HangUp:
    """Closes the connection without a word."""

    def give(self, handler: QuietHandler, stopped: threading.Event) -> None:
        """Answer so."""
        handler.close_connection = True


@dataclass(frozen=True)
class Late:
    """Says nothing for so many seconds, then `body`."""

    seconds: float
    body: bytes = b"{}"

    def give(self, handler: QuietHandler, stopped: threading.Event) -> None:
        """Answer so."""
        stopped.wait(self.seconds)
        handler.give(200, self.body, _JSON)


@dataclass(frozen=True)
class Drip:
    """One byte at a time, in the head or in the body, for ever."""

    every_seconds: float
    in_head: bool = False

    def give(self, handler: QuietHandler, stopped: threading.Event) -> None:
        """Answer so."""
        start = b"HTTP/1.1 200 OK\r\nX-Slow: " if self.in_head else b"HTTP/1.1 200 OK\r\n\r\n"
        with contextlib.suppress(OSError):
            handler.wfile.write(start)
            while not stopped.wait(self.every_seconds):
                handler.wfile.write(b"x")
        handler.close_connection = True


@dataclass(frozen=True)
class Flood:
    """A body of so many bytes, with or without saying so first."""

    size: int
    announced: bool = True

    def give(self, handler: QuietHandler, stopped: threading.Event) -> None:
        """Answer so."""
        handler.send_response(200)
        if self.announced:
            handler.send_header("Content-Length", str(self.size))
        handler.send_header("Content-Type", "application/json")
        with contextlib.suppress(OSError):
            handler.end_headers()
            for _ in range(self.size // 65_536):
                handler.wfile.write(b" " * 65_536)
        handler.close_connection = True


@dataclass(frozen=True)
class Pieces:
    """Exactly these bytes one after the other, each on its way before the next is made.

    A callable among them is called at its place. `more`: then it falls silent and does not hang up.
    """

    parts: tuple[bytes | Callable[[], object], ...]
    more: bool = False
    content_type: str = "text/event-stream"

    def give(self, handler: QuietHandler, stopped: threading.Event) -> None:
        """Answer so, and hang up."""
        handler.send_response(200)
        handler.send_header("Content-Type", self.content_type)
        handler.send_header("Connection", "close")
        handler.end_headers()
        for part in self.parts:
            if isinstance(part, bytes):
                handler.wfile.write(part)
                handler.wfile.flush()
            else:
                part()
        if self.more:
            stopped.wait(60)
        handler.close_connection = True


@dataclass(frozen=True)
class Chatter:
    """Says `first`, then `again` for ever. `left` is set when the client has hung up."""

    first: bytes
    again: bytes
    every_seconds: float = 0.1
    left: threading.Event = field(default_factory=threading.Event)

    def give(self, handler: QuietHandler, stopped: threading.Event) -> None:
        """Answer so."""
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        try:
            handler.end_headers()
            handler.wfile.write(self.first)
            while not stopped.wait(self.every_seconds):
                handler.wfile.write(self.again)
        except OSError:
            self.left.set()
        handler.close_connection = True


Trouble: TypeAlias = Raw | Cut | HangUp | Late | Drip | Flood | Pieces | Chatter


def completion(text: Any = "{}", **parts: Any) -> Raw:
    """A chat completion of the fake model; `parts` go into its only choice, `message` included."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, **parts}
    choice.setdefault("finish_reason", "stop")
    return Raw(json.dumps({**WHOLE, "choices": [choice]}).encode())

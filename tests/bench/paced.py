"""A provider whose first token's moment is known, and one whose streams wait for each other."""

from __future__ import annotations

import json
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fakes.listening import QuietHandler

_CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake-model"}


@dataclass
class Streamed:
    """Says `words` one by one, waiting at `meet` after the first; `first` is when that one left.

    Times are those of `time.perf_counter` in this process.
    """

    words: tuple[str, ...]
    meet: threading.Barrier | None = None
    first: list[float] = field(default_factory=list[float])

    def give(self, handler: QuietHandler, stopped: threading.Event) -> None:
        """Answer so."""
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Connection", "close")
        handler.end_headers()
        for number, word in enumerate(self.words):
            if number == 0:
                self.first.append(time.perf_counter())
            handler.wfile.write(_line({"role": "assistant", "content": word}))
            if number == 0 and self.meet is not None:
                self.meet.wait()
        usage = {"prompt_tokens": 10, "completion_tokens": len(self.words), "total_tokens": 15}
        handler.wfile.write(_line({}, "stop"))
        handler.wfile.write(
            f"data: {json.dumps({**_CHUNK, 'choices': [], 'usage': usage})}\n\n".encode()
        )
        handler.wfile.write(b"data: [DONE]\n\n")
        handler.close_connection = True


def _line(delta: dict[str, Any], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return f"data: {json.dumps({**_CHUNK, 'choices': [choice]})}\n\n".encode()

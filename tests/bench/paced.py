"""A provider's streamed answer whose first token's moment is known, or that waits for others."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from typing import Any

from tests.fakes.model_trouble import Pieces

_CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake-model"}


def streamed(
    words: tuple[str, ...],
    *,
    meet: threading.Barrier | None = None,
    first: Callable[[float], object] = lambda at: None,
) -> Pieces:
    """Says the words one by one, waiting at `meet` after the first; `first` is told when that one
    leaves, by `time.perf_counter`."""
    lines = [_line({"role": "assistant", "content": word}) for word in words]
    usage = {"prompt_tokens": 10, "completion_tokens": len(words), "total_tokens": 15}
    last = f"data: {json.dumps({**_CHUNK, 'choices': [], 'usage': usage})}\n\n".encode()
    return Pieces(
        (
            lambda: first(time.perf_counter()),
            lines[0],
            *((meet.wait,) if meet else ()),
            *lines[1:],
            _line({}, "stop"),
            last,
            b"data: [DONE]\n\n",
        )
    )


def _line(delta: dict[str, Any], reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return f"data: {json.dumps({**_CHUNK, 'choices': [choice]})}\n\n".encode()

"""Events as the bytes of a stream (seed 002 §20.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgment.conversation.model import json_line

if TYPE_CHECKING:
    from judgment.contract.messages import AnyEvent

MEDIA_TYPE = "text/event-stream"


def frame(event: AnyEvent) -> bytes:
    """One server-sent event: its type as the event's name, the rest as one line of JSON.

    Half a character, as a model may put into a tool's input, goes out as its escape.
    """
    data = json_line(event.model_dump(exclude={"type"}))
    return f"event: {event.type}\ndata: {data}\n\n".encode()

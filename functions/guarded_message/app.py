"""The entry of the `guarded_message` Lambda: the app that our loop streams and Mangum buffers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.guarded_message.wiring import build
from judgment.entry.buffering import buffered

if TYPE_CHECKING:
    from functions.guarded_message.door import MessageDoor
    from judgment.entry.event_stream import Receive, Scope, Send

_built: list[MessageDoor] = []


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """The door of this environment, put together at its first request."""
    if not _built:
        _built.append(build())
    await _built[0](scope, receive, send)


handler = buffered(app)

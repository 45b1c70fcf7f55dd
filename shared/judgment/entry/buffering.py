"""The same door where nothing streams: the whole answer in one piece, by Mangum.

Nothing has left before the app ends, so whatever escapes it, early or late, is a 500 in the
contract's form; Mangum alone would make it a plain text.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mangum import Mangum

from judgment.entry.event_stream import defect_body, event_of, json_answer
from judgment.kit.errors import Refusal
from judgment.kit.redaction import redact

if TYPE_CHECKING:
    from judgment.entry.event import Event
    from judgment.entry.event_stream import App, Message, Receive, Scope, Send


def buffered(app: App) -> Callable[[Event, object], Any]:
    """The Lambda handler of an app that streams elsewhere; each call has an event loop."""

    async def whole(scope: Scope, receive: Receive, send: Send) -> None:
        kept = _Kept(receive)
        try:
            await app(scope, kept.receive, kept.send)
        except Exception as failure:  # noqa: BLE001  (whatever an app raises must be answered)
            print(redact("".join(traceback.format_exception(failure))), file=sys.stderr)
            await json_answer(send, Refusal.status, defect_body(event_of(scope)), {})
            return
        for message in kept.said:
            await send(message)

    def handle(event: Event, context: object) -> Any:
        adapted: Any = whole
        with asyncio.Runner() as runner:
            runner.get_loop()  # Mangum runs in the thread's loop, and would leave its own open
            return Mangum(adapted, lifespan="off")(event, context)  # type: ignore[arg-type]

    return handle


class _Kept:
    """What an app says, kept until it ends; it hears its request, then the end of its answer."""

    def __init__(self, receive: Receive):
        self.said: list[Message] = []
        self._receive = receive
        self._asked = False
        self._over = asyncio.Event()

    async def receive(self) -> Message:
        """Mangum gives the request in one message."""
        if not self._asked:
            self._asked = True
            return await self._receive()
        await self._over.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        """Keep it."""
        self.said.append(message)
        if message["type"] == "http.response.body" and not message.get("more_body", False):
            self._over.set()

"""Lambda's Runtime API for one environment, on a real socket: the test reads the answers itself.

Nothing is read from an answer before the test asks for it, so that a test is as slow a client as it
likes, and knows that what it has read was written before what it has not.
"""

from __future__ import annotations

import base64
import json
import queue
import threading
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judgment.entry.streaming import HEAD_END, attend
from tests.fakes.listening import Listening, QuietHandler

if TYPE_CHECKING:
    from judgment.entry.event_stream import App

PATIENCE_SECONDS = 20.0
_END = object()


class Answer:
    """One answer as the Runtime API receives it, chunk by chunk."""

    def __init__(self, handler: QuietHandler):
        self._handler = handler
        self.over = threading.Event()
        self.trailers: dict[str, str] = {}
        before, mark, self._rest = (self._chunk() or b"").partition(HEAD_END)
        assert mark, "no end of the head in the first chunk"
        self.head: dict[str, Any] = json.loads(before)

    def next(self) -> bytes | None:
        """The next piece of the body, None after the last."""
        if self._rest:
            rest, self._rest = self._rest, b""
            return rest
        return self._chunk()

    def rest(self) -> bytes:
        """All that is left of the body."""
        return b"".join(iter(self.next, None))

    @property
    def error(self) -> Any:
        """What the trailers say, None where the answer was whole."""
        encoded = self.trailers.get("Lambda-Runtime-Function-Error-Body")
        return json.loads(base64.b64decode(encoded)) if encoded else None

    def hang_up(self) -> None:
        """Close the connection, as a gateway whose client left may do."""
        self._handler.close_connection = True
        self.over.set()

    def _chunk(self) -> bytes | None:
        size = int(self._handler.rfile.readline(), 16)
        if size:
            chunk = self._handler.rfile.read(size)
            self._handler.rfile.readline()
            return chunk
        while line := self._handler.rfile.readline().decode().strip():
            name, _, value = line.partition(": ")
            self.trailers[name] = value
        self._handler.give(202)
        self.over.set()
        return None


@dataclass
class RuntimeApi:
    """What a test drives: `invoke`, then read the answer. `asked` counts calls of `next`."""

    address: str = ""
    seconds: float = 60.0
    asked: int = 0
    _events: queue.Queue[Any] = field(default_factory=queue.Queue)
    _answers: queue.Queue[Answer] = field(default_factory=queue.Queue)

    def invoke(self, event: Mapping[str, Any]) -> Answer:
        """Hand an event over and wait for the head of its answer."""
        self.hand_over(event)
        return self._answers.get(timeout=PATIENCE_SECONDS)

    def hand_over(self, event: Mapping[str, Any]) -> None:
        """Hand an event over."""
        self._events.put(event)

    def handler(self) -> type[QuietHandler]:
        """The server's side of it."""
        api = self

        class Handler(QuietHandler):
            def do_GET(self) -> None:
                api.asked += 1
                event = api._events.get()
                if event is _END:
                    self.close_connection = True
                    return
                headers = {
                    "Lambda-Runtime-Aws-Request-Id": f"request-{api.asked}",
                    "Lambda-Runtime-Deadline-Ms": str(int((time.time() + api.seconds) * 1000)),
                    "Lambda-Runtime-Invoked-Function-Arn": "arn:probe",
                }
                self.give(200, json.dumps(event).encode(), headers)

            def do_POST(self) -> None:
                answer = Answer(self)
                api._answers.put(answer)
                answer.over.wait(PATIENCE_SECONDS)

        return Handler

    def end(self) -> None:
        """Answer the next question by hanging up, at which the loop ends."""
        self._events.put(_END)


@contextmanager
def attended(app: App, *, seconds: float = 60.0) -> Generator[RuntimeApi]:
    """The real loop in a thread, for an app, with `seconds` for each invocation."""
    api = RuntimeApi(seconds=seconds)
    with Listening(api.handler()) as server:
        api.address = server.address
        environ = {"AWS_LAMBDA_RUNTIME_API": server.address}

        def run() -> None:
            with suppress(ConnectionError):
                attend(app, environ)

        loop = threading.Thread(target=run, daemon=True)
        loop.start()
        try:
            yield api
        finally:
            api.end()
            loop.join(PATIENCE_SECONDS)
        assert not loop.is_alive(), "the loop did not come back for its next invocation"

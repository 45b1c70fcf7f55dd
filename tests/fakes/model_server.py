"""A model provider on 127.0.0.1 that is scripted and remembers all it was told.

It works at the transport: agents and SDKs speak to it over HTTP as to any provider, streaming or
not. A script is a function from a `Turn` to a `Reply`; it is no language model and proves nothing
about one, only what a model would receive.
"""

from __future__ import annotations

import contextlib
import gzip
import json
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

from tests.fakes.listening import Listening, QuietHandler
from tests.fakes.model_trouble import Trouble
from tests.fakes.model_wire import DIALECTS, Dialect, Fail, Reply, Say, Turn

Script: TypeAlias = Callable[[Turn], Reply | Trouble]

_JSON = {"Content-Type": "application/json"}
_MODEL = {"id": "fake-model", "object": "model", "created": 1, "owned_by": "tests"}


class ModelServer(Listening):
    """Use as a context manager; `url` is the root, providers usually want `url + "/v1"`.

    `turns` holds the requests in order of arrival, `headers` what came with each; `unknown` holds
    paths nobody serves here.
    """

    def __init__(self, script: Script):
        super().__init__(_handler_for(self))
        self.script = script
        self.turns: list[Turn] = []
        self.headers: list[dict[str, str]] = []
        self.unknown: list[str] = []
        self.stopped = threading.Event()

    def __exit__(self, *gone: Any) -> None:
        """Stop listening, and whoever is being slow."""
        self.stopped.set()
        super().__exit__(*gone)

    @property
    def told(self) -> str:
        """All text the model was told, over all turns, tool results included."""
        return "\n".join("\n".join([turn.told, *turn.results]) for turn in self.turns)

    def answer(self, turn: Turn) -> Reply | Trouble:
        """What the script says; the turn is kept first."""
        self.turns.append(turn)
        return self.script(turn)


def always(text: str) -> Script:
    """A script that says the same whatever it is told."""
    return lambda turn: Say(text)


def _handler_for(server: ModelServer) -> type[QuietHandler]:
    class Handler(QuietHandler):
        def do_HEAD(self) -> None:
            """A preflight of some agents."""
            self.give(200, headers=_JSON)

        def do_GET(self) -> None:
            """The list of models."""
            if "/models" in self.path:
                self._json(200, {"object": "list", "data": [_MODEL]})
            else:
                self._nowhere()

        def do_POST(self) -> None:
            """One turn of a conversation."""
            body = self._body()
            path = self.path.split("?")[0]
            if path.endswith("/count_tokens"):
                self._json(200, {"input_tokens": 10})
                return
            for dialect in DIALECTS:
                if path.endswith(dialect.path):
                    server.headers.append(dict(self.headers))
                    self._reply(server.answer(dialect.read(body)), dialect, body)
                    return
            self._nowhere()

        def _reply(self, reply: Reply | Trouble, dialect: Dialect, body: dict[str, Any]) -> None:
            if isinstance(reply, Fail):
                said = {"error": {"message": reply.message}}
                self.give(reply.status, json.dumps(said).encode(), {**_JSON, **reply.headers})
            elif isinstance(reply, Trouble):
                with contextlib.suppress(OSError):  # a client may go before it has all
                    reply.give(self, server.stopped)
            else:
                whole, events = dialect.write(reply)
                if body.get("stream"):
                    self._stream(events)
                else:
                    self._json(200, whole)

        def _body(self) -> dict[str, Any]:
            if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                raw = b"".join(iter(self._chunk, b""))
            else:
                raw = self.sent()
            if self.headers.get("Content-Encoding") == "gzip":
                raw = gzip.decompress(raw)
            return json.loads(raw or b"{}")

        def _chunk(self) -> bytes:
            size = int(self.rfile.readline().split(b";")[0], 16)
            data = self.rfile.read(size)
            self.rfile.readline()
            return data

        def _stream(self, events: list[tuple[str | None, Any]]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Connection", "close")
            self.end_headers()
            for name, data in events:
                text = data if isinstance(data, str) else json.dumps(data)
                head = f"event: {name}\n" if name else ""
                self.wfile.write(f"{head}data: {text}\n\n".encode())
            self.close_connection = True

        def _nowhere(self) -> None:
            server.unknown.append(self.path)
            self._json(404, {"error": {"message": "not found"}})

        def _json(self, status: int, body: Any) -> None:
            self.give(status, json.dumps(body).encode(), _JSON)

    return Handler

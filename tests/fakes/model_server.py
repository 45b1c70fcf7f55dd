"""A model provider on 127.0.0.1 that is scripted and remembers all it was told.

It works at the transport: agents and SDKs speak to it over HTTP as to any provider, streaming or
not. A script is a function from a `Turn` to a `Reply`; it is no language model and proves nothing
about one, only what a model would receive.
"""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, TypeAlias

from tests.fakes.model_wire import DIALECTS, Fail, Reply, Say, Turn

Script: TypeAlias = Callable[[Turn], Reply]

_MODEL = {"id": "fake-model", "object": "model", "created": 1, "owned_by": "tests"}


class ModelServer:
    """Use as a context manager; `url` is the root, providers usually want `url + "/v1"`.

    `turns` holds the requests in order of arrival; `unknown` holds paths nobody serves here.
    """

    def __init__(self, script: Script):
        self.script = script
        self.turns: list[Turn] = []
        self.unknown: list[str] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """The root address."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    @property
    def told(self) -> str:
        """All text the model was told, over all turns, tool results included."""
        return "\n".join("\n".join([turn.told, *turn.results]) for turn in self.turns)

    def __enter__(self) -> ModelServer:
        """Start listening."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening."""
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

    def answer(self, turn: Turn) -> Reply:
        """What the script says; the turn is kept first."""
        self.turns.append(turn)
        return self.script(turn)


def always(text: str) -> Script:
    """A script that says the same whatever it is told."""
    return lambda turn: Say(text)


def _handler_for(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *args: Any) -> None:
            """Say nothing; `turns` is the record."""

        def do_HEAD(self) -> None:
            """A preflight of some agents."""
            self._send(200, "application/json", b"")

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
                    reply = server.answer(dialect.read(body))
                    if isinstance(reply, Fail):
                        self._json(reply.status, {"error": {"message": reply.message}})
                        return
                    whole, events = dialect.write(reply)
                    if body.get("stream"):
                        self._stream(events)
                    else:
                        self._json(200, whole)
                    return
            self._nowhere()

        def _body(self) -> dict[str, Any]:
            if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
                raw = b"".join(iter(self._chunk, b""))
            else:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
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
            self._send(status, "application/json", json.dumps(body).encode())

        def _send(self, status: int, media_type: str, body: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", media_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    return Handler

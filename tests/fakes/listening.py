"""HTTP servers on 127.0.0.1 for as long as a test runs, in threads of their own."""

from __future__ import annotations

import contextlib
import ssl
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self


class QuietHandler(BaseHTTPRequestHandler):
    """Reads and answers whole bodies; logs nothing."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def sent(self) -> bytes:
        """The request's body."""
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def give(
        self, status: int, body: bytes = b"", headers: Mapping[str, str] | None = None
    ) -> None:
        """The whole answer, its length among the headers."""
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        with contextlib.suppress(ConnectionError):  # a client may go before it has all
            self.end_headers()
            self.wfile.write(body)


class Listening:
    """A server on a free port; use as a context manager."""

    def __init__(self, handler: type[BaseHTTPRequestHandler]):
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.01,), daemon=True)

    @property
    def address(self) -> str:
        """`host:port`."""
        return f"127.0.0.1:{self._http.server_port}"

    @property
    def url(self) -> str:
        """The root address."""
        return f"http://{self.address}"

    def encrypt(self, context: ssl.SSLContext) -> None:
        """Speak TLS; before listening."""
        self._http.socket = context.wrap_socket(
            self._http.socket, server_side=True, do_handshake_on_connect=False
        )

    def __enter__(self) -> Self:
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

"""A reverse proxy that adds a header, for clients that cannot be told to send one."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any
from urllib.parse import urlsplit

import httpx

_HOP = {"connection", "transfer-encoding", "content-length", "keep-alive", "content-encoding"}


class HeaderProxy:
    """Serves `upstream` (scheme and host) on a free port of 127.0.0.1 with `headers` added.

    As reverse proxies do, it speaks for itself upstream: its own address in `Origin`, by number
    or as localhost, becomes the upstream's. Another Origin is passed on as it came.
    """

    def __init__(self, upstream: str, headers: Mapping[str, str]):
        parts = urlsplit(upstream)
        self.upstream = f"{parts.scheme}://{parts.netloc}"
        self.headers = dict(headers)
        self.client = httpx.Client(timeout=30, trust_env=False)
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), _handler_for(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def own_origins(self) -> frozenset[str]:
        """The origins under which this proxy is reached."""
        port = self._http.server_address[1]
        return frozenset(f"http://{host}:{port}" for host in ("127.0.0.1", "localhost"))

    @property
    def url(self) -> str:
        """The address to use in place of the upstream's."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> HeaderProxy:
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
        self.client.close()


def _handler_for(proxy: HeaderProxy) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *args: Any) -> None:
            """Say nothing."""

        def _pass_on(self) -> None:
            headers = {k: v for k, v in self.headers.items() if k.lower() not in {*_HOP, "host"}}
            if headers.get("Origin") in proxy.own_origins:
                headers["Origin"] = proxy.upstream
            reply = proxy.client.request(
                self.command,
                proxy.upstream + self.path,
                headers={**headers, **proxy.headers},
                content=self.rfile.read(int(self.headers.get("Content-Length") or 0)),
            )
            self.send_response(reply.status_code)
            for name, value in reply.headers.items():
                if name.lower() not in _HOP:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(reply.content)))
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # a client may go before it has all
                self.wfile.write(reply.content)

        do_GET = do_POST = do_DELETE = do_OPTIONS = do_PUT = _pass_on

    return Handler

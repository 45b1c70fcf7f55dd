"""A reverse proxy that adds a header, for clients that cannot be told to send one."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from urllib.parse import urlsplit

import httpx

from tests.fakes.listening import Listening, QuietHandler

_HOP = {"connection", "transfer-encoding", "content-length", "keep-alive", "content-encoding"}


class HeaderProxy(Listening):
    """Serves `upstream` (scheme and host) on a free port of 127.0.0.1 with `headers` added.

    As reverse proxies do, it speaks for itself upstream: its own address in `Origin`, by number
    or as localhost, becomes the upstream's. Another Origin is passed on as it came.
    """

    def __init__(self, upstream: str, headers: Mapping[str, str]):
        super().__init__(_handler_for(self))
        parts = urlsplit(upstream)
        self.upstream = f"{parts.scheme}://{parts.netloc}"
        self.headers = dict(headers)
        self.client = httpx.Client(timeout=30, trust_env=False)

    @property
    def own_origins(self) -> frozenset[str]:
        """The origins under which this proxy is reached."""
        return frozenset({self.url, self.url.replace("127.0.0.1", "localhost")})

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop listening."""
        super().__exit__(kind, error, trace)
        self.client.close()


def _handler_for(proxy: HeaderProxy) -> type[QuietHandler]:
    class Handler(QuietHandler):
        def _pass_on(self) -> None:
            headers = {k: v for k, v in self.headers.items() if k.lower() not in {*_HOP, "host"}}
            if headers.get("Origin") in proxy.own_origins:
                headers["Origin"] = proxy.upstream
            reply = proxy.client.request(
                self.command,
                proxy.upstream + self.path,
                headers={**headers, **proxy.headers},
                content=self.sent(),
            )
            passed = {k: v for k, v in reply.headers.items() if k.lower() not in _HOP}
            self.give(reply.status_code, reply.content, passed)

        do_GET = do_POST = do_DELETE = do_OPTIONS = do_PUT = _pass_on

    return Handler

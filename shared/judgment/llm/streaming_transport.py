"""HTTP to one provider whose answer is read as it comes.

As `transport`, bounded in bytes and in time, but each wait for more bytes is cut into slices, so
that whoever wants no more is noticed within one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import httpcore
import httpx

from judgment.llm.transport import BROKEN, AnswerTooLarge, BoundedTransport, Network, Until

if TYPE_CHECKING:
    import ssl

STREAM_BYTES = 8 * 1024 * 1024
SLICE_SECONDS = 1.0

Stopped = Callable[[], bool]


class NobodyListens(Exception):
    """Whoever wanted the answer wants no more of it."""


class StreamingTransport(BoundedTransport):
    """One provider's connection for one answer; close it afterwards."""

    def __init__(
        self, key: str | None, until: Until, context: ssl.SSLContext | None, stopped: Stopped
    ):
        super().__init__(key, until, context, _Watched(until, stopped))

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The answer's head, its body still to come. Raises the errors of httpx."""
        try:
            answer = self._pool.handle_request(self._outgoing(request))
        except httpcore.TimeoutException:
            raise httpx.ReadTimeout("", request=request) from None
        except BROKEN:
            raise httpx.ConnectError("", request=request) from None
        for name, value in answer.headers:
            if name.lower() == b"content-encoding" and value.lower() != b"identity":
                answer.close()
                raise AnswerTooLarge()  # what it becomes has no bound
        headers = [(n, v) for n, v in answer.headers if n.lower() == b"retry-after"]
        return httpx.Response(answer.status, headers=headers, stream=_Body(answer, request))


class _Body(httpx.SyncByteStream):
    def __init__(self, answer: httpcore.Response, request: httpx.Request):
        self._answer = answer
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        try:
            for part in self._answer.iter_stream():
                size += len(part)
                if size > STREAM_BYTES:
                    raise AnswerTooLarge()
                yield part
        except httpcore.TimeoutException:
            raise httpx.ReadTimeout("", request=self._request) from None
        except BROKEN:
            raise httpx.ReadError("", request=self._request) from None

    def close(self) -> None:
        self._answer.close()


class _Watched(Network):
    """Connections that look, while they wait, whether anybody still listens."""

    def __init__(self, until: Until, stopped: Stopped):
        super().__init__(until)
        self._stopped = stopped

    def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> httpcore.NetworkStream:
        """Resolve and connect."""
        return _Stream(super().connect_tcp(host, port), self._until, self._stopped)


class _Stream(httpcore.NetworkStream):
    """A socket whose waits are sliced."""

    def __init__(self, inner: httpcore.NetworkStream, until: Until, stopped: Stopped):
        self._inner = inner
        self._until = until
        self._stopped = stopped

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """The next bytes. Raises NobodyListens."""
        while True:
            self._until.left(httpcore.ReadTimeout)
            try:
                return self._inner.read(max_bytes, SLICE_SECONDS)
            except httpcore.ReadTimeout:
                if self._stopped():
                    raise NobodyListens from None

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of it."""
        self._inner.write(buffer, timeout)

    def close(self) -> None:
        """Close the socket."""
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        """The same, encrypted."""
        inner = self._inner.start_tls(ssl_context, server_hostname, timeout)
        return _Stream(inner, self._until, self._stopped)

    def get_extra_info(self, info: str) -> Any:
        """What the socket knows of itself."""
        return self._inner.get_extra_info(info)

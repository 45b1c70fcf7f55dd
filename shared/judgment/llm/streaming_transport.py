"""HTTP to one provider whose answer is read as it comes.

As `transport`, bounded in bytes and in time, but each wait for more bytes is cut into slices, so
that whoever wants no more is noticed within one of them.
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import httpcore
import httpx

from judgment.llm.transport import (
    BROKEN,
    SLICE_SECONDS,
    WRITTEN_AT_ONCE,
    AnswerTooLarge,
    BoundedTransport,
    Network,
    Until,
    elsewhere,
)

if TYPE_CHECKING:
    import ssl

STREAM_BYTES = 8 * 1024 * 1024
ASKED_SECONDS = 1.0

Stopped = Callable[[], bool]


class NobodyListens(Exception):
    """Whoever wanted the answer wants no more of it."""


class Listener:
    """Asks `stopped` once in ASKED_SECONDS, however often it is called."""

    def __init__(self, stopped: Stopped, monotonic: Callable[[], float] = time.monotonic):
        self._stopped = stopped
        self._monotonic = monotonic
        self._asked = monotonic()

    def look(self) -> None:
        """Raises NobodyListens."""
        now = self._monotonic()
        if now - self._asked >= ASKED_SECONDS:
            self._asked = now
            if self._stopped():
                raise NobodyListens


class StreamingTransport(BoundedTransport):
    """One provider's connection for one answer; close it afterwards."""

    def __init__(
        self, key: str | None, until: Until, context: ssl.SSLContext | None, listener: Listener
    ):
        super().__init__(key, until, context, _Watched(until, listener))

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

    def __init__(self, until: Until, listener: Listener):
        super().__init__(until)
        self._listener = listener

    def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> httpcore.NetworkStream:
        """Resolve and connect."""
        made = elsewhere(
            lambda: super(_Watched, self).connect_tcp(host, port),
            self._until.left(httpcore.ConnectTimeout),
            self._listener.look,
        )
        return _Stream(made, self._until, self._listener)


class _Stream(httpcore.NetworkStream):
    """A socket whose waits are sliced."""

    def __init__(self, inner: httpcore.NetworkStream, until: Until, listener: Listener):
        self._inner = inner
        self._until = until
        self._listener = listener

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """The next bytes. Raises NobodyListens, also where bytes come without a pause."""
        while True:
            self._until.left(httpcore.ReadTimeout)
            self._listener.look()
            with suppress(httpcore.ReadTimeout):
                return self._inner.read(max_bytes, SLICE_SECONDS)

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of it. Raises NobodyListens."""
        for start in range(0, len(buffer), WRITTEN_AT_ONCE):
            while not self._takes_more():
                self._until.left(httpcore.WriteTimeout)
                self._listener.look()
            self._inner.write(buffer[start : start + WRITTEN_AT_ONCE], timeout)

    def _takes_more(self) -> bool:
        """Whether some bytes could be sent, after a slice of waiting for it."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._inner.get_extra_info("socket"), selectors.EVENT_WRITE)
            return bool(selector.select(SLICE_SECONDS))

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
        made = elsewhere(
            lambda: self._inner.start_tls(ssl_context, server_hostname, timeout),
            self._until.left(httpcore.ConnectTimeout),
            self._listener.look,
        )
        return _Stream(made, self._until, self._listener)

    def get_extra_info(self, info: str) -> Any:
        """What the socket knows of itself."""
        return self._inner.get_extra_info(info)

"""HTTP to one provider: bounded in bytes, bounded in time as a whole, saying only what we say.

A timeout of an HTTP library is a timeout between two bytes, so that a server which sends one byte
a second is never late. Here every wait, the resolution of the name included, ends at one moment.
The answer is read up to a limit and never decompressed. Of the headers that the SDK writes only
those of the body go out; the key is put in here, where nothing logs.
"""

from __future__ import annotations

import queue
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import httpcore
import httpx

ANSWER_BYTES = 1_048_576
SLICE_SECONDS = 0.5
"""How long a wait lasts before somebody may look whether it is still wanted."""
WRITTEN_AT_ONCE = 16_384
_PASSED_ON = frozenset({b"host", b"content-type", b"content-length", b"accept"})
_READ = frozenset({b"retry-after"})
"""Headers of an answer that are handed on. Its type is none of them: the charset a provider names
there may be any codec of Python's, of which some raise, and some unpack a bomb."""

Socket = httpcore.NetworkStream


class AnswerTooLarge(Exception):
    """The provider sent more than ANSWER_BYTES, or something compressed."""


class Until:
    """The moment at which every wait ends, on a monotonic clock."""

    def __init__(self, monotonic: Callable[[], float] = time.monotonic):
        self._monotonic = monotonic
        self._end = 0.0

    def set(self, seconds: float) -> None:
        """From now on, so many seconds."""
        self._end = self._monotonic() + seconds

    def left(self, late: type[Exception]) -> float:
        """Seconds left, more than 0. Raises `late` when there are none."""
        left = self._end - self._monotonic()
        if left <= 0:
            raise late()
        return left


class BoundedTransport(httpx.BaseTransport):
    """One provider's connection for one question and its repair; close it afterwards."""

    def __init__(
        self,
        key: str | None,
        until: Until,
        context: ssl.SSLContext | None,
        network: Network | None = None,
    ):
        self._key = key
        self._pool = httpcore.ConnectionPool(
            ssl_context=context, network_backend=network or Network(until), max_connections=1
        )

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The whole answer. Raises AnswerTooLarge and the errors of httpx."""
        try:
            answer = self._pool.handle_request(self._outgoing(request))
            try:
                body = self._body(answer)
            finally:
                answer.close()
        except httpcore.TimeoutException:
            raise httpx.ReadTimeout("", request=request) from None
        except BROKEN:
            raise httpx.ConnectError("", request=request) from None
        headers = [(n, v) for n, v in answer.headers if n.lower() in _READ]
        return httpx.Response(answer.status, headers=headers, content=body)

    def close(self) -> None:
        """Close the connection."""
        self._pool.close()

    def _outgoing(self, request: httpx.Request) -> httpcore.Request:
        headers = [(n, v) for n, v in request.headers.raw if n.lower() in _PASSED_ON]
        headers += [(b"Accept-Encoding", b"identity"), (b"User-Agent", b"judgment")]
        if self._key:
            headers.append((b"Authorization", b"Bearer " + self._key.encode("ascii")))
        return httpcore.Request(
            request.method,
            httpcore.URL(
                scheme=request.url.raw_scheme,
                host=request.url.raw_host,
                port=request.url.port,
                target=request.url.raw_path,
            ),
            headers=headers,
            content=request.read(),
        )

    def _body(self, answer: httpcore.Response) -> bytes:
        for name, value in answer.headers:
            if name.lower() == b"content-encoding" and value.lower() != b"identity":
                raise AnswerTooLarge()  # what it becomes has no bound
        parts: list[bytes] = []
        size = 0
        for part in answer.iter_stream():
            size += len(part)
            if size > ANSWER_BYTES:
                raise AnswerTooLarge()
            parts.append(part)
        return b"".join(parts)


BROKEN = (
    OSError,
    ssl.SSLError,
    httpcore.NetworkError,
    httpcore.ProtocolError,
    httpcore.ProxyError,
    httpcore.UnsupportedProtocol,
    httpcore.ConnectionNotAvailable,
)


class Network(httpcore.NetworkBackend):
    """Connections whose every wait ends at the same moment."""

    def __init__(self, until: Until):
        self._until = until
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(self, host: str, port: int, *_: Any, **__: Any) -> Socket:
        """Resolve and connect, together in the time that is left.

        The resolver knows no timeout and each address has one of its own, hence the thread.
        """
        left = self._until.left(httpcore.ConnectTimeout)
        sockets = self._sockets
        return _Stream(elsewhere(lambda: sockets.connect_tcp(host, port, left), left), self._until)


def elsewhere(
    make: Callable[[], Socket], seconds: float, look: Callable[[], None] = lambda: None
) -> Socket:
    """What `make` makes in a thread of its own, waited for so many seconds.

    `look` is called while it waits and may raise; then, and when it is late, what is made after all
    is closed. Raises httpcore.ConnectTimeout, and whatever `make` raises.
    """
    made: queue.Queue[Socket | Exception] = queue.Queue(1)
    given_up = threading.Event()

    def run() -> None:
        try:
            stream = make()
        except Exception as error:  # noqa: BLE001 - handed over to whoever waits
            made.put(error)
            return
        made.put(stream)
        if given_up.is_set():
            _close(stream)

    threading.Thread(target=run, daemon=True).start()
    try:
        result = _waited(made, seconds, look)
    except BaseException:  # goes on once what was made is closed
        given_up.set()
        with suppress(queue.Empty):  # it may have come in between
            _close(made.get_nowait())
        raise
    if isinstance(result, Exception):
        raise result
    return result


def _waited(
    made: queue.Queue[Socket | Exception], seconds: float, look: Callable[[], None]
) -> Socket | Exception:
    end = time.monotonic() + seconds
    while True:
        look()
        left = end - time.monotonic()
        try:
            return made.get(timeout=max(min(left, SLICE_SECONDS), 0))
        except queue.Empty:
            if left <= SLICE_SECONDS:
                raise httpcore.ConnectTimeout() from None


def _close(found: Socket | Exception) -> None:
    if not isinstance(found, Exception):
        found.close()


class _Stream(httpcore.NetworkStream):
    """A socket that waits only until then."""

    def __init__(self, inner: Socket, until: Until):
        self._inner = inner
        self._until = until

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """The next bytes; `timeout` can only make the wait shorter."""
        left = self._until.left(httpcore.ReadTimeout)
        return self._inner.read(max_bytes, left if timeout is None else min(left, timeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send all of it."""
        for start in range(0, len(buffer), WRITTEN_AT_ONCE):
            left = self._until.left(httpcore.WriteTimeout)
            self._inner.write(buffer[start : start + WRITTEN_AT_ONCE], left)

    def close(self) -> None:
        """Close the socket."""
        self._inner.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> Socket:
        """The same, encrypted."""
        left = self._until.left(httpcore.ConnectTimeout)
        return _Stream(self._inner.start_tls(ssl_context, server_hostname, left), self._until)

    def get_extra_info(self, info: str) -> Any:
        """What the socket knows of itself."""
        return self._inner.get_extra_info(info)

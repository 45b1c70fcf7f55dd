"""Clients that ask as fast as they are answered, cheap enough to leave the cores to the server.

Each client is a thread with one kept connection that sends prepared bytes and reads to the end of
the answer's body; nothing is parsed but the status and the length.
"""

from __future__ import annotations

import itertools
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.bench.series import quantile


@dataclass
class Load:
    """What the clients saw: seconds each answer took, and how often each status came."""

    seconds: float
    taken: list[float] = field(default_factory=list)
    statuses: Counter[int] = field(default_factory=Counter)

    @property
    def per_second(self) -> float:
        """Answers a second, all clients together."""
        return len(self.taken) / self.seconds

    @property
    def failures(self) -> int:
        """Answers other than 200 and 201; a broken connection counts as status 0."""
        return sum(count for status, count in self.statuses.items() if status not in (200, 201))

    def quantile_ms(self, share: float) -> float:
        """Milliseconds within which that share of the answers came."""
        return 1e3 * quantile(self.taken, share)


def get_request(host: str, path: str, headers: dict[str, str]) -> bytes:
    """The bytes of one GET."""
    lines = [f"GET {path} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def post_request(host: str, path: str, headers: dict[str, str], body: bytes) -> bytes:
    """The bytes of one POST."""
    lines = [f"POST {path} HTTP/1.1", f"Host: {host}", f"Content-Length: {len(body)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def drive(port: int, requests: Sequence[bytes], clients: int, seconds: float) -> Load:
    """`clients` threads ask 127.0.0.1:`port` for `seconds`, each taking turns with `requests`.

    Several requests spread the load over several keys. An error ends no client: it is counted.
    """
    results = [Load(seconds) for _ in range(clients)]
    gate = threading.Barrier(clients + 1)
    threads = [
        threading.Thread(
            target=_client,
            args=(port, itertools.cycle(requests[index::clients] or requests), gate, result),
        )
        for index, result in enumerate(results)
    ]
    for thread in threads:
        thread.start()
    began = time.perf_counter()
    gate.wait()
    for thread in threads:
        thread.join()
    total = Load(time.perf_counter() - began)
    for result in results:
        total.taken += result.taken
        total.statuses += result.statuses
    return total


def _client(port: int, requests: Iterator[bytes], gate: threading.Barrier, into: Load) -> None:
    gate.wait()
    ends = time.perf_counter() + into.seconds
    line = _connect(port)
    while (began := time.perf_counter()) < ends:
        try:
            status = exchange(line, next(requests))
        except OSError:
            status = 0
            line.close()
            line = _connect(port)
        into.statuses[status] += 1
        into.taken.append(time.perf_counter() - began)
    line.close()


def _connect(port: int) -> socket.socket:
    line = socket.create_connection(("127.0.0.1", port), timeout=60)
    line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return line


def exchange(line: socket.socket, request: bytes) -> int:
    """Send one request, read its answer, return the status. Raises OSError when it is cut off."""
    line.sendall(request)
    received = b""
    while b"\r\n\r\n" not in received:
        received += _more(line)
    head, _, body = received.partition(b"\r\n\r\n")
    length = _content_length(head)
    missing = length - len(body)
    while missing > 0:
        missing -= len(_more(line))
    return int(head[9:12])


def _content_length(head: bytes) -> int:
    for line in head.split(b"\r\n")[1:]:
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            return int(value)
    raise ConnectionError("an answer without its length")


def _more(line: socket.socket) -> bytes:
    part = line.recv(65_536)
    if not part:
        raise ConnectionError("cut off")
    return part

"""The load generator counts what it saw, against a server made for the purpose."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.bench.load import drive, exchange, get_request

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
BUSY = b"HTTP/1.1 429 Too Many Requests\r\ncontent-length: 0\r\n\r\n"


@contextmanager
def answering(*answers: bytes) -> Iterator[int]:
    """A server whose every connection answers with these in turn, then hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(10)

        def serve(line: socket.socket) -> None:
            with line:
                for answer in answers:
                    if not line.recv(65_536):
                        return
                    line.sendall(answer)

        def accept() -> None:
            while True:
                try:
                    line, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=serve, args=(line,), daemon=True).start()

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]


@pytest.mark.promise("P1-measure")
def test_every_answer_is_counted_by_its_status() -> None:
    with answering(OK, BUSY) as port:
        load = drive(port, [get_request("x", "/", {})], clients=2, seconds=0.05)
    assert load.statuses[200] > 0
    assert load.failures == load.statuses[429] + load.statuses[0]
    assert len(load.taken) == sum(load.statuses.values())
    assert load.per_second == pytest.approx(len(load.taken) / load.seconds)


class Pieces:
    """A line whose answer arrives in these pieces."""

    def __init__(self, *pieces: bytes):
        self.pieces = list(pieces)
        self.sent = b""

    def sendall(self, data: bytes) -> None:
        """Remember what was asked."""
        self.sent += data

    def recv(self, _: int) -> bytes:
        """The next piece, nothing at the end."""
        return self.pieces.pop(0) if self.pieces else b""


def test_an_answer_in_pieces_is_read_to_its_end() -> None:
    line = Pieces(OK[:9], OK[9:40], OK[40:], BUSY)
    assert exchange(line, b"GET / HTTP/1.1\r\n\r\n") == 200  # type: ignore[arg-type]
    assert line.pieces == [BUSY]
    assert exchange(line, b"GET / HTTP/1.1\r\n\r\n") == 429  # type: ignore[arg-type]
    with pytest.raises(ConnectionError, match="cut off"):
        exchange(line, b"GET / HTTP/1.1\r\n\r\n")  # type: ignore[arg-type]

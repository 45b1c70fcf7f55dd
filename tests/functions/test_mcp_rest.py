"""The MCP door's client of REST against a real server: what it keeps, replaces and gives up."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator

import pytest

from functions.mcp.rest import Answer, Caller, Rest
from judgment.kit.errors import Unavailable

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"
MOVED = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"
HALF = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"


class Server:
    """Gives each new connection the next script: answers to send, then it hangs up."""

    def __init__(self, *scripts: list[bytes]):
        self.scripts = list(scripts)
        self.asked: list[bytes] = []
        self.hung_up = threading.Semaphore(0)
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        for script in self.scripts:
            line, _ = self._socket.accept()
            with line:
                for answer in script:
                    self.asked.append(_request(line))
                    line.sendall(answer)
            self.hung_up.release()

    def close(self) -> None:
        """Nobody is answered any more."""
        self._socket.close()


def _request(line: socket.socket) -> bytes:
    """One request, head and body, which a client may send in two pieces."""
    with line.makefile("rb", buffering=0) as stream:
        head = b"".join(iter(lambda: stream.readline() or b"\r\n", b"\r\n"))
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        return head + b"\r\n" + (stream.read(int(length.group(1))) or b"" if length else b"")


@pytest.fixture
def rest() -> Iterator[Rest]:
    made = Rest()
    yield made
    made.close()


def caller(url: str) -> Caller:
    """An agent's call of the deployment at `url`."""
    return Caller("Bearer sync_key", "trace-1", url, frozenset())


@pytest.mark.promise("P1-7")
def test_one_connection_serves_call_after_call(rest: Rest) -> None:
    server = Server([OK, OK])
    who = caller(server.url)
    assert rest.get("/a", {}, who) == rest.get("/b", {"limit": 3}, who) == Answer(200, b"{}")
    first, second = server.asked
    assert first.startswith(b"GET /a HTTP/1.1\r\n")
    assert second.startswith(b"GET /b?limit=3 HTTP/1.1\r\n")
    assert b"Authorization: Bearer sync_key\r\n" in first
    server.close()


def test_a_connection_that_the_server_closed_meanwhile_is_replaced(rest: Rest) -> None:
    server = Server([OK], [OK])
    rest.get("/a", {}, caller(server.url))
    assert server.hung_up.acquire(timeout=10)
    assert rest.get("/a", {}, caller(server.url)).status == 200
    server.close()


@pytest.mark.promise("P3-mcp", "P3-defect-20")
def test_a_capture_lost_on_a_closed_connection_arrives_again_under_the_same_key(
    rest: Rest,
) -> None:
    server = Server([OK], [OK])
    rest.get("/a", {}, caller(server.url))
    assert server.hung_up.acquire(timeout=10)
    body = '{"value":"ä"}'.encode()
    assert rest.post("/s", body, caller(server.url), idempotency_key="k-1").status == 200
    sent = server.asked[-1]
    assert sent.startswith(b"POST /s HTTP/1.1\r\n")
    assert b"Idempotency-Key: k-1\r\n" in sent
    assert b"Content-Type: application/json\r\n" in sent
    assert sent.endswith(b"\r\n\r\n" + body)
    server.close()


@pytest.mark.promise("P3-mcp")
def test_a_post_that_was_read_and_never_answered_is_sent_twice_word_for_word(rest: Rest) -> None:
    server = Server([b""], [OK])
    assert rest.post("/s", b"{}", caller(server.url), idempotency_key="k-1").status == 200
    first, second = server.asked
    assert first == second
    server.close()


def test_half_an_answer_is_never_read_as_the_next(rest: Rest) -> None:
    server = Server([HALF], [HALF], [OK])
    with pytest.raises(Unavailable):
        rest.get("/a", {}, caller(server.url))
    assert rest.get("/a", {}, caller(server.url)) == Answer(200, b"{}")
    server.close()


def test_a_redirect_is_an_answer_and_the_key_follows_it_nowhere(rest: Rest) -> None:
    server = Server([MOVED])
    assert rest.get("/a", {}, caller(server.url)).status == 302
    server.close()


def test_nobody_listening_is_unavailable(rest: Rest) -> None:
    server = Server()
    server.close()
    with pytest.raises(Unavailable):
        rest.get("/a", {}, caller(server.url))

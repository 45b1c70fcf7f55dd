"""A conversation is left in time: whatever the provider is at, whoever wants no more of it."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from judgment.kit.deadline import Deadline
from judgment.llm.calling import Patience, Reach
from judgment.llm.chat import ChatFailure, ChatMessage, Completed, TextPiece
from judgment.llm.chat_client import ChatClient
from judgment.llm.chat_line import ChatLine
from judgment.llm.model import ModelChoice
from judgment.llm.settings import ModelSettings, configured
from tests.fakes.model_server import ModelServer, always
from tests.fakes.model_trouble import Chatter, Pieces
from tests.unit.llm.chatting import (
    CHOICE,
    DONE,
    HELLO,
    READ,
    Keys,
    client,
    conversed,
    failed,
    line,
    piece,
    says,
)
from tests.unit.llm.test_line import certificate

__all__ = ["certificate"]

ONE = line({"content": "One."})
CHATTER = [
    b": keep-alive\n\n",
    b"x",
    b"event: ping\n",
    piece(0, id="a", name="f", arguments="1"),
    line({"content": ""}),
]


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(always("Good morning.")) as made:
        yield made


def listened(
    address: str, stopped: Callable[[], bool], seconds: float, text: str = "Hello"
) -> tuple[list[TextPiece | Completed] | str, float]:
    """What came of asking there, or the outcome of its failure; and how long it took."""
    settings = ModelSettings(openai_compatible_base_url=address)
    one = ChatClient(configured(settings), Keys(), Patience(60.0))
    begun = time.monotonic()
    asked = one.converse(
        ModelChoice("openai-compatible", "fake"),
        "message",
        [ChatMessage("user", text)],
        (),
        deadline=Deadline.after(seconds),
        stopped=stopped,
    )
    try:
        return list(asked), time.monotonic() - begun
    except ChatFailure as failure:
        outcome = failure.call.outcome if failure.call else "no call on record"
        return outcome, time.monotonic() - begun


@pytest.mark.promise("P4-stream-gone", "P4-refuse")
@pytest.mark.parametrize("again", CHATTER)
def test_who_stops_is_heard_also_while_bytes_keep_coming(server: ModelServer, again: bytes):
    chatter = Chatter(ONE, again)
    server.script = lambda turn: chatter
    asked: list[float] = []

    def stopped() -> bool:
        asked.append(time.monotonic())
        return len(asked) == 3

    begun = time.monotonic()
    pieces = client(server).converse(
        CHOICE, "message", HELLO, (READ,), deadline=Deadline.after(20), stopped=stopped
    )
    assert list(pieces) == [TextPiece("One.")]
    moments = [begun, *asked]
    assert all(later - sooner < 2.5 for sooner, later in zip(moments, asked, strict=False))
    assert chatter.left.wait(5)


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize("again", CHATTER)
def test_chatter_ends_before_the_deadline(server: ModelServer, again: bytes):
    server.script = lambda turn: Chatter(ONE, again)
    begun = time.monotonic()
    failure = failed(client(server), seconds=3.0)
    assert time.monotonic() - begun < 3.0
    assert failure.call
    assert failure.call.outcome == "timeout"


@pytest.mark.promise("P4-stream-gone")
def test_who_closes_hangs_up_at_once(server: ModelServer):
    chatter = Chatter(ONE, ONE)
    server.script = lambda turn: chatter
    pieces = client(server).converse(CHOICE, "message", HELLO, (), deadline=Deadline.after(30))
    assert next(pieces) == TextPiece("One.")
    pieces.close()  # type: ignore[attr-defined]
    assert chatter.left.wait(3)


@pytest.mark.promise("P4-stream-gone")
def test_who_stops_is_heard_before_the_first_byte(server: ModelServer):
    held = threading.Event()
    says(server, lambda: held.wait(20), ONE, DONE)
    came, seconds = listened(f"{server.url}/v1", lambda: True, 30.0)
    held.set()
    assert (came, seconds < 4) == ([], True)


@pytest.mark.promise("P4-stream-gone", "P4-refuse")
@pytest.mark.parametrize(("scheme", "size"), [("https", 5), ("http", 30_000_000)])
def test_one_that_accepts_and_does_no_more_is_left(scheme: str, size: int):
    """It shakes no hand, and takes no more of the question than fits into the line."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"{scheme}://127.0.0.1:{listening.getsockname()[1]}/v1"
        came, seconds = listened(address, lambda: True, 30.0, "x" * size)
        assert (came, seconds < 5) == ([], True)
        came, seconds = listened(address, lambda: False, 4.0, "x" * size)
        assert (came, seconds < 4) == ("timeout", True)


@pytest.mark.promise("P4-provider")
def test_a_stream_over_tls_may_pause(certificate, server: ModelServer):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    pause = threading.Event()
    with_pause = Pieces((line({"content": "a"}), lambda: pause.wait(1.8), line({}, "stop"), DONE))
    encrypted = ModelServer(lambda turn: with_pause)
    encrypted.encrypt(context)
    trusted = ssl.create_default_context(cafile=certificate)
    with encrypted:
        reach = Reach(f"https://{encrypted.address}/v1", "k", trusted)
        with ChatLine(reach, lambda: False, time.monotonic) as to_it:
            body = {"model": "m", "stream": True, "messages": []}
            found = list(to_it.objects(body, lambda: 5.0))
    assert found[-1] == {"done": True}


@pytest.mark.promise("P4-provider")
@pytest.mark.parametrize("end", [{"more": True}, {}])
def test_an_answer_that_has_ended_is_not_waited_for(server: ModelServer, end: dict[str, bool]):
    says(server, line({"content": "Yes."}), line({}, "stop"), **end)
    text, done = conversed(client(server, timeout=1.0))
    assert (text, done.finish_reason, done.call.outcome) == ("Yes.", "stop", "ok")


@pytest.mark.promise("P4-provider")
def test_an_answer_may_end_at_the_deadline(server: ModelServer):
    says(server, line({"content": "Yes."}), line({}, "stop"), more=True)
    text, done = conversed(client(server), seconds=2.5)
    assert (text, done.finish_reason) == ("Yes.", "stop")

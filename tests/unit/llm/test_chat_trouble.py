"""Providers that go wrong in a conversation, and owners who leave it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from judgment.kit.deadline import Deadline
from judgment.llm.chat import TextPiece
from judgment.llm.model import ModelChoice
from judgment.llm.trouble_words import GENERIC, NO_MODEL, OVERFLOW
from tests.fakes.model_server import ModelServer, always
from tests.fakes.model_trouble import Flood, HangUp, Late, Pieces, Raw
from tests.fakes.model_wire import Fail
from tests.unit.llm.chatting import (
    CHOICE,
    DONE,
    HELLO,
    client,
    conversed,
    failed,
    line,
    says,
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(always("Good morning.")) as made:
        yield made


@pytest.mark.promise("P4-refuse", "P4-stream-gone")
def test_who_stops_listening_ends_the_connection(server: ModelServer) -> None:
    broken = threading.Event()

    class UntilNobodyReads(Pieces):
        def give(self, handler: Any, stopped: threading.Event) -> None:
            try:
                while not stopped.wait(0.01):
                    super().give(handler, stopped)
            except OSError:
                broken.set()

    server.script = lambda turn: UntilNobodyReads((line({"content": "One."}),))
    pieces = client(server).converse(CHOICE, "message", HELLO, (), deadline=Deadline.after(30))
    assert next(pieces) == TextPiece("One.")
    pieces.close()  # type: ignore[attr-defined]
    assert broken.wait(20)
    assert list(pieces) == []


@pytest.mark.promise("P4-stream-gone")
def test_a_silent_provider_is_left_when_nobody_listens(server: ModelServer) -> None:
    says(server, line({"content": "One."}), more=True)
    stop = threading.Event()
    pieces = client(server).converse(
        CHOICE, "message", HELLO, (), deadline=Deadline.after(60), stopped=stop.is_set
    )
    assert next(pieces) == TextPiece("One.")
    stop.set()
    assert list(pieces) == []


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize(("timeout", "seconds"), [(1.0, 60.0), (30.0, 2.2)])
def test_a_stream_that_says_nothing_more_ends(
    server: ModelServer, timeout: float, seconds: float
) -> None:
    says(server, line({"content": "One."}), more=True)
    failure = failed(client(server, timeout=timeout), seconds=seconds)
    assert failure.trouble == "provider_error"
    assert "too long" in failure.message
    assert failure.call
    assert failure.call.outcome == "timeout"


@pytest.mark.promise("P4-refuse")
def test_a_stream_without_end_is_ended(server: ModelServer) -> None:
    long = line({"content": "x" * 60_000})
    says(server, *[long] * 200)
    failure = failed(client(server))
    assert failure.call
    assert failure.call.outcome == "too_large"
    says(server, b"data: " + b"x" * 3_000_000)
    assert failed(client(server)).trouble == "provider_error"
    server.script = lambda turn: Flood(20 * 1_048_576)
    assert failed(client(server)).trouble == "provider_error"


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([line({"content": "\ud83d"}), line({"content": "\ude00!"})], "😀!"),
        ([line({"content": "a\ud83d"}), line({"content": "b"})], "a�b"),
        ([line({"content": "a\0b"})], "a�b"),
        ([b'data: {"choices":[{"index":0,"delta":{"content":"\xff"}}]}\n\n'], "�"),
    ],
)
def test_text_is_what_utf_8_and_a_database_hold(
    server: ModelServer, parts: list[bytes], text: str
) -> None:
    says(server, *parts, DONE)
    assert conversed(client(server))[0] == text


@pytest.mark.promise("P4-provider-errors", "P4-refuse")
@pytest.mark.parametrize(
    ("fail", "trouble", "words"),
    [
        (
            Fail(400, "This model's maximum context length is 4096 tokens"),
            "context_overflow",
            OVERFLOW,
        ),
        (Fail(500, "the request exceeds the available context size"), "context_overflow", OVERFLOW),
        (Fail(400, "prompt is too long: model not found 401"), "context_overflow", OVERFLOW),
        (Fail(500, "no user query found in messages"), "context_overflow", OVERFLOW),
        (Fail(500, "context deadline exceeded"), "provider_error", "too long"),
        (Fail(401, "nope"), "provider_error", "did not accept the key"),
        (Fail(403, "model not found"), "provider_error", "did not accept the key"),
        (Fail(402, "pay"), "provider_error", "no credits"),
        (Fail(429, "You exceeded your current quota"), "provider_error", "no credits"),
        (Fail(404, 'model "x" not found, try pulling it'), "provider_error", NO_MODEL),
        (Fail(400, "No endpoints found for this model"), "provider_error", NO_MODEL),
        (Fail(400, "tool message without tool_call_id"), "provider_error", "earlier tool call"),
        (Fail(429, "slow down"), "provider_error", "busy"),
        (Fail(503, "Overloaded"), "provider_error", "busy"),
        (Fail(504, "upstream timed out"), "provider_error", "too long"),
        (Fail(500, "error parsing tool call"), "provider_error", GENERIC),
        (Fail(500, ""), "provider_error", GENERIC),
        (HangUp(), "provider_error", "cannot be reached"),
        (Raw(b"<html>"), "provider_error", "cannot be reached"),
        (Raw(b"{"), "provider_error", GENERIC),
        (Raw(b"[]"), "provider_error", GENERIC),
        (
            Pieces((b'data: {"error": {"message": "Rate limit", "code": 429}}\n\n',)),
            "provider_error",
            "busy",
        ),
        (Pieces((line({"content": "x"}), b"data: {nope}\n\n")), "provider_error", GENERIC),
    ],
)
def test_trouble_is_told_in_words_of_ours(
    server: ModelServer, fail: Any, trouble: str, words: str
) -> None:
    server.script = lambda turn: fail
    failure = failed(client(server))
    assert failure.trouble == trouble
    assert words in failure.message
    said = getattr(fail, "message", "")
    assert not said or said not in failure.message
    assert failure.call
    assert failure.call.outcome != "ok"
    assert len(server.turns) == 1


def test_a_provider_without_a_key_is_not_asked(server: ModelServer) -> None:
    failure = failed(client(server, key="none to be had"))
    assert "no key" in failure.message
    assert server.turns == []


def test_a_late_provider_is_left_at_the_deadline(server: ModelServer) -> None:
    server.script = lambda turn: Late(30.0)
    failure = failed(client(server), seconds=2.2)
    assert "too long" in failure.message


@pytest.mark.promise("P4-message-window")
def test_windows_are_the_operators_or_the_usual(server: ModelServer) -> None:
    one = client(server, model_windows='{"ollama:big": 32768}')
    assert one.window(CHOICE) == 4096
    assert one.window(ModelChoice("ollama", "big")) == 32768
    assert one.window(ModelChoice("openrouter", "x/y")) == 128_000

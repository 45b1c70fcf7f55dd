"""Events from a blocking generator: through our loop on real sockets, and buffered by Mangum."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.entry.buffering import buffered
from judgment.entry.event_stream import (
    ClientLeft,
    EventStream,
    deadline_of,
    event_of,
    json_answer,
    read_body,
)
from judgment.entry.streaming import InvocationContext
from judgment.kit.errors import TooLarge
from tests.fakes.events import http_event
from tests.fakes.runtime_api import PATIENCE_SECONDS, attended

if TYPE_CHECKING:
    from judgment.entry.event_stream import App, Message, Receive, Scope, Send, Stopped

Frames = Callable[["Stopped"], Iterator[bytes]]

EVENT = http_event("POST", "/message", headers={"Host": "api.test"}, body="{}")
HEADERS = {"Content-Type": "text/event-stream", "X-Conversation-Id": "c-1"}
KEEP_ALIVE = b": keep-alive\n\n"
CONTEXT = InvocationContext("r", "f", 128, "arn", deadline_ms=4_000_000_000_000)


def streaming(*frames: Frames, heartbeat: float = 60.0) -> App:
    """An app that answers its first request with the first of `frames`, and so on."""
    left = list(frames)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await read_body(receive, 1000)
        stream = EventStream(left.pop(0), HEADERS, heartbeat_seconds=heartbeat)
        await stream(scope, receive, send)

    return app


def saying(*frames: bytes) -> Frames:
    """Frames that are all there at once."""
    return lambda _: iter(frames)


@pytest.mark.promise("P4-stream")
def test_a_frame_arrives_before_the_next_is_made() -> None:
    may_go_on = [threading.Event() for _ in range(3)]

    def frames(_: Stopped) -> Iterator[bytes]:
        for number, gate in enumerate(may_go_on):
            yield b"data: %d\n\n" % number
            assert gate.wait(PATIENCE_SECONDS)

    with attended(streaming(frames)) as api:
        answer = api.invoke(EVENT)
        assert answer.head["statusCode"] == 200
        assert answer.head["headers"] == {name.lower(): HEADERS[name] for name in HEADERS}
        for number, gate in enumerate(may_go_on):
            assert answer.next() == b"data: %d\n\n" % number
            gate.set()
        assert answer.next() is None
        assert answer.trailers == {}


@pytest.mark.promise("P4-stream")
def test_the_head_is_there_before_the_first_frame() -> None:
    head_seen = threading.Event()

    def frames(_: Stopped) -> Iterator[bytes]:
        assert head_seen.wait(PATIENCE_SECONDS)
        yield b"data: late\n\n"

    with attended(streaming(frames)) as api:
        answer = api.invoke(EVENT)
        assert answer.head["headers"]["x-conversation-id"] == "c-1"
        head_seen.set()
        assert answer.rest() == b"data: late\n\n"


@pytest.mark.promise("P4-stream-time")
def test_a_silent_stream_is_kept_open_by_comments() -> None:
    go_on = threading.Event()

    def frames(_: Stopped) -> Iterator[bytes]:
        yield b"data: 1\n\n"
        assert go_on.wait(PATIENCE_SECONDS)
        yield b"data: 2\n\n"

    with attended(streaming(frames, heartbeat=0.01)) as api:
        answer = api.invoke(EVENT)
        assert answer.next() == b"data: 1\n\n"
        assert [answer.next() for _ in range(3)] == [KEEP_ALIVE] * 3
        go_on.set()
        assert answer.rest().replace(KEEP_ALIVE, b"") == b"data: 2\n\n"


@pytest.mark.promise("P4-stream-time")
@pytest.mark.parametrize("way", ["streamed", "buffered"])
def test_the_app_knows_how_long_its_invocation_may_take(way: str) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        known = {"left": deadline_of(scope).remaining(), "path": event_of(scope)["path"]}
        await json_answer(send, 200, json.dumps(known), {})

    if way == "streamed":
        with attended(app, seconds=900) as api:
            known = json.loads(api.invoke(EVENT).rest())
    else:
        known = json.loads(buffered(app)(EVENT, CONTEXT)["body"])
    assert known["left"] > 800
    assert known["path"] == "/message"


@pytest.mark.promise("P4-stream-gone")
def test_a_client_that_leaves_closes_the_generator_before_the_next_invocation() -> None:
    order: list[str] = []

    def endless(stopped: Stopped) -> Iterator[bytes]:
        thread = threading.current_thread()
        try:
            yield b"data: 1\n\n"
            while not stopped.is_set():
                threading.Event().wait(0.001)
            order.append("stopped")
            yield b"data: for nobody\n\n"
            order.append("went on")
        finally:
            order.append("closed")
            assert threading.current_thread() is thread

    def second(_: Stopped) -> Iterator[bytes]:
        order.append("next invocation")
        yield b"data: again\n\n"

    with attended(streaming(endless, second)) as api:
        answer = api.invoke(EVENT)
        assert answer.next() == b"data: 1\n\n"
        answer.hang_up()
        assert api.invoke(EVENT).rest() == b"data: again\n\n"
    assert order == ["stopped", "closed", "next invocation"]


@pytest.mark.promise("P4-stream-gone")
def test_a_generator_that_never_pauses_is_closed_as_well() -> None:
    closed = threading.Event()

    def endless(_: Stopped) -> Iterator[bytes]:
        try:
            while True:
                yield b"data: more\n\n"
        finally:
            closed.set()

    with attended(streaming(endless, saying(b"data: again\n\n"))) as api:
        answer = api.invoke(EVENT)
        assert answer.next() == b"data: more\n\n"
        answer.hang_up()
        assert api.invoke(EVENT).rest() == b"data: again\n\n"
        assert closed.is_set()


@pytest.mark.promise("P4-stream-gone")
def test_what_a_generator_raises_when_nobody_listens_is_logged(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def frames(stopped: Stopped) -> Iterator[bytes]:
        yield b"data: 1\n\n"
        while not stopped.is_set():
            threading.Event().wait(0.001)
        raise RuntimeError("could not be kept")

    with attended(streaming(frames, saying(b"data: again\n\n"))) as api:
        answer = api.invoke(EVENT)
        answer.next()
        answer.hang_up()
        assert api.invoke(EVENT).rest() == b"data: again\n\n"
    assert "could not be kept" in capsys.readouterr().err


@pytest.mark.promise("P4-stream")
def test_a_slow_reader_slows_the_generator_down() -> None:
    """Buffers of the sockets hold a few MiB; 64 frames of a MiB cannot be anywhere but unmade."""
    made: list[int] = []
    far = threading.Event()

    def frames(_: Stopped) -> Iterator[bytes]:
        for number in range(64):
            made.append(number)
            if number == 40:
                far.set()
            yield b"x" * 1024 * 1024

    with attended(streaming(frames)) as api:
        answer = api.invoke(EVENT)
        assert not far.wait(0.5)
        assert len(answer.rest()) == 64 * 1024 * 1024
    assert len(made) == 64


@pytest.mark.promise("P4-stream")
def test_a_refusal_before_the_first_byte_keeps_its_status_and_headers() -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await json_answer(send, 429, '{"error":"slow down"}', {"Retry-After": "7"})

    with attended(app) as api:
        answer = api.invoke(EVENT)
        head, body = answer.head, answer.rest()
    whole = buffered(app)(EVENT, CONTEXT)
    for said in (head, whole):
        assert said["statusCode"] == 429
        assert said["headers"] == {
            "content-type": "application/json",
            "content-length": "21",
            "retry-after": "7",
        }
    assert body.decode() == whole["body"] == '{"error":"slow down"}'
    assert not whole["isBase64Encoded"]


def failing(*frames: bytes) -> Frames:
    """Frames, and then a defect."""

    def make(_: Stopped) -> Iterator[bytes]:
        yield from frames
        raise RuntimeError("lost the thread")

    return make


def unmakeable(_: Stopped) -> Iterator[bytes]:
    """A defect before there is a generator."""
    raise RuntimeError("lost the thread")


@pytest.mark.promise("P4-stream", "000-4")
def test_a_failure_after_the_first_byte_cuts_the_answer_off(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with attended(streaming(failing(b"data: 1\n\n"), saying(b"data: again\n\n"))) as api:
        answer = api.invoke(EVENT)
        assert answer.rest() == b"data: 1\n\n"
        assert answer.error == {"errorType": "RuntimeError", "errorMessage": "lost the thread"}
        assert api.invoke(EVENT).rest() == b"data: again\n\n"
    assert "lost the thread" in capsys.readouterr().err


@pytest.mark.promise("P4-stream", "000-4", "R-41")
@pytest.mark.parametrize(
    ("path", "body"),
    [("/message", {"error": "Internal Server Error"}), ("/api/v1/keys", {"code"})],
)
def test_a_failure_before_the_first_byte_is_a_500_in_the_routes_own_form(
    capsys: pytest.CaptureFixture[str], path: str, body: Any
) -> None:
    event = http_event("POST", path, headers={"Host": "api.test"}, body="{}")
    with attended(streaming(unmakeable)) as api:
        answer = api.invoke(event)
        said = json.loads(answer.rest())
        assert answer.error is None
    assert answer.head["statusCode"] == 500
    assert said == body or body <= set(said)
    assert "lost the thread" not in json.dumps(said)
    assert "lost the thread" in capsys.readouterr().err


@pytest.mark.promise("P4-stream")
def test_buffered_the_same_app_gives_the_same_bytes_in_one_piece() -> None:
    frames = saying(b"data: 1\n\n", "data: ü\n\n".encode())
    with attended(streaming(frames)) as api:
        answer = api.invoke(EVENT)
        head, streamed = answer.head, answer.rest()
    whole = buffered(streaming(frames))(EVENT, CONTEXT)
    assert (whole["statusCode"], whole["headers"]) == (200, head["headers"])
    assert whole["body"] == streamed.decode() == "data: 1\n\ndata: ü\n\n"
    assert not whole["isBase64Encoded"]


@pytest.mark.promise("P4-stream", "000-4")
@pytest.mark.parametrize("frames", [unmakeable, failing(b"data: 1\n\n")])
def test_buffered_a_failure_is_a_500_in_the_routes_own_form_however_late(
    capsys: pytest.CaptureFixture[str], frames: Frames
) -> None:
    whole = buffered(streaming(frames))(EVENT, CONTEXT)
    assert whole["statusCode"] == 500
    assert json.loads(whole["body"]) == {"error": "Internal Server Error"}
    assert whole["headers"]["content-type"] == "application/json"
    assert "lost the thread" in capsys.readouterr().err


def test_buffered_the_app_hears_the_end_of_its_own_answer() -> None:
    heard: list[str] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        assert await read_body(receive, 1000) == b"{}"
        await json_answer(send, 200, "{}", {})
        heard.append((await receive())["type"])

    assert buffered(app)(EVENT, CONTEXT)["statusCode"] == 200
    assert heard == ["http.disconnect"]


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=12))
def test_whatever_the_frames_are_they_arrive_whole_in_order_and_once(frames: list[bytes]) -> None:
    sent: list[Message] = []
    asyncio.run(_answered(saying(*frames), sent.append))
    assert sent[0]["type"] == "http.response.start"
    assert [message["body"] for message in sent[1:]] == [*frames, b""]
    assert [message["more_body"] for message in sent[1:]] == [True] * len(frames) + [False]


@pytest.mark.promise("P4-stream-gone")
@pytest.mark.parametrize("takes", range(4))
def test_a_write_that_fails_ends_the_generator_wherever_it_is(takes: int) -> None:
    closed: list[bool] = []

    def frames(stopped: Stopped) -> Iterator[bytes]:
        try:
            while True:
                yield b"data: more\n\n"
        finally:
            closed.append(stopped.is_set())

    taken: list[Message] = []

    def take(message: Message) -> None:
        if len(taken) == takes:
            raise BrokenPipeError
        taken.append(message)

    asyncio.run(_answered(frames, take))
    assert len(taken) == takes
    assert closed == ([True] if takes else [])


async def _answered(frames: Frames, take: Callable[[Message], None]) -> None:
    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        take(message)

    await EventStream(frames, HEADERS)({}, receive, send)


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize(
    ("parts", "outcome"),
    [
        ([b"12345", b"6789", b"0"], b"1234567890"),
        ([b""], b""),
        ([b"12345", b"67890", b"1"], TooLarge),
        ([b"1234567890a"], TooLarge),
        ([b"123", None], ClientLeft),
    ],
)
def test_a_body_is_read_whole_up_to_its_limit(parts: list[bytes | None], outcome: Any) -> None:
    waiting = list(parts)

    async def receive() -> Mapping[str, Any]:
        part = waiting.pop(0)
        if part is None:
            return {"type": "http.disconnect"}
        return {"type": "http.request", "body": part, "more_body": bool(waiting)}

    reading = read_body(receive, 10)  # type: ignore[arg-type]
    if isinstance(outcome, bytes):
        assert asyncio.run(reading) == outcome
    else:
        with pytest.raises(outcome):
            asyncio.run(reading)

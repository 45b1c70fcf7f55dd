"""The streaming runtime loop, byte for byte against a Runtime API that only listens."""

from __future__ import annotations

import asyncio
import base64
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from judgment.entry.streaming import (
    HEAD_END,
    HEAD_LIMIT,
    InvocationContext,
    StreamedReply,
    answer,
    next_invocation,
    serve,
)
from tests.fakes.listening import Listening, QuietHandler
from tests.fakes.runtime_api import PATIENCE_SECONDS, attended

if TYPE_CHECKING:
    from judgment.entry.event_stream import App

_CONTEXT = InvocationContext("id-1", "f", 128, "arn", deadline_ms=0)


def _event(**changes: Any) -> dict[str, Any]:
    event = {
        "resource": "/s",
        "path": "/s",
        "httpMethod": "POST",
        "headers": {"Host": "h.test", "X-One": "1"},
        "multiValueHeaders": {"Host": ["h.test"], "X-One": ["1"]},
        "queryStringParameters": {"a": "2"},
        "multiValueQueryStringParameters": {"a": ["1", "2"]},
        "requestContext": {"identity": {"sourceIp": "192.0.2.1"}},
        "body": "question",
        "isBase64Encoded": False,
    }
    return {**event, **changes}


def _posted(app: App, event: dict[str, Any] | None = None) -> tuple[dict[str, str], bytes, bytes]:
    """Headers, joined chunks and trailers of what the loop posts for one invocation."""
    received = bytearray()

    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.extend(await reader.readuntil(b"\r\n0\r\n"))
        while not received.endswith(b"\r\n\r\n"):
            received.extend(await reader.readline())
        writer.write(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
        await writer.drain()
        writer.close()

    async def run() -> None:
        async with await asyncio.start_server(listen, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            reply = StreamedReply(f"127.0.0.1:{port}", "id-1")
            await answer(app, event or _event(), _CONTEXT, reply)

    asyncio.run(run())
    head, _, rest = bytes(received).partition(b"\r\n\r\n")
    request, *lines = head.decode().split("\r\n")
    assert request == "POST /2018-06-01/runtime/invocation/id-1/response HTTP/1.1"
    body, trailers = _dechunked(rest)
    return {k.lower(): v for k, v in (line.split(": ", 1) for line in lines)}, body, trailers


def _dechunked(data: bytes) -> tuple[bytes, bytes]:
    body = b""
    while True:
        size, _, data = data.partition(b"\r\n")
        if not int(size, 16):
            return body, data
        body, data = body + data[: int(size, 16)], data[int(size, 16) + 2 :]


def _app(*chunks: bytes, status: int = 200, headers: Any = (), fail: bool = False) -> App:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": status, "headers": list(headers)})
        for chunk in chunks:
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
        if fail:
            raise RuntimeError("lost the thread")
        await send({"type": "http.response.body", "body": b""})

    return app


@pytest.mark.promise("P1-9-probe")
def test_a_reply_is_a_head_eight_nul_bytes_and_the_body() -> None:
    headers = [(b"content-type", b"text/event-stream"), (b"x", b"1"), (b"x", b"2")]
    cookies = [(b"set-cookie", b"a=1"), (b"set-cookie", b"b=2")]
    sent, body, trailers = _posted(_app(b"one", b"two", status=203, headers=headers + cookies))
    assert sent["lambda-runtime-function-response-mode"] == "streaming"
    assert sent["transfer-encoding"] == "chunked"
    assert sent["content-type"] == "application/vnd.awslambda.http-integration-response"
    head, payload = body.split(HEAD_END)
    assert json.loads(head) == {
        "statusCode": 203,
        "headers": {"content-type": "text/event-stream", "x": "1, 2"},
        "cookies": ["a=1", "b=2"],
    }
    assert payload == b"onetwo"
    assert trailers == b"\r\n"


@pytest.mark.promise("000-4")
def test_a_failure_before_the_first_byte_is_500_in_the_contracts_form(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        raise RuntimeError("a detail of ours")

    _, body, trailers = _posted(app)
    head, payload = body.split(HEAD_END)
    assert json.loads(head)["statusCode"] == 500
    assert json.loads(payload)["code"] == "internal_error"
    assert b"detail" not in payload
    assert trailers == b"\r\n"
    assert "a detail of ours" in capsys.readouterr().err


@pytest.mark.parametrize("started", [False, True])
def test_no_credential_in_a_failure_is_logged_or_sent(
    capsys: pytest.CaptureFixture[str], started: bool
) -> None:
    secret = "sync_" + "s" * 43

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if started:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise RuntimeError(f"refused {secret}")

    _, _, trailers = _posted(app)
    sent = trailers.partition(b"Error-Body: ")[2]
    logged = capsys.readouterr().err
    assert "RuntimeError: refused sync_[redacted]" in logged
    assert secret not in logged
    assert secret.encode() not in base64.b64decode(sent)
    assert (b"redacted" in base64.b64decode(sent)) is started


def test_a_failure_after_the_first_byte_is_sent_as_trailers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    _, body, trailers = _posted(_app(b"one", fail=True))
    assert body.endswith(HEAD_END + b"one")
    shown = dict(line.split(": ", 1) for line in trailers.decode().split("\r\n") if line)
    assert shown["Lambda-Runtime-Function-Error-Type"] == "RuntimeError"
    error = json.loads(base64.b64decode(shown["Lambda-Runtime-Function-Error-Body"]))
    assert error == {"errorType": "RuntimeError", "errorMessage": "lost the thread"}
    assert "lost the thread" in capsys.readouterr().err


def test_the_app_sees_the_request_of_the_event_and_the_end_of_its_own_answer() -> None:
    seen: dict[str, Any] = {}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.update(scope)
        seen["request"] = await receive()
        await _app(b"x")(scope, receive, send)
        seen["after"] = await receive()

    _posted(app, _event(body=base64.b64encode(b"\xff\x00").decode(), isBase64Encoded=True))
    assert (seen["method"], seen["path"], seen["query_string"]) == ("POST", "/s", b"a=1&a=2")
    assert [b"x-one", b"1"] in [list(pair) for pair in seen["headers"]]
    assert seen["request"] == {"type": "http.request", "body": b"\xff\x00", "more_body": False}
    assert seen["after"] == {"type": "http.disconnect"}
    assert seen["aws.context"] is _CONTEXT


@pytest.mark.promise("P4-stream-gone")
def test_a_door_that_does_not_listen_runs_to_its_end_unheard_and_the_next_is_served() -> None:
    hung_up, ended = threading.Event(), threading.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"one", "more_body": True})
        if hung_up.is_set():
            await send({"type": "http.response.body", "body": b", two"})
            return
        await asyncio.to_thread(hung_up.wait, PATIENCE_SECONDS)
        for _ in range(50):
            await send({"type": "http.response.body", "body": b"x" * 65536, "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        ended.set()

    with attended(app) as api:
        answer = api.invoke(_event())
        assert answer.next() == b"one"
        answer.hang_up()
        hung_up.set()
        assert api.invoke(_event()).rest() == b"one, two"
        assert ended.is_set()
        assert api.asked >= 2


async def _sends_nothing(scope: Any, receive: Any, send: Any) -> None:
    """Neither answers nor fails."""


@pytest.mark.parametrize(
    ("app", "event", "logged"),
    [
        (_sends_nothing, _event(), "the app sent nothing"),
        (_app(b"x", headers=[(b"x-long", b"y" * HEAD_LIMIT)]), _event(), "a head of"),
        (_app(b"x"), {"warm": True}, "KeyError"),
    ],
    ids=["no answer", "a head over the gateway's limit", "no HTTP event"],
)
def test_what_the_gateway_could_not_take_is_a_500(
    capsys: pytest.CaptureFixture[str], app: App, event: dict[str, Any], logged: str
) -> None:
    with attended(app) as api:
        answer = api.invoke(event)
        assert answer.head["statusCode"] == 500
        assert json.loads(answer.rest())["code"] == "internal_error"
    assert logged in capsys.readouterr().err


def test_a_failure_after_the_end_is_logged_and_changes_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await _app(b"all")(scope, receive, send)
        raise RuntimeError("too late to say")

    with attended(app) as api:
        for _ in range(2):
            answer = api.invoke(_event())
            assert (answer.rest(), answer.error) == (b"all", None)
    assert "too late to say" in capsys.readouterr().err


@contextmanager
def _runtime_api(reply: Callable[[str], tuple[dict[str, str], bytes]]) -> Iterator[dict[str, Any]]:
    """A Runtime API that gives `reply` to GET and keeps what is posted, by path."""
    kept: dict[str, Any] = {}

    class Handler(QuietHandler):
        def do_GET(self) -> None:
            headers, body = reply(self.path)
            self.give(200, body, headers)

        def do_POST(self) -> None:
            kept[self.path] = json.loads(self.sent())
            self.give(202)

    with Listening(Handler) as server:
        kept["address"] = server.address
        yield kept


def test_the_next_invocation_is_read_with_its_deadline() -> None:
    headers = {
        "Lambda-Runtime-Aws-Request-Id": "r-1",
        "Lambda-Runtime-Deadline-Ms": "1700000000000",
        "Lambda-Runtime-Invoked-Function-Arn": "arn:x",
    }
    with _runtime_api(lambda _: (headers, b'{"a": 1}')) as api:
        assert next_invocation(api["address"]) == ("r-1", 1700000000000, "arn:x", {"a": 1})


def test_a_door_that_cannot_be_loaded_is_reported_to_lambda() -> None:
    with _runtime_api(lambda _: ({}, b"{}")) as api:
        environ = {"AWS_LAMBDA_RUNTIME_API": api["address"], "_HANDLER": "no.such.door.handler"}
        with pytest.raises(ModuleNotFoundError):
            serve(environ)
        assert api["/2018-06-01/runtime/init/error"]["errorType"] == "ModuleNotFoundError"


def test_the_context_is_what_lambda_says_and_never_counts_below_zero() -> None:
    environ = {
        "AWS_LAMBDA_FUNCTION_NAME": "judgment-x",
        "AWS_REGION": "eu-1",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
    }
    context = InvocationContext.from_environ(environ, "r", 1)
    assert context.get_remaining_time_in_millis() == 0
    assert context.invoked_function_arn == "arn:aws:lambda:eu-1:000000000000:function:judgment-x"
    assert (context.memory_limit_in_mb, context.function_name) == (512, "judgment-x")

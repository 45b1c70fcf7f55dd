"""The runtime loop of a response-streaming door.

Lambda's managed Python runtime cannot stream. This loop replaces it (AWS_LAMBDA_EXEC_WRAPPER): it
takes one invocation after the other from the Runtime API, runs the door's ASGI `app` on it and
sends what the app writes as it writes it: a JSON head, eight NUL bytes, then the body in chunks.
A failure before the first byte becomes a 500 in the contract's form; a later one becomes the
error trailers that make the gateway cut the answer off. When the other side hangs up, the app is
told by `http.disconnect`, what it still sends goes nowhere, and it is waited for. Between two
invocations nothing runs: the process blocks, because Lambda freezes it there.
Protocol: AWS Lambda developer guide, "Building a custom runtime", response streaming.
"""

from __future__ import annotations

import asyncio
import base64
import http.client
import importlib
import json
import os
import sys
import time
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from judgment.entry.event_stream import defect_body
from judgment.entry.refusals import JSON
from judgment.kit.errors import Refusal
from judgment.kit.redaction import redact

if TYPE_CHECKING:
    from judgment.entry.event_stream import App, Message, Scope

HEAD_END = b"\0" * 8
HEAD_LIMIT = 16 * 1024
"""Where API Gateway stops looking for the end of the head (response-transfer-mode-lambda)."""
_API = "/2018-06-01/runtime"
_CONTENT_TYPE = "application/vnd.awslambda.http-integration-response"
_ERROR_TYPE = "Lambda-Runtime-Function-Error-Type"
_ERROR_BODY = "Lambda-Runtime-Function-Error-Body"


class ReplyError(ValueError):
    """The app sent no answer, or one whose head the gateway would not take."""


@dataclass(frozen=True)
class InvocationContext:
    """What Lambda tells a handler about its invocation; the names are Lambda's."""

    aws_request_id: str
    function_name: str
    memory_limit_in_mb: int
    invoked_function_arn: str
    deadline_ms: int
    function_version: str = "$LATEST"
    log_group_name: str = ""
    log_stream_name: str = ""

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds until the function is killed, never negative."""
        return max(0, self.deadline_ms - int(time.time() * 1000))

    @classmethod
    def from_environ(
        cls, environ: Mapping[str, str], request_id: str, deadline_ms: int, arn: str = ""
    ) -> InvocationContext:
        """Build it from the variables that Lambda sets in every environment."""
        name = environ.get("AWS_LAMBDA_FUNCTION_NAME", "")
        region = environ.get("AWS_REGION", "")
        return cls(
            aws_request_id=request_id,
            function_name=name,
            memory_limit_in_mb=int(environ.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128")),
            invoked_function_arn=arn or f"arn:aws:lambda:{region}:000000000000:function:{name}",
            deadline_ms=deadline_ms,
            log_group_name=environ.get("AWS_LAMBDA_LOG_GROUP_NAME", ""),
            log_stream_name=environ.get("AWS_LAMBDA_LOG_STREAM_NAME", ""),
        )


class StreamedReply:
    """The streaming answer to one invocation: opened by the first byte, closed once.

    `over` is set when it was finished or the other side has hung up; what is written then goes
    nowhere. `started` says whether the status can no longer be changed.
    """

    def __init__(self, runtime_api: str, request_id: str):
        self._host, _, self._port = runtime_api.partition(":")
        self._path = f"{_API}/invocation/{request_id}/response"
        self._writer: asyncio.StreamWriter | None = None
        self._answered: asyncio.Future[None] | None = None
        self.over = asyncio.Event()
        self.started = False

    async def start(self, status: int, headers: list[tuple[str, str]]) -> None:
        """Send the head. Repeated headers are joined with commas, cookies stay apart.

        Raises ReplyError, with nothing sent, for a head over the gateway's limit.
        """
        head = json.dumps(_head(status, headers)).encode() + HEAD_END
        if len(head) > HEAD_LIMIT:
            raise ReplyError(f"a head of {len(head)} bytes")
        self.started = True
        reader, self._writer = await asyncio.open_connection(self._host, int(self._port or 80))
        self._answered = asyncio.ensure_future(self._listen(reader))
        lines = (
            f"POST {self._path} HTTP/1.1",
            f"Host: {self._host}:{self._port or 80}",
            f"Content-Type: {_CONTENT_TYPE}",
            "Lambda-Runtime-Function-Response-Mode: streaming",
            "Transfer-Encoding: chunked",
            f"Trailer: {_ERROR_TYPE}, {_ERROR_BODY}",
        )
        self._writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        await self.write(head)

    async def write(self, data: bytes) -> None:
        """Send bytes now; asyncio's sockets do not delay. Waits while the gateway is slower."""
        if data:
            await self._send(b"%x\r\n%b\r\n" % (len(data), data))

    async def finish(self, failure: BaseException | None = None) -> None:
        """End the answer, with the error trailers when it broke off. Safe to call twice."""
        await self._send(b"0\r\n" + _trailers(failure) + b"\r\n")
        writer, self._writer = self._writer, None
        if writer is None or self._answered is None:
            return
        await self._answered
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()

    async def _send(self, data: bytes) -> None:
        if self._writer is None or self.over.is_set():
            return
        try:
            self._writer.write(data)
            await self._writer.drain()
        except ConnectionError:
            self.over.set()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        """Wait for the other side's answer. Before our end, any, or none, means it has gone."""
        with suppress(ConnectionError):
            await reader.read(1024)
        self.over.set()


def _head(status: int, headers: list[tuple[str, str]]) -> Message:
    single: dict[str, str] = {}
    cookies: list[str] = []
    for name, value in headers:
        if name.lower() == "set-cookie":
            cookies.append(value)
        else:
            single[name] = f"{single[name]}, {value}" if name in single else value
    head: Message = {"statusCode": status, "headers": single}
    return head | {"cookies": cookies} if cookies else head


def _trailers(failure: BaseException | None) -> bytes:
    if failure is None:
        return b""
    kind = type(failure).__name__
    body = json.dumps({"errorType": kind, "errorMessage": redact(str(failure))}).encode()
    return f"{_ERROR_TYPE}: {kind}\r\n{_ERROR_BODY}: ".encode() + base64.b64encode(body) + b"\r\n"


async def answer(
    app: App, event: Message, context: InvocationContext, reply: StreamedReply
) -> None:
    """Run the app on one REST-proxy event and stream what it sends."""
    try:
        await _run(app, event, context, reply)
        if not reply.started:
            raise ReplyError("the app sent nothing")
    except Exception as failure:  # noqa: BLE001  (whatever an app raises must end the answer)
        print(redact("".join(traceback.format_exception(failure))), file=sys.stderr)
        if reply.started:
            await reply.finish(failure)
        else:
            await reply.start(Refusal.status, [("content-type", JSON)])
            await reply.write(defect_body(event).encode())
    await reply.finish()


async def _run(app: App, event: Message, context: InvocationContext, reply: StreamedReply) -> None:
    scope, body = _request(event, context)
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if pending:
            return pending.pop()
        await reply.over.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            await reply.start(message["status"], _text(message.get("headers", [])))
        elif message["type"] == "http.response.body":
            await reply.write(message.get("body", b""))
            if not message.get("more_body", False):
                await reply.finish()

    await app(scope, receive, send)


def _text(headers: list[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers]


def _request(event: Message, context: InvocationContext) -> tuple[Scope, bytes]:
    """The ASGI scope and body that Mangum would make, so that buffered and streamed agree."""
    from mangum.handlers import APIGateway

    settings: Any = {"api_gateway_base_path": "/", "text_mime_types": [], "exclude_headers": []}
    adapter = APIGateway(event, context, settings)  # type: ignore[arg-type]
    return dict(adapter.scope), adapter.body


def next_invocation(runtime_api: str) -> tuple[str, int, str, Message]:
    """Wait for the next event: request id, deadline (epoch milliseconds), ARN, event."""
    connection = http.client.HTTPConnection(runtime_api)
    try:
        connection.request("GET", f"{_API}/invocation/next")
        response = connection.getresponse()
        event = json.loads(response.read())
    finally:
        connection.close()
    head = response.headers
    return (
        head["Lambda-Runtime-Aws-Request-Id"],
        int(head["Lambda-Runtime-Deadline-Ms"]),
        head.get("Lambda-Runtime-Invoked-Function-Arn", ""),
        event,
    )


def report_init_failure(runtime_api: str, failure: BaseException) -> None:
    """Tell Lambda that this environment cannot start."""
    body = json.dumps({"errorType": type(failure).__name__, "errorMessage": str(failure)})
    connection = http.client.HTTPConnection(runtime_api)
    connection.request("POST", f"{_API}/init/error", body)
    connection.getresponse().read()
    connection.close()


def serve(environ: Mapping[str, str]) -> None:
    """Load the `app` beside the handler named by `_HANDLER` and answer until killed."""
    runtime_api = environ["AWS_LAMBDA_RUNTIME_API"]
    try:
        module = importlib.import_module(environ["_HANDLER"].rpartition(".")[0])
        app: App = module.app
    except BaseException as failure:  # Lambda must hear of it before this process dies
        report_init_failure(runtime_api, failure)
        raise
    attend(app, environ)


def attend(app: App, environ: Mapping[str, str]) -> None:
    """Answer one invocation after the other. Raises when the Runtime API is gone."""
    runtime_api = environ["AWS_LAMBDA_RUNTIME_API"]
    with asyncio.Runner() as runner:
        while True:
            request_id, deadline_ms, arn, event = next_invocation(runtime_api)
            context = InvocationContext.from_environ(environ, request_id, deadline_ms, arn)
            runner.run(answer(app, event, context, StreamedReply(runtime_api, request_id)))


if __name__ == "__main__":
    serve(os.environ)

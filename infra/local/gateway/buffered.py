"""An execution environment that answers whole replies over a socket pair."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from typing import Any

from infra.local.gateway.invoking import (
    MAX_PAYLOAD_BYTES,
    FunctionError,
    FunctionSpec,
    Invocation,
)

INIT_SECONDS = 30.0


class BufferedEnvironment(asyncio.Protocol):
    """Runs `infra.local.worker` for one function."""

    def __init__(self, spec: FunctionSpec):
        self._spec = spec
        self._process: subprocess.Popen[bytes] | None = None
        self._transport: asyncio.Transport | None = None
        self._buffer = bytearray()
        self._answer: asyncio.Future[Any] | None = None
        self.alive = False

    async def start(self) -> None:
        """Start the process and wait until the handler is loaded. Raises FunctionError."""
        loop = asyncio.get_running_loop()
        ours, theirs = socket.socketpair()
        self._answer = loop.create_future()
        with theirs:
            self._process = spawn(
                self._spec, ["-m", "infra.local.worker", str(theirs.fileno())], (theirs.fileno(),)
            )
        await loop.create_unix_connection(lambda: self, sock=ours)
        try:
            answer = await asyncio.wait_for(self._answer, INIT_SECONDS)
        except TimeoutError as late:
            self.end()
            raise FunctionError("Sandbox.Timedout", "The function did not start in time") from late
        if "error" in answer:
            self.end()
            raise _error(answer["error"])
        self.alive = True

    def call(self, request_id: str, deadline_ms: int, event: bytes) -> Invocation:
        """Hand it an event (JSON); a reply over Lambda's limit is a FunctionError."""
        assert self._transport is not None
        head = json.dumps({"id": request_id, "deadline_ms": deadline_ms})[:-1].encode()
        frame = head + b', "event": ' + event + b"}"
        self._answer = raw = asyncio.get_running_loop().create_future()
        reply: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        raw.add_done_callback(lambda answered: _resolve(reply, answered))
        self._transport.write(len(frame).to_bytes(4, "big") + frame)
        return Invocation(reply, reply)

    def end(self, failure: FunctionError | None = None) -> None:
        """Kill the process; a running call fails with `failure`."""
        self.alive = False
        if self._answer and not self._answer.done():
            self._answer.set_exception(failure or _died(self._spec))
            self._answer.exception()
        if self._process:
            self._process.kill()
            self._process.wait()
        if self._transport:
            self._transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Part of asyncio's protocol."""
        self._transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        """Part of asyncio's protocol: a whole frame resolves the call that waits for it."""
        self._buffer += data
        size = int.from_bytes(self._buffer[:4], "big")
        if len(self._buffer) < 4 or len(self._buffer) < 4 + size:
            return
        body = bytes(self._buffer[4 : 4 + size])
        self._buffer.clear()
        if self._answer and not self._answer.done():
            self._answer.set_result(_parsed(body))

    def connection_lost(self, exc: Exception | None) -> None:
        """Part of asyncio's protocol: the process is gone."""
        self.end()


def spawn(
    spec: FunctionSpec, arguments: list[str], descriptors: tuple[int, ...] = ()
) -> subprocess.Popen[bytes]:
    """Start a Python process with the function's environment, and no other, in its log."""
    spec.log.parent.mkdir(parents=True, exist_ok=True)
    with spec.log.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd=spec.folder,
            env={**lambda_variables(spec), **spec.environ},
            pass_fds=descriptors,
        )


def lambda_variables(spec: FunctionSpec) -> dict[str, str]:
    """What Lambda itself puts into every environment (developer guide, "Environment variables")."""
    return {
        "_HANDLER": spec.handler,
        "AWS_LAMBDA_FUNCTION_NAME": spec.name,
        "AWS_LAMBDA_FUNCTION_VERSION": "$LATEST",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(spec.memory_mb),
        "AWS_LAMBDA_LOG_GROUP_NAME": f"/aws/lambda/{spec.name}",
        "AWS_LAMBDA_LOG_STREAM_NAME": "local",
        "LAMBDA_TASK_ROOT": str(spec.folder),
        "LANG": "C.UTF-8",
        "TZ": ":UTC",
    }


def _parsed(body: bytes) -> dict[str, Any]:
    if len(body) > MAX_PAYLOAD_BYTES:
        kind = "Function.ResponseSizeTooLarge"
        return {"error": {"errorType": kind, "errorMessage": f"The reply has {len(body)} bytes"}}
    return json.loads(body)


def _resolve(reply: asyncio.Future[Any], answered: asyncio.Future[Any]) -> None:
    if reply.done():
        return
    failure = answered.exception()
    if failure is None and "error" in answered.result():
        failure = _error(answered.result()["error"])
    if failure is None:
        reply.set_result(answered.result()["ok"])
    else:
        reply.set_exception(failure)


def _error(shown: dict[str, Any]) -> FunctionError:
    return FunctionError(str(shown.get("errorType")), str(shown.get("errorMessage")))


def _died(spec: FunctionSpec) -> FunctionError:
    return FunctionError("Runtime.ExitError", f"{spec.name} exited without an answer")

"""An execution environment that streams: Lambda's Runtime API on a port for one process.

The process runs `judgment.entry.streaming`, as on AWS. It asks for the next invocation, and posts
its reply in chunks: a JSON head, eight NUL bytes, then the body. Error trailers, or a connection
that ends early, break the reply off. When nobody listens any more its connection is closed. A call
is done when the process asks for the next one, or has ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import subprocess
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import h11

from infra.local.gateway.buffered import INIT_SECONDS, spawn
from infra.local.gateway.invoking import FunctionError, FunctionSpec, Invocation, Streamed

HEAD_LIMIT = 16 * 1024
"""Where API Gateway stops looking for the end of the head (response-transfer-mode-lambda)."""

_HEAD_END = b"\0" * 8
_NEXT = b"/2018-06-01/runtime/invocation/next"
_INIT_ERROR = b"/2018-06-01/runtime/init/error"


class StreamEnvironment:
    """Runs a streaming function, one invocation at a time."""

    def __init__(self, spec: FunctionSpec):
        self._spec = spec
        self._process: subprocess.Popen[bytes] | None = None
        self._server: asyncio.Server | None = None
        self._started: asyncio.Future[None] | None = None
        self._life: socket.socket | None = None
        self._handover: asyncio.Queue[tuple[str, int, bytes]] = asyncio.Queue()
        self._call: Invocation | None = None
        self.alive = False

    async def start(self) -> None:
        """Serve the Runtime API, start the process, wait for its first question.

        The process holds the other end of a socket on which nothing is sent, for as long as it
        lives: readable means ended.
        """
        self._started = asyncio.get_running_loop().create_future()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        variables = {**self._spec.environ, "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{port}"}
        module = ["-m", "judgment.entry.streaming"]
        self._life, theirs = socket.socketpair()
        with theirs:
            spec = replace(self._spec, environ=variables)
            self._process = spawn(spec, module, (theirs.fileno(),))
        asyncio.get_running_loop().add_reader(self._life, self.end)
        try:
            await asyncio.wait_for(self._started, INIT_SECONDS)
        except TimeoutError as late:
            self.end()
            raise FunctionError("Sandbox.Timedout", "The function did not start in time") from late
        except FunctionError:
            self.end()
            raise
        self.alive = True

    def call(self, request_id: str, deadline_ms: int, event: bytes) -> Invocation:
        """Hand it an event; the reply resolves with the head, `done` with the end."""
        loop = asyncio.get_running_loop()
        self._call = Invocation(loop.create_future(), loop.create_future())
        self._handover.put_nowait((request_id, deadline_ms, event))
        return self._call

    def end(self, failure: FunctionError | None = None) -> None:
        """Kill the process; a reply that already runs breaks off."""
        self.alive = False
        if self._process:
            self._process.kill()
            self._process.wait()
        if self._server:
            self._server.close()
        if self._life:
            asyncio.get_running_loop().remove_reader(self._life)
            self._life.close()
            self._life = None
        exited = failure or FunctionError("Runtime.ExitError", f"{self._spec.name} exited")
        if self._started and not self._started.done():
            self._started.set_exception(exited)
        self._done(exited)

    def _done(self, without_reply: FunctionError) -> None:
        call = self._call
        if call is None or call.done.done():
            return
        if not call.reply.done():
            call.reply.set_exception(without_reply)
        call.done.set_result(None)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = _Link(reader, writer)
        try:
            request = await link.event()
            if isinstance(request, h11.Request):
                await self._dispatch(link, request)
        except (h11.RemoteProtocolError, ConnectionError):
            pass  # the process is gone, and its end is seen elsewhere
        except asyncio.CancelledError:
            pass  # the gateway itself is stopping; streams would log this as an error
        finally:
            writer.close()

    async def _dispatch(self, link: _Link, request: h11.Request) -> None:
        if request.target == _NEXT:
            await self._hand_over(link)
        elif request.target == _INIT_ERROR:
            shown = json.loads(b"".join([chunk async for chunk in link.body()]))
            failure = FunctionError(shown["errorType"], shown["errorMessage"])
            if self._started and not self._started.done():
                self._started.set_exception(failure)
            await link.answer(202)
        else:
            if self._call is not None:
                await _take_reply(link, self._call.reply)
            await link.answer(202)

    async def _hand_over(self, link: _Link) -> None:
        if self._started and not self._started.done():
            self._started.set_result(None)
        self._done(FunctionError("Runtime.NoReply", f"{self._spec.name} sent no reply"))
        waiting = asyncio.ensure_future(self._handover.get())
        gone = asyncio.ensure_future(link.closed())
        await asyncio.wait((waiting, gone), return_when=asyncio.FIRST_COMPLETED)
        gone.cancel()
        if not waiting.done():
            waiting.cancel()
            self.end()
            return
        request_id, deadline_ms, event = waiting.result()
        headers = [
            ("Lambda-Runtime-Aws-Request-Id", request_id),
            ("Lambda-Runtime-Deadline-Ms", str(deadline_ms)),
        ]
        await link.answer(200, headers, event)


async def _take_reply(link: _Link, waiting: asyncio.Future[Any]) -> None:
    """Resolve `waiting` with a reply at its head, then pass its chunks on to the end."""
    try:
        failure = await _pass_on(link, waiting)
    except (h11.RemoteProtocolError, ConnectionError) as broken:
        failure = FunctionError("Runtime.ExitError", str(broken))
    if not waiting.done():
        waiting.set_exception(failure or FunctionError("Runtime.MalformedReply", "no head"))
    elif (reply := _reply(waiting)) is not None:
        reply.broke_off = failure is not None
        await reply.put(None)


async def _pass_on(link: _Link, waiting: asyncio.Future[Any]) -> FunctionError | None:
    head = b""
    async for chunk in link.body():
        if (reply := _reply(waiting)) is not None:
            await reply.put(chunk)
            continue
        head += chunk
        before, mark, after = head.partition(_HEAD_END)
        if not mark and len(head) <= HEAD_LIMIT:
            continue
        if not mark or waiting.done():
            return FunctionError("Runtime.MalformedReply", "The reply has no head")
        reply = Streamed(json.loads(before), link.hang_up)
        waiting.set_result(reply)
        if after:
            await reply.put(after)
    return FunctionError("Runtime.Streaming", link.trailer) if link.trailer else None


def _reply(waiting: asyncio.Future[Any]) -> Streamed | None:
    """The reply whose head has come."""
    return waiting.result() if waiting.done() and not waiting.exception() else None


class _Link:
    """One HTTP/1.1 connection, read with h11 because the protocol uses trailers."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter):
        self._reader, self._writer = reader, writer
        self._http = h11.Connection(h11.SERVER)
        self.trailer = ""

    async def event(self) -> Any:
        """The next h11 event."""
        while True:
            event = self._http.next_event()
            if event is not h11.NEED_DATA:
                return event
            self._http.receive_data(await self._reader.read(65536))

    async def body(self) -> AsyncIterator[bytes]:
        """The chunks of the body. Raises ConnectionError when it ends early."""
        while not isinstance(event := await self.event(), h11.EndOfMessage):
            if isinstance(event, h11.ConnectionClosed):
                raise ConnectionError("the function hung up")
            yield bytes(event.data)
        if event.headers:
            self.trailer = str(dict(event.headers))

    def hang_up(self) -> None:
        """Close the connection in the middle."""
        self._writer.close()

    async def closed(self) -> None:
        """Returns when the other side is gone."""
        with contextlib.suppress(ConnectionError):
            while await self._reader.read(4096):
                pass

    async def answer(
        self, status: int, headers: list[tuple[str, str]] | None = None, body: bytes = b""
    ) -> None:
        """Send a whole response and promise to hang up."""
        lines = [*(headers or []), ("Content-Length", str(len(body))), ("Connection", "close")]
        out = self._http.send(h11.Response(status_code=status, headers=lines, reason=b"OK"))
        self._writer.write(out + self._http.send(h11.Data(data=body)))
        self._writer.write(self._http.send(h11.EndOfMessage()))
        with contextlib.suppress(ConnectionError):
            await self._writer.drain()

"""An execution environment that streams: Lambda's Runtime API on a port for one process.

The process runs `judgment.entry.streaming`, as on AWS. It asks for the next invocation, and posts
its reply in chunks: a JSON head, eight NUL bytes, then the body. Error trailers, or a connection
that ends early, break the reply off.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
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
        self._handover: asyncio.Queue[tuple[str, int, bytes]] = asyncio.Queue()
        self._call: Invocation | None = None
        self._reply: Streamed | None = None
        self.alive = False

    async def start(self) -> None:
        """Serve the Runtime API, start the process, wait for its first question."""
        self._started = asyncio.get_running_loop().create_future()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        variables = {**self._spec.environ, "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{port}"}
        module = ["-m", "judgment.entry.streaming"]
        self._process = spawn(replace(self._spec, environ=variables), module)
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
        self._reply = None
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
        self._finish(failure or FunctionError("Runtime.ExitError", f"{self._spec.name} exited"))

    def _finish(self, failure: FunctionError | None = None) -> None:
        call = self._call
        if call is None:
            return
        if self._reply is not None and failure is not None:
            self._reply.broke_off = True
        if not call.reply.done() and failure is not None:
            call.reply.set_exception(failure)
        if not call.done.done():
            call.done.set_result(None)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        link = _Link(reader, writer)
        try:
            request = await link.event()
            if isinstance(request, h11.Request):
                await self._dispatch(link, request)
        except (h11.RemoteProtocolError, ConnectionError) as failure:
            await self._close_reply(FunctionError("Runtime.ExitError", str(failure)))
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
            await self._take_reply(link)
            await link.answer(202)

    async def _hand_over(self, link: _Link) -> None:
        if self._started and not self._started.done():
            self._started.set_result(None)
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

    async def _take_reply(self, link: _Link) -> None:
        head = b""
        async for chunk in link.body():
            if self._reply is not None:
                await self._reply.put(chunk)
                continue
            head += chunk
            before, mark, after = head.partition(_HEAD_END)
            if mark:
                await self._open_reply(before, after)
            elif len(head) > HEAD_LIMIT:
                break
        if self._reply is None:
            failure = FunctionError("Runtime.MalformedReply", "The reply has no head")
        else:
            failure = FunctionError("Runtime.Streaming", link.trailer) if link.trailer else None
        await self._close_reply(failure)

    async def _open_reply(self, head: bytes, first: bytes) -> None:
        assert self._call is not None
        self._reply = Streamed(json.loads(head))
        if not self._call.reply.done():
            self._call.reply.set_result(self._reply)
        if first:
            await self._reply.put(first)

    async def _close_reply(self, failure: FunctionError | None) -> None:
        reply = self._reply
        self._finish(failure)
        if reply is not None:
            await reply.put(None)


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

"""The least an MCP client can be, so that what is timed is the server.

The same client asks our door and the peers: one connection kept open, JSON in, JSON or a single
server-sent event out, and the text of the answer handed on. It speaks both protocol eras: the
newest, which the SDK's own client picks where a server offers it, has no handshake and no session.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse
from subprocess import Popen
from typing import Any
from urllib.parse import urlsplit

from tests.bench.peers.peer import PeerUnavailable
from tests.bench.peers.processes import line_pipes

NEWEST = "2026-07-28"
HANDSHAKE = "2025-06-18"
HELLO = {
    "protocolVersion": HANDSHAKE,
    "capabilities": {},
    "clientInfo": {"name": "judgment-bench", "version": "1"},
}
META = {
    "io.modelcontextprotocol/protocolVersion": NEWEST,
    "io.modelcontextprotocol/clientCapabilities": {},
}
Message = dict[str, Any]


class HttpMcp:
    """A client over streamable HTTP in one era. Raises PeerUnavailable when refused."""

    def __init__(self, url: str, headers: Mapping[str, str] | None = None, era: str = NEWEST):
        parts = urlsplit(url)
        self._path = parts.path + (f"?{parts.query}" if parts.query else "")
        self._connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            **(headers or {}),
        }
        self._ids = itertools.count(1)
        self._era = era
        if era != NEWEST:
            self._greet()
        self._headers["MCP-Protocol-Version"] = era

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """The text of a tool's answer. Raises PeerUnavailable if it is an error."""
        params: Message = {"name": tool, "arguments": dict(arguments)}
        if self._era == NEWEST:
            params["_meta"] = META
            self._headers.update({"Mcp-Method": "tools/call", "Mcp-Name": tool})
        return _text_of(self._ask("tools/call", params))

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _greet(self) -> None:
        self._ask("initialize", HELLO)
        self._headers["MCP-Protocol-Version"] = self._era
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def _ask(self, method: str, params: Mapping[str, Any]) -> Message:
        body = self._send(
            {"jsonrpc": "2.0", "id": next(self._ids), "method": method, "params": dict(params)}
        )
        answer: Message = json.loads(body)
        return answer

    def _send(self, message: Message) -> bytes:
        payload = json.dumps(message)
        try:
            response, body = self._exchange(payload)
        except (OSError, HTTPException):
            # A server may drop a connection that idled while the other peers started.
            self._connection.close()
            try:
                response, body = self._exchange(payload)
            except (OSError, HTTPException) as reason:
                raise PeerUnavailable(f"{type(reason).__name__}: {reason}") from reason
        if response.status >= 400:
            raise PeerUnavailable(f"HTTP {response.status}: {body[:200]!r}")
        session = response.getheader("Mcp-Session-Id")
        if session:
            self._headers["Mcp-Session-Id"] = session
        if (response.getheader("Content-Type") or "").startswith("text/event-stream"):
            return _last_event(body)
        return body

    def _exchange(self, payload: str) -> tuple[HTTPResponse, bytes]:
        self._connection.request("POST", self._path, payload, self._headers)
        response = self._connection.getresponse()
        return response, response.read()


class StdioMcp:
    """A session over a child's standard input and output."""

    def __init__(self, process: Popen[bytes]):
        self._in, self._out = line_pipes(process)
        self._ids = itertools.count(1)
        self._ask("initialize", HELLO)
        self._write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, arguments: Mapping[str, Any]) -> str:
        """The text of a tool's answer. Raises PeerUnavailable if it is an error."""
        return _text_of(self._ask("tools/call", {"name": tool, "arguments": dict(arguments)}))

    def _ask(self, method: str, params: Mapping[str, Any]) -> Message:
        number = next(self._ids)
        self._write({"jsonrpc": "2.0", "id": number, "method": method, "params": dict(params)})
        while line := self._out.readline():
            answer: Message = json.loads(line)
            if answer.get("id") == number:
                return answer
        raise PeerUnavailable("it closed its output")

    def _write(self, message: Message) -> None:
        try:
            self._in.write(json.dumps(message).encode() + b"\n")
            self._in.flush()
        except OSError as reason:
            raise PeerUnavailable(f"{type(reason).__name__}: {reason}") from reason


@contextmanager
def http_session(
    url: str, headers: Mapping[str, str] | None = None, era: str = NEWEST
) -> Iterator[HttpMcp]:
    """A client ready to call, closed on leaving."""
    session = HttpMcp(url, headers, era)
    try:
        yield session
    finally:
        session.close()


def _last_event(body: bytes) -> bytes:
    events = [line[5:] for line in body.splitlines() if line.startswith(b"data:")]
    if not events:
        raise PeerUnavailable(f"no event in {body[:200]!r}")
    return events[-1]


def _text_of(answer: Message) -> str:
    result = answer.get("result")
    if result is None or result.get("isError"):
        raise PeerUnavailable(f"refused: {json.dumps(answer)[:300]}")
    return "\n".join(part["text"] for part in result["content"] if part["type"] == "text")

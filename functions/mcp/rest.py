"""The one way this door gets data: a call of our own REST API in the caller's name.

It goes out by the standard library's client on a kept connection. The SDK's own client costs ten
times the CPU for the same GET, which is half of this door's (docs/benchmarks.md). The call blocks
the event loop; an environment serves one invocation at a time, so that nothing else waits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ssl import SSLError
from typing import Any
from urllib.parse import SplitResult, urlencode, urlsplit

from judgment.entry.event import CORRELATION_HEADER, VIA_HEADER
from judgment.kit.errors import Unavailable

CONNECT_SECONDS = 3.0
ANSWER_SECONDS = 20.0

_STALE = (ConnectionError, HTTPException, SSLError)

Connect = Callable[[SplitResult], HTTPConnection]


@dataclass(frozen=True)
class Caller:
    """In whose name a call is made, and to which deployment.

    `authorization` is the header as it came, never parsed here; `api_url` has no trailing slash.
    """

    authorization: str
    correlation_id: str
    api_url: str
    scopes: frozenset[str]


@dataclass(frozen=True)
class Answer:
    """What REST said."""

    status: int
    body: bytes


@dataclass(frozen=True)
class _Call:
    method: str
    path: str
    body: bytes | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


def connected(where: SplitResult) -> HTTPConnection:
    """An open connection to that origin. Raises OSError."""
    kind = HTTPSConnection if where.scheme == "https" else HTTPConnection
    connection = kind(where.netloc, timeout=CONNECT_SECONDS)
    connection.connect()
    connection.sock.settimeout(ANSWER_SECONDS)
    return connection


class Rest:
    """A client of our REST API whose connections outlive an invocation. Redirects are answers.

    A kept connection may have been closed while the environment was frozen, and nobody can tell
    whether what was sent on it had been read. Such a call is made once more on a fresh one, so
    that only calls which may arrive twice are made here: reads, and writes under a key.
    """

    def __init__(self, connect: Connect = connected):
        self._connect = connect
        self._kept: dict[str, HTTPConnection] = {}

    def get(self, path: str, query: Mapping[str, Any], caller: Caller) -> Answer:
        """GET `path` as `caller`. Raises Unavailable when no answer arrives."""
        return self._answered(
            _Call("GET", path + (f"?{urlencode(query)}" if query else "")), caller
        )

    def post(
        self, path: str, body: bytes, caller: Caller, *, idempotency_key: str | None = None
    ) -> Answer:
        """POST a JSON `body` as `caller`. Raises Unavailable when no answer arrives.

        Whatever is sent may arrive twice. `idempotency_key` makes the second time repeat the first
        one's answer; without it only what changes nothing may be sent.
        """
        headers = {"Content-Type": "application/json"}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        return self._answered(_Call("POST", path, body, headers), caller)

    def close(self) -> None:
        """Close the kept connections."""
        while self._kept:
            self._kept.popitem()[1].close()

    def _answered(self, call: _Call, caller: Caller) -> Answer:
        try:
            return self._once(call, caller)
        except _STALE:
            pass
        except OSError as error:
            raise Unavailable from error
        try:
            return self._once(call, caller)
        except (OSError, HTTPException) as error:
            raise Unavailable from error

    def _once(self, call: _Call, caller: Caller) -> Answer:
        where = urlsplit(caller.api_url + call.path)
        origin = f"{where.scheme}://{where.netloc}"
        # Kept again only after a whole answer: half of one would be read as the next.
        connection = self._kept.pop(origin, None) or self._connect(where)
        headers = {
            "Authorization": caller.authorization,
            CORRELATION_HEADER: caller.correlation_id,
            VIA_HEADER: "mcp",
            "Accept": "application/json",
            **call.headers,
        }
        target = where.path + (f"?{where.query}" if where.query else "")
        try:
            connection.request(call.method, target, body=call.body, headers=headers)
            response = connection.getresponse()
            answer = Answer(response.status, response.read())
        except (OSError, HTTPException):
            connection.close()
            raise
        self._kept[origin] = connection
        return answer

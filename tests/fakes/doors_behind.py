"""A real door behind the MCP door, without a network: connections that call its handler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http.client import RemoteDisconnected
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, parse_qs, urlsplit

from tests.fakes.events import http_event

if TYPE_CHECKING:
    from judgment.contract.principal import Principal

Handler = Callable[[Mapping[str, Any], Any], Mapping[str, Any]]


class DoorsBehind:
    """Where the MCP door's REST client connects to. `lost` answers are made and never arrive."""

    def __init__(self, handler: Handler, principal: Principal):
        self._handler = handler
        self._principal = principal
        self.lost = 0
        self.asked: list[tuple[str, str]] = []

    def connect(self, _: SplitResult) -> Any:
        """A connection whose requests the door answers."""
        return _Connection(self._answer)

    def _answer(
        self, method: str, target: str, body: bytes | None, headers: Mapping[str, str]
    ) -> _Answered:
        self.asked.append((method, target))
        url = urlsplit(target)
        event = http_event(
            method,
            url.path,
            principal=self._principal,
            query=parse_qs(url.query, keep_blank_values=True) or None,
            headers=dict(headers),
            body=None if body is None else body.decode(),
        )
        reply = self._handler(event, None)
        if self.lost:
            self.lost -= 1
            raise RemoteDisconnected("the answer was lost")
        return _Answered(reply["statusCode"], reply["body"].encode())


class _Answered:
    def __init__(self, status: int, body: bytes):
        self.status = status
        self._body = body

    def read(self) -> bytes:
        return self._body


class _Connection:
    def __init__(self, answer: Callable[..., _Answered]):
        self._answer = answer
        self._answered: _Answered | None = None

    def request(
        self, method: str, target: str, *, body: bytes | None, headers: Mapping[str, str]
    ) -> None:
        self._answered = self._answer(method, target, body, headers)

    def getresponse(self) -> _Answered:
        assert self._answered is not None
        return self._answered

    def close(self) -> None:
        self._answered = None

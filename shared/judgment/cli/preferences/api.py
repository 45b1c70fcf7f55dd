"""The routes of preferences, called as the owner where there is a token, else as an agent."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from judgment.cli.api import TIMEOUT_SECONDS, Call, order, send
from judgment.contract import preferences as wire
from judgment.kit.settings import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from judgment.cli.wiring import Access

M = TypeVar("M", bound=BaseModel)

AGENT = "/api/agent/v1/preferences"
OWNER = "/api/v1/preferences"


class PreferencesApi:
    """One method a route. Every one raises the API's own refusal, and Unavailable."""

    def __init__(self, access: Access):
        self._access = access

    def capture(self, signals: Sequence[dict[str, Any]], seconds: float) -> wire.Captured:
        """Keep statements (the shape of `NewSignal`), all or none, within `seconds`."""
        body = {"signals": list(signals)}
        return self._any("POST", "/signals", wire.Captured, body=body, seconds=seconds)

    def pages(
        self, *, platform: str | None = None, audience: str | None = None, purpose: str = "read"
    ) -> Iterator[wire.Preferences]:
        """The compiled document, page after page; at least one."""
        cursor: str | None = None
        while True:
            query = {
                "platform": platform,
                "audience": audience,
                "purpose": purpose if audience else None,
                "limit": wire.PAGE_LIMIT,
                "cursor": cursor,
            }
            page = self._any("GET", "", wire.Preferences, query=query)
            yield page
            cursor = page.next_cursor
            if cursor is None:
                return

    def why(self, key: str, platform: str | None) -> wire.Why:
        """Every candidate for a key."""
        return self._any("GET", "/why", wire.Why, query={"key": key, "platform": platform})

    def solve(self, request: dict[str, Any]) -> wire.Solved:
        """Rank options (the shape of `SolveRequest`)."""
        return self._any("POST", "/solve", wire.Solved, body=request)

    def consent(self) -> wire.Consent:
        """The history of consent. The owner's alone."""
        return self._owner("GET", "/consent", wire.Consent)

    def grant(self, request: dict[str, Any]) -> wire.ConsentEvent:
        """Allow, deny, or lift (the shape of `GrantRequest`). The owner's alone."""
        return self._owner("POST", "/consent", wire.ConsentEvent, body=request)

    def revoke(self, request: dict[str, Any]) -> wire.ConsentEvent:
        """Take back (the shape of `RevokeRequest`). The owner's alone."""
        return self._owner("POST", "/consent/revocations", wire.ConsentEvent, body=request)

    def ledger(self, limit: int) -> Iterator[wire.LedgerEntry]:
        """Up to `limit` entries, newest first. The owner's alone."""
        cursor: str | None = None
        while limit > 0:
            query = {"limit": min(limit, wire.PAGE_LIMIT), "cursor": cursor}
            page = self._owner("GET", "/ledger", wire.LedgerPage, query=query)
            yield from page.entries
            limit -= len(page.entries)
            cursor = page.next_cursor
            if cursor is None:
                return

    def verify(self) -> wire.LedgerVerification:
        """Whether the ledger is whole. The owner's alone."""
        return self._owner("GET", "/ledger/verification", wire.LedgerVerification)

    def statements(self, key: str) -> list[wire.StatedSignal]:
        """Everything that was ever said about a key. The owner's alone."""
        found: list[wire.StatedSignal] = []
        cursor: str | None = None
        while True:
            query = {"key": key, "limit": wire.PAGE_LIMIT, "cursor": cursor}
            page = self._owner("GET", "/signals", wire.SignalPage, query=query)
            found += page.signals
            cursor = page.next_cursor
            if cursor is None:
                return found

    def delete(self, signal_id: str) -> None:
        """Delete one statement for good. The owner's alone."""
        path = f"{OWNER}/signals/{quote(signal_id, safe='')}"
        order(self._access.sync_api_url, self._token(), Call("DELETE", path))

    def _any(
        self,
        method: str,
        path: str,
        model: type[M],
        *,
        query: dict[str, Any] | None = None,
        body: Any = None,
        seconds: float = TIMEOUT_SECONDS,
    ) -> M:
        token, key = self._access.sync_owner_token, self._access.sync_api_key
        base, credential = (OWNER, token) if token else (AGENT, key or "")
        call = Call(method, base + path, query, body, seconds)
        return send(self._access.sync_api_url, credential, call, model)

    def _owner(
        self,
        method: str,
        path: str,
        model: type[M],
        *,
        query: dict[str, Any] | None = None,
        body: Any = None,
    ) -> M:
        call = Call(method, OWNER + path, query, body)
        return send(self._access.sync_api_url, self._token(), call, model)

    def require_owner(self) -> None:
        """Raises SettingError without an owner's token."""
        self._token()

    def _token(self) -> str:
        if not self._access.sync_owner_token:
            raise SettingError("SYNC_OWNER_TOKEN is required: this is the owner's own to ask")
        return self._access.sync_owner_token

"""A host of an account: where its credentials lie, and the stores that are opened with them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from judgment.preferences.fulcra.store import FulcraStore

if TYPE_CHECKING:
    from judgment.preferences.fulcra.client import Settings
    from tests.fakes.fulcra_server import FulcraServer

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)


@dataclass(frozen=True)
class Desk:
    """A host: its credentials file, and stores that are opened with it."""

    server: FulcraServer
    settings: Settings

    def sign_in(self, *, renewable: bool = False) -> dict[str, Any]:
        """Write the credentials that `fulcra auth login` would write, or without the means to
        renew them: the package tries that for seconds when nobody answers."""
        tokens = self.server.sessions.issue()
        if not renewable:
            del tokens["refresh_token"]
        self.settings.credentials.parent.mkdir(parents=True, exist_ok=True)
        self.settings.credentials.write_text(json.dumps(tokens))
        return tokens

    def store(self, definition_id: str | None = None) -> FulcraStore:
        """The account as this host sees it."""
        return FulcraStore.open(self.settings, definition_id, lambda: NOW)

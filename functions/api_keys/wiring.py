"""What `api_keys` touches: Postgres as `judgment_owner`."""

from __future__ import annotations

import os
from dataclasses import dataclass

from judgment.access import store
from judgment.access.keys import AgentKeys
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.settings import read_settings
from judgment.queue.idempotency import idempotent


@dataclass(frozen=True)
class Settings:
    """Environment of `api_keys`."""

    database_url: str


def wire() -> tuple[AgentKeys, Telemetry]:
    """The door's parts over the real adapters. Raises SettingError."""
    settings = read_settings(Settings, os.environ)
    database = Database(settings.database_url, application_name="api_keys")
    return AgentKeys(database.transaction, store, idempotent), Telemetry("api_keys")

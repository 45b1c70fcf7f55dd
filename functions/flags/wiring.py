"""What `flags` touches: Postgres as `judgment_worker`."""

from __future__ import annotations

import os
from dataclasses import dataclass

from judgment.access import store
from judgment.access.flags import KillSwitch
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.settings import read_settings


@dataclass(frozen=True)
class Settings:
    """Environment of `flags`."""

    database_url: str


def wire() -> tuple[KillSwitch, Telemetry]:
    """The door's parts over the real adapters. Raises SettingError."""
    settings = read_settings(Settings, os.environ)
    database = Database(settings.database_url, application_name="flags")
    return KillSwitch(database.transaction, store), Telemetry("flags")

"""What `preference_compile` touches: Postgres as `judgment_worker`."""

from __future__ import annotations

import os
from dataclasses import dataclass

from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.settings import read_settings
from judgment.preferences.recompiling import Recompiling


@dataclass(frozen=True)
class Settings:
    """Environment of `preference_compile`."""

    database_url: str


def wire() -> tuple[Recompiling, Telemetry]:
    """The door's parts over the real adapters. Raises SettingError."""
    settings = read_settings(Settings, os.environ)
    database = Database(settings.database_url, application_name="preference_compile")
    return Recompiling(database.transaction), Telemetry("preference_compile")

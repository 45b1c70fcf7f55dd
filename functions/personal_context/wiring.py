"""What `personal_context` touches: Postgres as `judgment_owner`."""

from __future__ import annotations

import os
from dataclasses import dataclass

from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.settings import read_settings
from judgment.scenarios.personal.context import PersonalContexts


@dataclass(frozen=True)
class Settings:
    """Environment of `personal_context`."""

    database_url: str


def wire() -> tuple[PersonalContexts, Telemetry]:
    """The door's parts over the real adapters. Raises SettingError."""
    settings = read_settings(Settings, os.environ)
    database = Database(settings.database_url, application_name="personal_context")
    return PersonalContexts(database.transaction), Telemetry("personal_context")

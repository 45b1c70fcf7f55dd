"""What `migrate` touches: Postgres as `judgment_migrate`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

from judgment.db.connection import connection_string
from judgment.entry.observability import Telemetry
from judgment.kit.settings import read_settings


@dataclass(frozen=True)
class Settings:
    """Environment of `migrate`."""

    database_url: str


def wire() -> tuple[Callable[[], str], Telemetry]:
    """The door's parts over the real adapters. Raises SettingError."""
    settings = read_settings(Settings, os.environ)
    return lambda: connection_string(settings.database_url), Telemetry("migrate")

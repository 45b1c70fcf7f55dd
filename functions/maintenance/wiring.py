"""What `maintenance` touches: Postgres as `judgment_worker`, and the event bus."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.settings import read_settings
from judgment.queue.bus import EventBridgeBus, EventBus

if TYPE_CHECKING:
    from judgment.queue.outbox import Begin


@dataclass(frozen=True)
class Settings:
    """Environment of `maintenance`."""

    database_url: str
    event_bus_name: str


def wire() -> tuple[Begin, EventBus, Telemetry]:
    """The door's parts over the real adapters. Raises SettingError."""
    settings = read_settings(Settings, os.environ)
    database = Database(settings.database_url, application_name="maintenance")
    bus = EventBridgeBus.named(settings.event_bus_name)
    return database.transaction, bus, Telemetry("maintenance")

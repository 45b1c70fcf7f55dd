"""What `maintenance` touches: Postgres as `judgment_worker`, the event bus, summaries' queue."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.clock import utc_now
from judgment.kit.settings import read_settings
from judgment.queue.bus import EventBridgeBus, EventBus
from judgment.queue.jobs import SqsQueue
from judgment.summary.debounce import WINDOW
from judgment.summary.wakeups import wake_overdue

if TYPE_CHECKING:
    from judgment.queue.outbox import Begin
    from judgment.summary.wakeups import WakeOverdue


@dataclass(frozen=True)
class Settings:
    """Environment of `maintenance`."""

    database_url: str
    event_bus_name: str
    queue_url_summary: str
    summary_window_seconds: float = WINDOW.total_seconds()


def wire() -> tuple[Begin, EventBus, WakeOverdue, Telemetry]:
    """The door's parts over the real adapters. Raises SettingError."""
    settings = read_settings(Settings, os.environ)
    database = Database(settings.database_url, application_name="maintenance")
    bus = EventBridgeBus.named(settings.event_bus_name)
    summaries = partial(
        wake_overdue,
        database.transaction,
        SqsQueue.at(settings.queue_url_summary),
        utc_now,
        timedelta(seconds=settings.summary_window_seconds),
    )
    return database.transaction, bus, summaries, Telemetry("maintenance")

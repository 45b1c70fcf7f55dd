"""What `rounds` touches: Postgres as `judgment_owner`, the event bus, the queue of summaries."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.settings import read_settings
from judgment.profile import store as profiles
from judgment.profile.progress import ProfileProgress
from judgment.queue.bus import EventBridgeBus
from judgment.queue.idempotency import idempotent
from judgment.queue.jobs import SqsQueue
from judgment.scenarios import choosing
from judgment.scenarios.ports import Summaries
from judgment.scenarios.rounds import Rounds
from judgment.summary.debounce import WINDOW
from judgment.summary.moves import request_if_moved
from judgment.summary.wakeups import wake


@dataclass(frozen=True)
class Settings:
    """Environment of `rounds`."""

    database_url: str
    event_bus_name: str
    queue_url_summary: str
    summary_window_seconds: float = WINDOW.total_seconds()
    retest_after_days: int = choosing.Settings.retest_after_days
    retest_one_in: int = choosing.Settings.retest_one_in


def wire() -> tuple[Rounds, Telemetry]:
    """The door's parts over the real adapters. Raises SettingError."""
    settings = read_settings(Settings, os.environ)
    rounds = Rounds(
        Database(settings.database_url, application_name="rounds").transaction,
        EventBridgeBus.named(settings.event_bus_name),
        ProfileProgress(profiles),
        Summaries(
            partial(request_if_moved, window=timedelta(seconds=settings.summary_window_seconds)),
            partial(wake, SqsQueue.at(settings.queue_url_summary)),
        ),
        idempotent,
        choosing.Settings(settings.retest_after_days, settings.retest_one_in),
    )
    return rounds, Telemetry("rounds")

"""What `decision_intake` touches: Postgres as `judgment_worker`, and the queue of summaries."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.settings import read_settings
from judgment.queue.jobs import SqsQueue
from judgment.scenarios.intake import DecisionIntake
from judgment.scenarios.ports import Summaries
from judgment.summary.debounce import WINDOW
from judgment.summary.moves import request_if_moved
from judgment.summary.wakeups import wake


@dataclass(frozen=True)
class Settings:
    """Environment of `decision_intake`."""

    database_url: str
    queue_url_summary: str
    summary_window_seconds: float = WINDOW.total_seconds()


def wire() -> tuple[DecisionIntake, Telemetry]:
    """The door's parts over the real adapters. Raises SettingError."""
    settings = read_settings(Settings, os.environ)
    database = Database(settings.database_url, application_name="decision_intake")
    window = timedelta(seconds=settings.summary_window_seconds)
    summaries = Summaries(
        partial(request_if_moved, window=window),
        partial(wake, SqsQueue.at(settings.queue_url_summary)),
    )
    return DecisionIntake(database.transaction, summaries), Telemetry("decision_intake")

"""What `summary_regen` touches: Postgres as `judgment_worker`, models and their keys, its queue."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.entry.secrets import secret
from judgment.kit.ids import new_id
from judgment.kit.settings import read_settings
from judgment.llm import store as model_rows
from judgment.llm.client import ModelClient
from judgment.llm.keys import StoredKeys
from judgment.llm.service import OwnersChoices
from judgment.llm.settings import ModelSettings, configured
from judgment.queue.jobs import SqsQueue
from judgment.summary.debounce import WINDOW
from judgment.summary.regenerate import Accounts, Regeneration

if TYPE_CHECKING:
    from judgment.queue.jobs import JobQueue


@dataclass(frozen=True)
class Settings:
    """Environment of `summary_regen`, beside that of the models."""

    database_url: str
    queue_url_summary: str
    summary_window_seconds: float = WINDOW.total_seconds()


def wire() -> tuple[Regeneration, JobQueue, Telemetry]:
    """The door's parts over the real adapters. Raises SettingError."""
    settings = read_settings(Settings, os.environ)
    config = configured(read_settings(ModelSettings, os.environ))
    database = Database(settings.database_url, application_name="summary_regen")
    choices = OwnersChoices(database.transaction, model_rows, config)
    regeneration = Regeneration(
        database.transaction,
        Accounts(choices.own, partial(model_rows.record_calls, new_id=new_id)),
        ModelClient(config, StoredKeys(config, secret)),
        window=timedelta(seconds=settings.summary_window_seconds),
    )
    return regeneration, SqsQueue.at(settings.queue_url_summary), Telemetry("summary_regen")

"""What `account` touches: Postgres as `judgment_owner`."""

from __future__ import annotations

import os
from dataclasses import dataclass

from judgment.access import store
from judgment.access.account import Account
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.settings import read_settings
from judgment.llm import store as model_rows
from judgment.llm.service import OwnersChoices
from judgment.llm.settings import ModelSettings, configured


@dataclass(frozen=True)
class Settings:
    """Environment of `account`."""

    database_url: str


def wire() -> tuple[Account, OwnersChoices, Telemetry]:
    """The door's parts over the real adapters. Raises SettingError."""
    settings = read_settings(Settings, os.environ)
    database = Database(settings.database_url, application_name="account")
    models = configured(read_settings(ModelSettings, os.environ))
    choices = OwnersChoices(database.transaction, model_rows, models)
    return Account(database.transaction, store), choices, Telemetry("account")

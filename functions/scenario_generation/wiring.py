"""What `scenario_generation` touches: Postgres as `judgment_owner`, a model provider, the secrets
with models' keys, one DynamoDB table and the event bus."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any, cast

import boto3

from judgment.access.counters import CLIENT_CONFIG, DynamoCounters
from judgment.access.limits import Limit, RateLimiter
from judgment.db.connection import Database
from judgment.entry.observability import RATE_LIMITER_UNAVAILABLE, Telemetry
from judgment.entry.secrets import secret
from judgment.kit.settings import read_settings
from judgment.llm import store as model_rows
from judgment.llm.client import ModelClient
from judgment.llm.keys import StoredKeys
from judgment.llm.service import OwnersChoices
from judgment.llm.settings import ModelSettings, configured
from judgment.queue.bus import EventBridgeBus
from judgment.scenarios.personal.making import DAY, PersonalRounds

ATTEMPT_SECONDS = 12.0
"""The longest that one call may take, so that an answer and its repair fit into 29 seconds."""


@dataclass(frozen=True)
class Settings:
    """Environment of `scenario_generation`, besides what `judgment.llm` reads."""

    database_url: str
    event_bus_name: str
    rate_limit_table: str
    limit_personal_scenarios_per_day: int = 20


def wire() -> tuple[PersonalRounds, Telemetry]:
    """The door's parts over the real adapters. Raises SettingError."""
    s = read_settings(Settings, os.environ)
    config = configured(read_settings(ModelSettings, os.environ))
    config = replace(config, timeout_seconds=min(config.timeout_seconds, ATTEMPT_SECONDS))
    telemetry = Telemetry("scenario_generation")
    database = Database(s.database_url, application_name="scenario_generation")
    client = cast("Any", boto3).client("dynamodb", config=CLIENT_CONFIG)
    rounds = PersonalRounds(
        database.transaction,
        ModelClient(config, StoredKeys(config, secret)),
        OwnersChoices(database.transaction, model_rows, config).own,
        RateLimiter(
            DynamoCounters(client, s.rate_limit_table),
            lambda: telemetry.count(RATE_LIMITER_UNAVAILABLE),
        ),
        Limit("personal_scenarios", s.limit_personal_scenarios_per_day, DAY),
        EventBridgeBus.named(s.event_bus_name),
    )
    return rounds, telemetry

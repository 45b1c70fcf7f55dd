"""What `profile_read` touches: Postgres as `judgment_reader`, and one DynamoDB table."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, cast

import boto3

from judgment.access.counters import CLIENT_CONFIG, DynamoCounters
from judgment.access.gate import ReadGate
from judgment.access.limits import Limit, RateLimiter
from judgment.access.store import agent_access
from judgment.db.connection import Database
from judgment.entry.observability import RATE_LIMITER_UNAVAILABLE, Telemetry
from judgment.kit.settings import read_settings
from judgment.profile import store
from judgment.profile.service import ProfileService


@dataclass(frozen=True)
class Settings:
    """Environment of `profile_read`; the limits are per key and hour (seed 000 §10.2)."""

    database_url: str
    rate_limit_table: str
    limit_profile_per_hour: int = 600
    limit_recent_decisions_per_hour: int = 200


def wire() -> tuple[ReadGate, ProfileService, dict[str, Limit], Telemetry]:
    """The door's parts over the real adapters. Raises SettingError."""
    s = read_settings(Settings, os.environ)
    telemetry = Telemetry("profile_read")
    client = cast("Any", boto3).client("dynamodb", config=CLIENT_CONFIG)
    limiter = RateLimiter(
        DynamoCounters(client, s.rate_limit_table),
        lambda: telemetry.count(RATE_LIMITER_UNAVAILABLE),
    )
    database = Database(s.database_url, application_name="profile_read")
    gate = ReadGate(database.transaction, agent_access, limiter)
    limits = {
        "profile": Limit("profile", s.limit_profile_per_hour),
        "recent_decisions": Limit("recent_decisions", s.limit_recent_decisions_per_hour),
    }
    return gate, ProfileService(store), limits, telemetry

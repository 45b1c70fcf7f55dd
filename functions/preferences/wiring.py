"""What `preferences` touches: Postgres as `judgment_preferences`, the bus, one DynamoDB table."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import boto3

from judgment.access.counters import CLIENT_CONFIG, DynamoCounters
from judgment.access.gate import ReadGate
from judgment.access.limits import Limit, RateLimiter
from judgment.access.store import agent_access
from judgment.db.connection import Database
from judgment.entry.observability import RATE_LIMITER_UNAVAILABLE, Telemetry
from judgment.kit.settings import read_settings
from judgment.preferences.capturing import Capturing
from judgment.preferences.consenting import Consenting
from judgment.preferences.deciding import Deciding
from judgment.preferences.reading import Reading
from judgment.queue.bus import EventBridgeBus
from judgment.queue.idempotency import idempotent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from judgment.access.gate import BeginRead


@dataclass(frozen=True)
class Settings:
    """Environment of `preferences`; the limits are per key and hour."""

    database_url: str
    event_bus_name: str
    rate_limit_table: str
    limit_preferences_per_hour: int = 600
    limit_preference_captures_per_hour: int = 600
    limit_preference_solves_per_hour: int = 120


@dataclass(frozen=True)
class Parts:
    """What the door is put together from; `limits` by the name that the route table gives them."""

    begin: BeginRead
    gate: ReadGate
    limits: Mapping[str, Limit]
    capturing: Capturing
    reading: Reading
    deciding: Deciding
    consenting: Consenting


def wire() -> tuple[Parts, Telemetry]:
    """The door's parts over the real adapters. Raises SettingError."""
    s = read_settings(Settings, os.environ)
    telemetry = Telemetry("preferences")
    client = cast("Any", boto3).client("dynamodb", config=CLIENT_CONFIG)
    limiter = RateLimiter(
        DynamoCounters(client, s.rate_limit_table),
        lambda: telemetry.count(RATE_LIMITER_UNAVAILABLE),
    )
    begin = Database(s.database_url, application_name="preferences").transaction
    bus = EventBridgeBus.named(s.event_bus_name)
    parts = Parts(
        begin,
        ReadGate(begin, agent_access, limiter),
        {
            "preferences": Limit("preferences", s.limit_preferences_per_hour),
            "preference_captures": Limit(
                "preference_captures", s.limit_preference_captures_per_hour
            ),
            "preference_solves": Limit("preference_solves", s.limit_preference_solves_per_hour),
        },
        Capturing(begin, bus, idempotent),
        Reading(),
        Deciding(),
        Consenting(begin, bus, idempotent),
    )
    return parts, telemetry

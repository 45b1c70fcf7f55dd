"""Events and jobs: versioned, ids only (ruling 24). `EVENTS` is the catalogue of what we emit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from pydantic import Field

from judgment.contract.wire import RequestModel

SOURCE = "judgment"
SYNC_SOURCE = "sync"
"""The source an existing Sync app's events carry; the rule of `decision_intake` matches no other
(ruling 24)."""
CORRELATION_LIMIT = 128
EventType = Literal[
    "decision.recorded",
    "profile.changed",
    "preference.captured",
    "consent.changed",
    "scenario.fell_back",
    "prediction.failed",
]


@dataclass(frozen=True)
class EventKind:
    """A row of the event catalogue: what happened, what its ids are, which part emits it."""

    type: EventType
    version: int
    subject: str
    meaning: str
    part: int


EVENTS: tuple[EventKind, ...] = (
    EventKind("decision.recorded", 1, "decision id", "An owner's decision was stored.", 2),
    EventKind("profile.changed", 1, "owner id", "A judgment profile was updated.", 2),
    EventKind("preference.captured", 1, "signal id", "A preference signal came or was deleted.", 3),
    EventKind("consent.changed", 1, "grant id", "A grant was made, narrowed or revoked.", 3),
    EventKind("scenario.fell_back", 1, "scenario id", "A canonical round replaced a made one.", 2),
    EventKind("prediction.failed", 1, "prediction id", "A prediction ended in an error.", 6),
)


class Event(RequestModel):
    """The detail of one event on the bus. `id` is the outbox id, unique for ever."""

    id: UUID
    type: EventType
    version: int = Field(default=1, ge=1)
    user_id: UUID
    subject_id: UUID
    correlation_id: str = Field(min_length=1, max_length=CORRELATION_LIMIT)


class SummaryWakeUp(RequestModel):
    """The delayed message of the debounce: look whether this owner's summary is due.

    A hint and no more: it may be lost, late or doubled without harm.
    """

    user_id: UUID
    correlation_id: str = Field(min_length=1, max_length=CORRELATION_LIMIT)

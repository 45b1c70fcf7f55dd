"""A preference signal, and the one order in which signals stand.

Source: seed 001 "Signal schema"; ruling 15.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from judgment.kit.errors import InvalidRequest

Kind = Literal["preference", "fact", "consent"]
KINDS: tuple[Kind, ...] = ("preference", "fact", "consent")
SCHEMA_VERSION = 1
GLOBAL = "global"
PLATFORM_SCOPE = "platform:"

OrderKey = tuple[datetime, int, int, datetime, str]


class InvalidSignal(InvalidRequest):
    """A signal that breaks the model; the message names the field and never repeats its value."""


@dataclass(frozen=True, slots=True)
class Source:
    """Where a signal was heard. `sequence` counts the statements of one session from 0."""

    platform: str
    agent: str | None = None
    session: str | None = None
    sequence: int = 0


@dataclass(frozen=True, slots=True)
class Signal:
    """One typed statement about what an owner wants, as it was heard.

    `key` is in NFC and compared case-exactly; `spelling` keeps how it was written where that
    differs. `value` is any finite JSON value and is never altered. `strength` is within [-1, 1],
    below zero an aversion; `confidence` within [0, 1]; `half_life_days` positive, or None for what
    does not fade. Times are aware and in UTC. `recorded_at` and `position` are given by the store
    that took it (position 0: not stored yet). `aliases` are other names by which a `supersedes`
    may mean it. `naive_time` marks a time without a zone, read as UTC.
    """

    id: str
    kind: Kind
    key: str
    scope: str
    value: Any
    strength: float
    confidence: float
    half_life_days: float | None
    observed_at: datetime
    source: Source
    supersedes: str | None = None
    recorded_at: datetime | None = None
    position: int = 0
    spelling: str | None = None
    naive_time: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def platform(self) -> str | None:
        """The platform this signal is for, or None where it is for all."""
        if self.scope == GLOBAL:
            return None
        return self.scope[len(PLATFORM_SCOPE) :]

"""How often a key or an owner may do a thing: fixed windows, counted outside this process.

A window begins at a multiple of its length since the epoch, so that all environments agree on it
without asking. Fixed windows let two full ones pass back to back; that is said in docs/api.md.
Source: seed 000 §10.2, ruling 32.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from judgment.kit.clock import Clock, utc_now
from judgment.kit.errors import RateLimited, Unavailable

HOUR = 3_600
DAY = 24 * HOUR
BREAKER_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `most` uses of `name` per `window_seconds` and subject."""

    name: str
    most: int
    window_seconds: int = HOUR

    def __str__(self) -> str:
        """The limit as a refusal says it."""
        spans = {HOUR: "an hour", DAY: "a day"}
        span = spans.get(self.window_seconds, f"in {self.window_seconds} seconds")
        return f"At most {self.most} of these {span}."

    def window(self, now: datetime) -> tuple[int, int]:
        """First and last-plus-one second (since the epoch) of the window `now` falls in."""
        start = int(now.timestamp()) // self.window_seconds * self.window_seconds
        return start, start + self.window_seconds

    def retry_after(self, now: datetime) -> int:
        """Whole seconds until the next window, rounded up, at least 1."""
        return max(1, math.ceil(self.window(now)[1] - now.timestamp()))


class Counters(Protocol):
    """Where uses are counted."""

    def take(self, subject: str, limit: Limit, now: datetime) -> bool:
        """Count one use, unless `limit.most` were counted in this window; say if it was counted.

        Exact under concurrency. Raises Unavailable when the counters cannot be reached.
        """
        ...


class RateLimiter:
    """Counters with a policy for their outage.

    After an outage the counters are left alone for a few seconds, so that a dead counter store
    costs one time-out per environment and not one per request. `on_outage` is called for every
    request that was not counted.
    """

    def __init__(
        self,
        counters: Counters,
        on_outage: Callable[[], None],
        clock: Clock = utc_now,
        monotonic: Callable[[], float] = time.monotonic,
    ):
        self._counters = counters
        self._on_outage = on_outage
        self._clock = clock
        self._monotonic = monotonic
        self._closed_until = 0.0

    def require(self, subject: str, limit: Limit) -> None:
        """Count one use. Raises RateLimited when the window is full; an outage lets it pass.

        For reads. What spends money asks `require_counted`.
        """
        try:
            self.require_counted(subject, limit)
        except Unavailable:
            self._on_outage()

    def require_counted(self, subject: str, limit: Limit) -> None:
        """Count one use. Raises RateLimited when full and Unavailable when it was not counted."""
        if self._monotonic() < self._closed_until:
            raise Unavailable
        now = self._clock()
        try:
            taken = self._counters.take(subject, limit, now)
        except Unavailable:
            self._closed_until = self._monotonic() + BREAKER_SECONDS
            raise
        if not taken:
            raise RateLimited(str(limit), retry_after_seconds=limit.retry_after(now))

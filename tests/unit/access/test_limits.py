"""Limits are exact at the edges of their window and forgiving only where that is said."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.access.limits import BREAKER_SECONDS, Limit, RateLimiter
from judgment.kit.errors import RateLimited, Unavailable
from tests.fakes.counters import MemoryCounters

READS = Limit("profile", 3)
NOON = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)


class Harness:
    """A limiter over counters in memory, with both clocks in the test's hand."""

    def __init__(self) -> None:
        self.now = NOON
        self.monotonic = 100.0
        self.outages = 0
        self.counters = MemoryCounters()
        self.limiter = RateLimiter(
            self.counters, self._outage, lambda: self.now, lambda: self.monotonic
        )

    def _outage(self) -> None:
        self.outages += 1


@pytest.mark.promise("000-10.2", "000-4-limits")
def test_one_more_than_the_limit_is_refused_until_the_next_hour():
    h = Harness()
    h.now = NOON + timedelta(minutes=59, seconds=30)
    for _ in range(3):
        h.limiter.require("key", READS)
    with pytest.raises(RateLimited) as refused:
        h.limiter.require("key", READS)
    assert refused.value.retry_after_seconds == 30
    h.now = NOON + timedelta(hours=1)
    h.limiter.require("key", READS)


def test_keys_and_limits_are_counted_apart():
    h = Harness()
    for subject, limit in (("a", READS), ("b", READS), ("a", Limit("recent_decisions", 3))):
        for _ in range(3):
            h.limiter.require(subject, limit)
    with pytest.raises(RateLimited):
        h.limiter.require("a", READS)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (3_600, "At most 2 of these an hour."),
        (86_400, "At most 2 of these a day."),
        (90, "At most 2 of these in 90 seconds."),
    ],
)
def test_a_limit_is_said_in_the_words_of_its_window(seconds: int, said: str):
    assert str(Limit("reads", 2, seconds)) == said


@given(st.datetimes(datetime(1971, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)))  # noqa: DTZ001
def test_retry_after_is_the_shortest_whole_wait_that_helps(now: datetime):
    wait = READS.retry_after(now)
    assert READS.window(now + timedelta(seconds=wait)) != READS.window(now)
    assert wait == 1 or READS.window(now + timedelta(seconds=wait - 1)) == READS.window(now)
    assert 1 <= wait <= 3600


@pytest.mark.promise("P1-refuse-outage")
def test_an_outage_lets_reads_pass_says_so_each_time_and_is_probed_rarely():
    h = Harness()
    h.counters.down = True
    for _ in range(10):
        h.limiter.require("key", READS)
    assert (h.outages, h.counters.calls) == (10, 1)
    h.monotonic += BREAKER_SECONDS
    h.counters.down = False
    for _ in range(3):
        h.limiter.require("key", READS)
    with pytest.raises(RateLimited):
        h.limiter.require("key", READS)
    assert h.outages == 10


def test_what_spends_money_is_refused_in_an_outage():
    h = Harness()
    h.counters.down = True
    for _ in range(3):
        with pytest.raises(Unavailable):
            h.limiter.require_counted("key", READS)
    assert h.outages == 0

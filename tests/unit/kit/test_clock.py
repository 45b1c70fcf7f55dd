"""Moments are in UTC and written one way."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from judgment.kit.clock import isoformat, utc_now


def test_now_has_a_zone_and_it_is_utc() -> None:
    assert utc_now().utcoffset() == timedelta(0)


def test_a_moment_is_written_in_utc_with_a_z() -> None:
    berlin = timezone(timedelta(hours=2))
    assert isoformat(datetime(2026, 5, 1, 12, tzinfo=berlin)) == "2026-05-01T10:00:00Z"
    assert isoformat(datetime(2026, 5, 1, 0, 0, 0, 5, tzinfo=UTC)) == "2026-05-01T00:00:00.000005Z"


OFFSETS = st.integers(-720, 840).map(lambda minutes: timezone(timedelta(minutes=minutes)))


@given(moment=st.datetimes(min_value=datetime(2, 1, 1), timezones=OFFSETS))  # noqa: DTZ001 - hypothesis wants bounds without a zone
def test_a_written_moment_reads_back_as_itself(moment: datetime) -> None:
    assert datetime.fromisoformat(isoformat(moment)) == moment

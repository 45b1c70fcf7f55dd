"""Moments as they are written in signals and documents.

ISO 8601 calendar times; one without a zone is read as UTC and marked. Years 1970 to 9999.
"""

from __future__ import annotations

from datetime import UTC, datetime

from judgment.preferences.model import InvalidSignal

FIRST_YEAR = 1970


def read_moment(text: object, field: str = "observed_at") -> tuple[datetime, bool]:
    """The moment in UTC, and whether it was written without a zone. Raises InvalidSignal.

    A date alone is its midnight, in UTC and marked.
    """
    if not isinstance(text, str) or not 10 <= len(text) <= 40 or text[4] != "-" or text[7] != "-":
        raise InvalidSignal(f"{field} must be an ISO 8601 date and time")
    try:
        moment = datetime.fromisoformat(text)
        naive = moment.tzinfo is None
        if naive:
            moment = moment.replace(tzinfo=UTC)
        elif moment.tzinfo is not UTC:
            moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidSignal(f"{field} must be an ISO 8601 date and time") from None
    if moment.year < FIRST_YEAR:
        raise InvalidSignal(f"{field} must lie in the years {FIRST_YEAR} to 9999")
    if text[11:13] == "24":  # some Pythons read it as the next midnight, others refuse
        raise InvalidSignal(f"{field} must be an ISO 8601 date and time")
    return moment, naive


def written(moment: datetime, *, naive: bool = False) -> str:
    """ISO 8601 in UTC with `+00:00`, or without a zone where it was given without one."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.replace(tzinfo=None).isoformat() if naive else moment.isoformat()


def days_between(earlier: datetime, later: datetime) -> float:
    """Days from one to the other, never below zero."""
    days = (later - earlier).total_seconds() / 86_400
    return days if days > 0 else 0.0

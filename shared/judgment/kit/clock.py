"""Time as a value that is passed in."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The present moment, timezone-aware, in UTC."""
    return datetime.now(UTC)


def isoformat(moment: datetime) -> str:
    """RFC 3339 in UTC with a `Z`, microseconds only where there are any."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")

"""What an owner might say, as payloads of signals and as compiled documents."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from judgment.preferences.compiling import compile_signals
from judgment.preferences.signals import signal_from

NOON = datetime.fromisoformat("2026-06-10T12:00:00+00:00")


def statement(key: str, value: Any = True, strength: float = 0.8, **more: Any) -> dict[str, Any]:
    """A payload, said at `NOON` on the command line unless `more` says otherwise."""
    said = {"observed_at": NOON.isoformat(), "source": {"platform": "cli"}}
    return {**said, "key": key, "value": value, "strength": strength, **more}


def compiled(
    *statements: Mapping[str, Any], platform: str | None = None, now: datetime = NOON
) -> dict[str, Any]:
    """The document that these payloads make for a platform, or the global one."""
    made = compile_signals([signal_from(s, received_at=now) for s in statements], now)
    return made.documents.get(platform) or made.documents[None]


def many(amount: int, characters: int) -> list[dict[str, Any]]:
    """Statements of decreasing strength whose values come to at least that many characters."""
    length = -(-characters // amount)
    return [
        statement(
            f"topic.area {number:04d}.detail",
            {"like": f"“{number:04d}” " + "very much so, " * (length // 14 + 1)},
            round(1 - number / (2 * amount), 4) * (-1 if number % 5 == 4 else 1),
        )
        for number in range(amount)
    ]

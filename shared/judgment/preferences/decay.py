"""What is left of a statement's strength, and when a lasting one wants a second look.

Source: seed 001 "Decay at compile"; weights are rounded, an owner's own values never.
"""

from __future__ import annotations

STALE_AFTER_DAYS = 180
OVERLAY_FLOOR = 0.05
"""Below this, in absolute weight, a platform's entry hides no global one (ruling 15)."""
DECIMALS = 6


def weight_at(strength: float, half_life_days: float | None, age_days: float) -> float:
    """`strength * 2 ** (-age / half_life)`, to six decimals; without a half-life the strength.

    Strength within [-1, 1], half-life above 0, age clamped to at least 0. Never `-0.0`.
    """
    if half_life_days is None or age_days <= 0:
        return round(strength, DECIMALS) + 0.0
    return round(strength * 2.0 ** (-age_days / half_life_days), DECIMALS) + 0.0


def is_stale(half_life_days: float | None, age_days: float) -> bool:
    """Whether something that never fades was last stated more than 180 days ago."""
    return half_life_days is None and age_days > STALE_AFTER_DAYS

"""What was measured, and the two comparisons the budgets are stated in: ratio and difference.

A round gives each case one figure (the median of its calls in that round). Comparisons pair the
figures of the same round first and take the median over rounds afterwards, so that a load that
comes and goes falls on both sides of each pair.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Series:
    """One case: wall and own-process CPU milliseconds a call, one figure a round.

    `slowest_ms` holds the 95th percentile of each round's calls.
    """

    name: str
    wall_ms: tuple[float, ...]
    cpu_ms: tuple[float, ...]
    slowest_ms: tuple[float, ...]

    @property
    def wall(self) -> float:
        """Median wall milliseconds of one call."""
        return median(self.wall_ms)

    @property
    def quiet(self) -> float:
        """Wall milliseconds of one call in the quietest tenth of the rounds.

        What a budget in milliseconds is held against: other work on a shared machine can only add.
        """
        return quantile(self.wall_ms, 0.1)

    @property
    def cpu(self) -> float:
        """Median CPU milliseconds of one call, this process alone."""
        return median(self.cpu_ms)

    @property
    def slowest(self) -> float:
        """Median over rounds of the 95th percentile."""
        return median(self.slowest_ms)


@dataclass(frozen=True)
class Spread:
    """A paired comparison: its median over rounds and the quartiles around it."""

    middle: float
    low: float
    high: float


def quantile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of `values` lie, linear between neighbours.

    Raises ValueError when there is no value.
    """
    if not values:
        raise ValueError("a quantile of nothing")
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def spread(values: Sequence[float]) -> Spread:
    """Median and quartiles."""
    return Spread(median(values), quantile(values, 0.25), quantile(values, 0.75))


def ratio(measured: Sequence[float], against: Sequence[float]) -> Spread:
    """How many times `against`, round by round. Raises ValueError if the rounds differ."""
    return _paired(measured, against, lambda one, other: one / other)


def difference(measured: Sequence[float], against: Sequence[float]) -> Spread:
    """How much more than `against`, round by round. Raises ValueError if the rounds differ."""
    return _paired(measured, against, lambda one, other: one - other)


def _paired(
    measured: Sequence[float],
    against: Sequence[float],
    combine: Callable[[float, float], float],
) -> Spread:
    return spread([combine(one, other) for one, other in zip(measured, against, strict=True)])

"""Interleaved rounds: every case runs in every round, the order turning by one each time.

Many short rounds beat few long ones: what is compared is close together in time, so that what
else the machine does falls on both sides.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from tests.bench.series import Series, quantile

Seconds = Callable[[], float]


@dataclass(frozen=True)
class Case:
    """Something to call. `calls` a round; its figure for the round is their median."""

    name: str
    call: Callable[[], object]
    calls: int = 5


def order_of(round_number: int, names: Sequence[str]) -> list[str]:
    """The order of a round: each case is first, second, … equally often."""
    turn = round_number % len(names)
    return [*names[turn:], *names[:turn]]


def by_own_clock(takers: Mapping[str, Callable[[], float]], rounds: int) -> Mapping[str, Series]:
    """Like `interleave` for cases that time themselves and return milliseconds a call."""
    taken: dict[str, list[float]] = {name: [] for name in takers}
    for number in range(-1, rounds):
        for name in order_of(number, list(takers)):
            figure = takers[name]()
            if number >= 0:
                taken[name].append(figure)
    return {name: Series(name, tuple(one), (), ()) for name, one in taken.items()}


def interleave(
    cases: Sequence[Case],
    rounds: int,
    *,
    wall: Seconds = time.perf_counter,
    cpu: Seconds = time.process_time,
) -> Mapping[str, Series]:
    """Run the cases in `rounds` rounds after one unmeasured round. Raises what a case raises."""
    by_name = {case.name: case for case in cases}
    if len(by_name) != len(cases):
        raise ValueError("two cases of one name")
    figures: dict[str, list[tuple[float, float, float]]] = {name: [] for name in by_name}
    for number in range(-1, rounds):
        for name in order_of(number, list(by_name)):
            figure = _one_round(by_name[name], wall, cpu)
            if number >= 0:
                figures[name].append(figure)
    return {
        name: Series(
            name,
            tuple(one[0] for one in taken),
            tuple(one[1] for one in taken),
            tuple(one[2] for one in taken),
        )
        for name, taken in figures.items()
    }


def _one_round(case: Case, wall: Seconds, cpu: Seconds) -> tuple[float, float, float]:
    """Wall, CPU and 95th percentile milliseconds of one call."""
    taken: list[float] = []
    call = case.call
    spent = cpu()
    for _ in range(case.calls):
        began = wall()
        call()
        taken.append(wall() - began)
    spent = cpu() - spent
    return 1e3 * median(taken), 1e3 * spent / case.calls, 1e3 * quantile(taken, 0.95)

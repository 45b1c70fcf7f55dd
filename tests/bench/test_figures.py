"""The arithmetic of the benchmarks: a wrong median would make every budget a fiction."""

from __future__ import annotations

import pytest

from tests.bench.rounds import Case, interleave, order_of
from tests.bench.series import Series, difference, quantile, ratio, spread


class Clock:
    """A clock that calls move on by what they cost."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def costing(self, *seconds: float):
        """A call that takes the next of these times each time, round and round."""
        turns = 0

        def call() -> None:
            nonlocal turns
            self.now += seconds[turns % len(seconds)]
            turns += 1

        return call


@pytest.mark.promise("P1-accept-7")
def test_a_ratio_pairs_the_rounds_before_it_takes_the_median() -> None:
    """Round 2 was ten times slower for both: that must not move the ratio."""
    assert ratio([2.0, 20.0, 2.0], [1.0, 10.0, 1.0]).middle == 2.0
    assert difference([2.0, 20.0, 3.0], [1.0, 18.0, 2.0]).middle == 1.0


def test_quartiles_interpolate_between_neighbours() -> None:
    assert quantile([4.0, 1.0, 3.0, 2.0], 0.5) == 2.5
    assert quantile([5.0], 0.95) == 5.0
    found = spread([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (found.low, found.middle, found.high) == (2.0, 3.0, 4.0)


def test_comparing_different_numbers_of_rounds_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shorter|longer"):
        ratio([1.0, 2.0], [1.0])
    with pytest.raises(ValueError, match="nothing"):
        quantile([], 0.5)


def test_each_case_takes_every_place_in_the_order() -> None:
    names = ["a", "b", "c"]
    orders = [order_of(number, names) for number in range(3)]
    for place in range(3):
        assert {order[place] for order in orders} == set(names)


def test_rounds_report_the_median_call_and_the_slow_tail() -> None:
    clock = Clock()
    slow_once = Case("slow once", clock.costing(0.001, 0.001, 0.001, 0.001, 0.101), calls=5)
    even = Case("even", clock.costing(0.002), calls=5)
    found = interleave([slow_once, even], 3, wall=clock, cpu=clock)
    assert found["slow once"].wall == pytest.approx(1.0)
    assert found["slow once"].cpu == pytest.approx(21.0)
    assert found["slow once"].slowest == pytest.approx(81.0)
    assert found["even"].wall_ms == pytest.approx((2.0, 2.0, 2.0))


def test_the_first_round_is_not_measured() -> None:
    clock = Clock()
    warming = Case("warming", clock.costing(9.0, 0.001, 0.001), calls=1)
    assert interleave([warming], 2, wall=clock, cpu=clock)["warming"].wall == pytest.approx(1.0)


def test_two_cases_of_one_name_are_refused() -> None:
    case = Case("same", lambda: None)
    with pytest.raises(ValueError, match="one name"):
        interleave([case, case], 1)


def test_a_series_takes_medians_over_rounds() -> None:
    series = Series("x", (1.0, 9.0, 2.0), (1.0, 1.0, 4.0), (3.0, 3.0, 30.0))
    assert (series.wall, series.cpu, series.slowest) == (2.0, 1.0, 3.0)
    assert series.quiet == pytest.approx(1.2)

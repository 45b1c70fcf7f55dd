"""What each policy chooses, and what an opinion, a silence and a tie count for."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgment.preferences.solver import Opinion, solve, words
from tests.unit.preferences.solver.groups import (
    POLICIES,
    opinions,
    option,
    options,
    participants,
    person,
    ranks,
    scores,
)

DELIGHT = option("delight", "delight")
FAIR = option("fair", "fair")
DULL = option("dull", "dull")
GROUP = [
    person("ann", delight=1.0, fair=0.4, dull=0.1),
    person("bob", delight=1.0, fair=0.3, dull=0.1),
    person("cleo", delight=-0.4, fair=0.2, dull=0.2),
]


@pytest.mark.promise("P3-solver", "P3-core-vectors")
def test_the_references_own_decision_comes_out_with_its_own_lines() -> None:
    found = solve(
        [option("thai-spot", "dining.cuisine.thai"), option("bbq-barn", "dining.cuisine.bbq")],
        [
            person("bob", **{"dining.cuisine.bbq": -0.8}),
            person("alice", **{"dining.cuisine.thai": 0.8}),
        ],
        policy="hard-veto",
        normalise="none",
    )
    assert ranks(found) == {"thai-spot": 1}
    assert [one.option for one in found.excluded] == ["bbq-barn"]
    lines = words(found.trace)
    theirs = [
        "bbq-barn: bob dining.cuisine.bbq weight -0.800000",
        "bbq-barn: veto by bob on dining.cuisine.bbq (-0.800000 < -0.5)",
        "thai-spot: total +0.800000",
        "ranking: thai-spot | vetoed: bbq-barn",
    ]
    assert [line for line in lines if line in theirs] == theirs


@pytest.mark.promise("P3-solver")
def test_a_sum_takes_the_most_in_all_however_it_is_spread() -> None:
    found = solve([FAIR, DULL, DELIGHT], GROUP)
    assert scores(found) == {"delight": 1.6, "fair": 0.9, "dull": 0.4}
    assert [one.option for one in found.ranking] == ["delight", "fair", "dull"]


@pytest.mark.promise("P3-solver-fair")
def test_maximin_and_least_misery_ask_the_worst_off() -> None:
    for policy in ("maximin", "least-misery"):
        found = solve([FAIR, DULL, DELIGHT], GROUP, policy=policy)
        assert scores(found) == {"fair": 0.2, "dull": 0.1, "delight": -0.4}
        assert ranks(found) == {"fair": 1, "dull": 2, "delight": 3}


@pytest.mark.promise("P3-solver-fair")
def test_maximin_asks_the_next_worst_off_where_least_misery_sees_a_tie() -> None:
    group = [person("ann", one=0.2, two=0.2), person("bob", one=0.5, two=0.4)]
    plans = [option("two", "two"), option("one", "one")]
    assert ranks(solve(plans, group, policy="maximin")) == {"one": 1, "two": 2}
    assert ranks(solve(plans, group, policy="least-misery")) == {"one": 1, "two": 1}
    assert "one before two: number 2 from the worst-off +0.500000 over +0.400000" in words(
        solve(plans, group, policy="maximin").trace
    )


@pytest.mark.promise("P3-solver-fair")
def test_nash_prefers_the_even_split_that_a_sum_cannot_see() -> None:
    even, uneven = option("even", "even"), option("uneven", "uneven")
    group = [person("ann", even=0.2, uneven=0.9), person("bob", even=0.2, uneven=-0.5)]
    assert ranks(solve([even, uneven], group)) == {"even": 1, "uneven": 1}
    found = solve([even, uneven], group, policy="nash")
    assert ranks(found) == {"even": 1, "uneven": 2}
    assert scores(found)["even"] == pytest.approx(0.6)
    assert scores(found)["uneven"] == pytest.approx(math.sqrt(0.95 * 0.25), abs=1e-6)


@pytest.mark.promise("P3-solver-fair")
def test_what_somebody_rejects_wholly_is_worth_nothing_to_nash() -> None:
    group = [person("ann", plan=1.0), person("bob", plan=-1.0)]
    assert scores(solve([option("plan", "plan")], group, policy="nash")) == {"plan": 0.0}


@pytest.mark.promise("P3-solver-fair")
def test_nash_tells_options_apart_for_five_hundred_people() -> None:
    """A plain product of five hundred small numbers would be zero for both."""
    group = [person(f"p{n}", bad=-0.99, worse=-0.999) for n in range(500)]
    found = solve([option("worse", "worse"), option("bad", "bad")], group, policy="nash")
    assert scores(found) == {"bad": 0.005, "worse": 0.0005}


@pytest.mark.promise("P3-solver", "P3-defect-18")
def test_three_mild_attractions_do_not_beat_a_strong_one() -> None:
    plans = [option("many", "a", "b", "c"), option("one", "d")]
    group = [person("ann", a=0.4, b=0.4, c=0.4, d=0.9)]
    assert ranks(solve(plans, group)) == {"one": 1, "many": 2}
    assert scores(solve(plans, group)) == {"one": 0.9, "many": 0.4}
    summed = solve(plans, group, normalise="none")
    assert scores(summed) == {"many": 1.2, "one": 0.9}


@pytest.mark.promise("P3-solver", "P3-defect-18")
@settings(max_examples=100, deadline=None)
@given(participants(), options(), st.sampled_from(POLICIES))
def test_more_keys_of_the_same_opinion_change_no_score(group, plans, policy) -> None:
    doubled = [option(one.id, *one.keys, *(f"{key}.again" for key in one.keys)) for one in plans]
    again = [
        person(
            one.id,
            **{f"{key}{end}": held for key, held in one.opinions.items() for end in ("", ".again")},
        )
        for one in group
    ]
    before, after = solve(plans, group, policy=policy), solve(doubled, again, policy=policy)
    assert ranks(before) == ranks(after)
    assert scores(before) == scores(after)


@pytest.mark.promise("P3-solver-fair", "P3-defect-18")
def test_an_unsure_or_stale_opinion_pulls_less() -> None:
    plans = [option("plan", "plan")]
    for held, counts in (
        (Opinion(0.8), 0.8),
        (Opinion(0.8, 0.5), 0.4),
        (Opinion(0.8, 1.0, True), 0.4),
        (Opinion(-0.8, 0.5, True), -0.2),
        (Opinion(0.8, 0.0), 0.0),
    ):
        found = solve(plans, [person("ann", plan=held)])
        assert scores(found) == {"plan": counts}
        assert found.trace["contributions"] == {"ann": {"plan": counts}}


@pytest.mark.promise("P3-solver-fair")
@given(opinions(), opinions())
def test_no_confidence_and_no_age_turns_an_opinion_over(held, other) -> None:
    sure = Opinion(held.weight, other.confidence, other.stale)
    score = scores(solve([option("plan", "plan")], [person("ann", plan=sure)]))["plan"]
    assert score == 0 or math.copysign(1, score) == math.copysign(1, held.weight)
    assert abs(score) <= abs(held.weight) + 1e-6


@pytest.mark.promise("P3-solver-fair", "P3-defect-18")
def test_silence_is_neither_for_nor_against_and_is_reported() -> None:
    plans = [option("known", "known"), option("unknown", "unknown"), option("bad", "bad")]
    group = [person("ann", known=0.5, bad=-0.5), person("bob", known=0.1), person("cleo")]
    found = solve(plans, group)
    assert scores(found) == {"known": 0.6, "unknown": 0.0, "bad": -0.5}
    assert {one.option: (one.heard, one.of) for one in found.ranking} == {
        "known": (2, 3),
        "unknown": (0, 3),
        "bad": (1, 3),
    }
    assert found.trace["options"]["bad"]["silent"] == ["bob", "cleo"]
    assert found.trace["options"]["bad"]["opinions"] == [1, 0, 0]
    assert "unknown: heard 0 of 3, silent and counted as 0: ann, bob, cleo" in words(found.trace)


@pytest.mark.promise("P3-solver-fair")
def test_an_opinion_of_zero_is_heard_and_a_silence_is_not() -> None:
    found = solve([option("plan", "plan")], [person("ann", plan=0.0), person("bob")])
    assert found.trace["options"]["plan"]["silent"] == ["bob"]


@pytest.mark.promise("P3-solver")
def test_a_tie_shares_a_rank_and_the_next_one_counts_all_before_it() -> None:
    plans = [option(one, one) for one in ("d", "c", "b", "a")]
    group = [person("ann", a=0.1, b=0.7, c=0.7, d=0.7)]
    found = solve(plans, group)
    assert ranks(found) == {"b": 1, "c": 1, "d": 1, "a": 4}
    assert found.trace["ties"] == [["b", "c", "d"]]
    assert found.trace["tie_break"] is None
    assert words(found.trace)[-1] == "ranking: b = c = d > a"


@pytest.mark.promise("P3-solver")
def test_a_forced_order_names_what_broke_the_tie() -> None:
    plans = [option("second", "one"), option("first", "one")]
    found = solve(plans, [person("ann", one=0.7)], forced_order=True)
    assert [(one.option, one.rank) for one in found.ranking] == [("first", 1), ("second", 2)]
    assert found.trace["tie_break"] == "lexicographic option id"
    assert found.trace["ties"] == [["first", "second"]]
    assert (
        "first before second: total +0.700000 both, a tie broken by lexicographic option id"
        in words(found.trace)
    )


@pytest.mark.promise("P3-solver")
def test_sums_that_are_equal_on_paper_tie() -> None:
    """0.1 + 0.2 is not 0.3 in floats; the scores are equal all the same."""
    group = [person("ann", a=0.1, b=0.3), person("bob", a=0.2)]
    assert ranks(solve([option("a", "a"), option("b", "b")], group)) == {"a": 1, "b": 1}


@pytest.mark.promise("P3-solver")
def test_a_veto_is_strictly_below_and_asks_the_raw_weight() -> None:
    plans = [option("at", "at"), option("below", "below"), option("unsure", "unsure")]
    unsure = Opinion(-0.9, confidence=0.1, stale=True)
    group = [person("ann", at=-0.5, below=-0.500001, unsure=unsure)]
    found = solve(plans, group, policy="hard-veto")
    assert ranks(found) == {"at": 1}
    assert [one.option for one in found.excluded] == ["below", "unsure"]
    assert found.excluded[0].reason == "veto by ann on below (-0.500001 < -0.5)"
    assert ranks(solve(plans, group)).keys() == {"at", "below", "unsure"}
    assert not solve(plans, group, policy="hard-veto", veto_below=-1).excluded


@pytest.mark.promise("P3-solver")
def test_one_participant_alone_decides_by_every_policy() -> None:
    plans, group = [option("a", "a"), option("b", "b")], [person("ann", a=0.2, b=0.3)]
    for policy in POLICIES:
        assert ranks(solve(plans, group, policy=policy)) == {"b": 1, "a": 2}


@pytest.mark.promise("P3-solver-fair")
@settings(max_examples=200, deadline=None)
@given(participants(), options())
def test_no_other_option_treats_the_worst_off_better_than_maximins_first(group, plans) -> None:
    found = solve(plans, group, policy="maximin")
    least = {one: min(each["satisfaction"]) for one, each in found.trace["options"].items()}
    first = found.ranking[0].option
    assert least[first] == pytest.approx(max(least.values()), abs=1e-6)


@pytest.mark.promise("P3-solver-fair")
@settings(max_examples=200, deadline=None)
@given(participants(), options(), st.sampled_from(POLICIES))
def test_what_everybody_likes_less_never_stands_before(group, plans, policy) -> None:
    """Unanimity (weak Pareto), the least that one may ask of any of them."""
    found = solve(plans, group, policy=policy)
    kept = {one: each["satisfaction"] for one, each in found.trace["options"].items()}
    order = ranks(found)
    for one in order:
        for other in order:
            pairs = zip(kept[one], kept[other], strict=True)
            if all(mine >= theirs + 1e-5 for mine, theirs in pairs):
                assert order[one] <= order[other]
                assert policy in ("nash",) or order[one] < order[other]

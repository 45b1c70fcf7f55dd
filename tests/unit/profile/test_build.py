"""What decisions are made into, checked against counts made by hand."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgment.profile.advance import READING_MS_A_WORD, pace
from judgment.profile.build import build
from judgment.profile.decision import Decision, Option
from judgment.profile.observe import claimed, observe_category
from tests.unit.profile.decisions import decision, histories, option

if TYPE_CHECKING:
    from judgment.profile.shapes import CategoryPattern


def cheap_or_short(number: int, chosen: int, **more: object) -> Decision:
    options = [option(0, price=1.0, commitment=1.0), option(1, price=0.0, commitment=0.0)]
    return decision(number, options, chosen, **more)


def only(decisions: list[Decision]) -> CategoryPattern:
    (pattern,) = build(decisions).patterns
    return pattern


@pytest.mark.promise("P1-4-build")
@given(histories(most=12), st.randoms())
@settings(max_examples=60, deadline=None)
def test_the_profile_does_not_depend_on_the_order_in_which_rows_arrive(history, dice) -> None:
    shuffled = list(history)
    dice.shuffle(shuffled)
    assert build(shuffled).documents == build(history).documents


@pytest.mark.promise("P1-4-build", "R-21")
def test_tallies_count_only_decisions_whose_options_differ() -> None:
    same = decision(9, [option(0, price=0.5, risk=0.1), option(1, price=0.5)], 0)
    pattern = only([cheap_or_short(n, 0) for n in range(5)] + [cheap_or_short(5, 1), same])
    tally = pattern.tallies["price"]
    assert (tally.differed, tally.took_most, tally.took_least) == (6, 5, 1)
    assert (tally.chance_most, tally.chance_least) == (3.0, 3.0)
    assert pattern.decisions == 7


def test_below_four_decisions_nothing_is_weighed_and_values_are_neutral() -> None:
    pattern = only([cheap_or_short(n, 0, response_ms=1) for n in range(3)])
    assert pattern.decisions == 3
    assert (pattern.pulls, pattern.own, pattern.tallies) == ((), None, {})
    assert (pattern.risk, pattern.speed) == ("medium", "balanced")


def test_an_option_without_drivers_takes_no_part_in_weighing() -> None:
    none = Option(id="none", label="None of these")
    rounds = [
        replace(d, options=(*d.options, none)) for d in (cheap_or_short(n, 0) for n in range(5))
    ]
    refused = replace(rounds[0], id=cheap_or_short(77, 0).id, chosen_option_id="none")
    pattern = only([*rounds, refused])
    assert pattern.decisions == 6
    assert pattern.own is not None
    assert (pattern.own.of, pattern.own.chance) == (5, 2.5)


def test_retests_speak_of_noise_and_never_of_preference() -> None:
    firsts = [cheap_or_short(n, 0) for n in range(4)]
    again = [
        cheap_or_short(10 + n, n % 2, retest_of=first.id, scenario_title="Again")
        for n, first in enumerate(firsts)
    ]
    profile = build([*firsts, *again])
    assert profile.games_analyzed == 8
    assert profile.patterns[0].decisions == 4
    # the four first rounds offer the same options, so three of them repeat the one before
    assert profile.documents["occasion_noise"]["n"] == 7


def test_the_same_options_in_another_order_are_a_repeated_decision() -> None:
    a, b = option(0, price=1.0), option(1, price=0.0)
    first = decision(0, [a, b], 0)
    turned = [replace(b, id="x"), replace(a, id="y")]
    noise = build([first, decision(1, turned, 1), decision(2, turned, 0)]).signal("occasion_noise")
    assert (noise.evidence, noise.numbers["same"], noise.numbers["noise"]) == (2, 1, 0.5)


def test_pace_is_time_over_reading_time_and_untimed_decisions_have_none() -> None:
    timed = cheap_or_short(1, 0, response_ms=1)
    words = 6  # "Round 1", "Option 0", "Option 1"
    twice = replace(timed, response_ms=round(2 * words * READING_MS_A_WORD))
    assert pace(twice) == pytest.approx(2.0, abs=0.01)
    assert pace(replace(timed, response_ms=None)) is None


@pytest.mark.parametrize(
    ("factor", "speed"), [(0.5, "quick"), (2.0, "balanced"), (9.0, "deliberate")]
)
def test_decision_speed_compares_with_the_time_that_reading_takes(factor, speed) -> None:
    elapsed = round(factor * 6 * READING_MS_A_WORD)
    assert only([cheap_or_short(n, 0, response_ms=elapsed) for n in range(4)]).speed == speed


@pytest.mark.parametrize(("chosen", "level"), [(0, "low"), (1, "high")])
def test_risk_tolerance_is_where_the_choices_lie_between_safest_and_riskiest(chosen, level) -> None:
    options = [option(0, risk=0.2), option(1, risk=0.6)]
    assert only([decision(n, options, chosen) for n in range(8)]).risk == level
    assert only([decision(n, options, n % 2) for n in range(8)]).risk == "medium"


def test_confidence_is_judged_by_a_retest_where_there_is_one() -> None:
    firsts = [cheap_or_short(n, 0, confidence=1.0) for n in range(4)]
    again = [cheap_or_short(10 + n, 1, retest_of=f.id) for n, f in enumerate(firsts)]
    steady = build(firsts).signal("confidence_calibration")
    shaken = build([*firsts, *again]).signal("confidence_calibration")
    assert steady.numbers["held_count"] == 4
    # each repeat is compared with the answer before it: the first changes, the rest do not
    assert shaken.numbers["held_count"] < 4
    assert shaken.numbers["overconfidence"] > steady.numbers["overconfidence"]


@pytest.mark.promise("P1-4-build")
def test_a_personal_scenarios_title_never_enters_the_profile() -> None:
    rounds = [
        cheap_or_short(n, 0, theme="personal", scenario_title="My divorce 1 of 2") for n in range(6)
    ]
    assert "divorce" not in str(build(rounds).documents)
    canonical = [
        replace(d, theme="court", scenario_title=f"The well {i}") for i, d in enumerate(rounds)
    ]
    assert only(canonical).kind == "The well"
    assert only(canonical).of_kind == 6


def test_one_kind_is_said_as_long_as_it_is_three_quarters_and_of_how_many() -> None:
    contracts = [cheap_or_short(n, 0, scenario_title=f"Contract {n}") for n in range(6)]
    others = [cheap_or_short(6 + n, 0, scenario_title=title) for n, title in enumerate("ABC")]

    def said(*rounds: Decision) -> str | None:
        found = observe_category(only(list(rounds)))
        return next((o.text for o in found if o.about.endswith(":kind")), None)

    assert str(said(*contracts)).startswith('All 6 are of one kind, "Contract":')
    for n in (1, 2):
        text = str(said(*contracts, *others[:n]))
        assert text.startswith(f'Of {6 + n} decisions 6 are of one kind, "Contract":')
    assert said(*contracts, *others) is None


def test_a_change_of_mind_in_the_middle_is_seen_and_steadiness_is_not_taken_for_one() -> None:
    price_alone = [option(0, price=1.0), option(1, price=0.0)]
    turned = [decision(n, price_alone, 0 if n < 20 else 1) for n in range(40)]
    trend = only(turned).trend
    assert trend is not None
    assert trend.early > 0 > trend.late
    assert only([cheap_or_short(n, 0) for n in range(40)]).trend is None


def test_a_long_history_is_weighed_by_its_latest_part_and_counted_whole() -> None:
    pattern = only(
        [cheap_or_short(n, 1) for n in range(400)] + [cheap_or_short(n, 0) for n in range(400, 700)]
    )
    assert pattern.decisions == 700
    assert pattern.own is not None
    assert (pattern.own.of, pattern.own.hits) == (240, 240)
    assert pattern.tallies["price"].took_least == 0


@pytest.mark.promise("P1-4-distil")
def test_somebody_who_picks_at_random_is_seldom_said_to_lean_anywhere() -> None:
    dice = random.Random(1)
    said = 0
    for _ in range(150):
        rounds = []
        for number in range(12):
            options = [option(p, price=dice.random(), trust=dice.random()) for p in range(4)]
            rounds.append(decision(number, options, dice.randrange(4)))
        said += len(claimed(only(rounds)))
    assert said / (150 * 2) < 0.10

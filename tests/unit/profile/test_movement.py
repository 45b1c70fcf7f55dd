"""How far a profile has moved, by its components."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgment.profile.build import build
from judgment.profile.model import PlayerDecisionProfile
from judgment.profile.movement import MOVE, components, largest_move, neutral
from judgment.profile.observe import observe
from judgment.profile.signals import SIGNALS
from tests.unit.profile.decisions import decision, option
from tests.unit.profile.strategies import lives

NOBODY = PlayerDecisionProfile(games_analyzed=0, documents={})
NAMES = st.sampled_from(
    ["signal:persuadability:moved", "category:governance:risk", "signal:name_bias_signal:bias"]
)
PLACES = st.dictionaries(NAMES, st.floats(0, 1))


def said(**documents: object) -> dict[str, float]:
    return components(replace(NOBODY, games_analyzed=9, documents=documents))


@pytest.mark.promise("P2-5")
@given(PLACES, PLACES)
def test_a_move_is_the_same_in_both_directions_and_none_between_equals(one, other) -> None:
    assert largest_move(one, other) == largest_move(other, one)
    assert largest_move(one, one) == 0
    assert 0 <= largest_move(one, other) <= 1


@pytest.mark.promise("P2-5")
@given(st.lists(st.floats(0, 1), min_size=2, max_size=30))
def test_small_moves_add_up_when_they_are_held_against_the_values_kept(steps) -> None:
    """What is kept stays until a summary is written, as many decisions as may come between."""
    name = "signal:persuadability:moved"
    kept, summaries = {name: steps[0]}, 0
    for place in steps[1:]:
        if largest_move(kept, {name: place}) >= MOVE:
            kept, summaries = {name: place}, summaries + 1
        assert abs(kept[name] - place) < MOVE
    assert summaries or max(steps) - min(steps) < 2 * MOVE


@pytest.mark.promise("P2-5")
def test_many_small_moves_in_one_direction_are_one_large_move() -> None:
    name = "category:governance:risk"
    kept = {name: 0.50}
    moves = [largest_move(kept, {name: 0.50 + n / 100}) for n in range(7)]
    assert [move >= MOVE for move in moves] == [False] * 5 + [True] * 2


@pytest.mark.parametrize(("before", "after"), [(0.35, 0.3), (0.55, 0.5), (0.1, 0.15), (0.95, 1.0)])
def test_a_move_of_exactly_the_limit_is_one(before, after) -> None:
    assert (
        largest_move({"category:governance:risk": before}, {"category:governance:risk": after})
        == MOVE
    )


@pytest.mark.promise("P2-5")
@given(lives(least=1))
@settings(max_examples=200, deadline=None)
def test_components_lie_between_nothing_and_all_and_survive_being_stored(life) -> None:
    found = components(build(life))
    assert all(0 <= value <= 1 for value in found.values())
    stored = json.loads(json.dumps(found))
    assert stored == found
    assert (
        components(replace(build(life), documents=json.loads(json.dumps(build(life).documents))))
        == found
    )


@given(lives(least=1))
@settings(max_examples=200, deadline=None)
def test_every_component_of_every_signal_with_evidence_is_among_them(life) -> None:
    profile = build(life)
    found = components(profile)
    for signal in SIGNALS:
        for component in signal.components:
            name = f"signal:{signal.name}:{component.name}"
            assert (name in found) == (profile.signal(signal.name).evidence > 0)


def test_without_evidence_a_component_stands_where_its_signal_says() -> None:
    for signal in SIGNALS:
        for component in signal.components:
            assert neutral(f"signal:{signal.name}:{component.name}") == component.neutral
    assert neutral("signal:attention_distribution:share:loyalty") == 0
    assert neutral("category:governance:driver:growth") == 0.5


def test_what_appears_has_moved_from_its_neutral_place() -> None:
    moved = said(persuadability={"n": 1, "changed": 1, "moved": 2 / 3})
    assert largest_move({}, moved) == pytest.approx(1 / 6)
    assert largest_move({}, said(persuadability={"n": 2, "changed": 1, "moved": 0.5})) == 0


def test_a_change_of_style_is_a_move_though_the_leading_share_stays() -> None:
    before = said(reasoning_style_distribution={"n": 9, "shares": {"people": 0.6, "evidence": 0.1}})
    after = said(reasoning_style_distribution={"n": 9, "shares": {"people": 0.1, "evidence": 0.6}})
    assert largest_move(before, after) == 0.5


def test_a_pull_that_turns_round_moves_through_the_middle() -> None:
    def pulled(weight: float) -> dict[str, float]:
        pattern = {"decisions": 9, "drivers": [{"name": "growth", "weight": weight, "share": 0.4}]}
        return said(category_patterns={"governance": pattern})

    assert pulled(1.0)["category:governance:driver:growth"] == pytest.approx(0.7)
    assert largest_move(pulled(1.0), pulled(-1.0)) == pytest.approx(0.4)


@pytest.mark.promise("P2-5")
def test_one_more_decision_hides_no_move_behind_rounded_numbers() -> None:
    """Far below the limit, and still seen: the small moves must add up."""
    rounds = [decision(n, [option(0, risk=0.0), option(1, risk=1.0)], n % 2) for n in range(20)]
    places = [components(build(rounds[:n]))["category:governance:risk"] for n in (18, 19)]
    assert places[0] - places[1] == pytest.approx(11 / 22 - 11 / 23, abs=1e-12)


@pytest.mark.promise("P2-5")
@given(lives(least=2))
@settings(max_examples=200, deadline=None)
def test_whatever_changes_what_can_be_said_is_a_move(life) -> None:
    """A number may cross a line while it hardly moves; the last summary then says another thing."""
    profiles = [build(life[:n]) for n in range(1, len(life) + 1)]
    sayings = [{(o.about, o.template) for o in observe(profile)} for profile in profiles]
    for n, (profile, sentences) in enumerate(zip(profiles, sayings, strict=True)):
        kept = components(profiles[n - 1])
        if sentences != sayings[n - 1]:
            assert largest_move(kept, components(profile)) >= MOVE
        assert largest_move(components(profile), components(profile)) == 0


def test_a_sentence_that_can_be_said_counts_as_much_as_the_limit_and_unsaid_as_nothing() -> None:
    found = said(persuadability={"n": 4, "changed": 2, "moved": 0.5})
    [sentence] = [name for name in found if name.startswith("said:")]
    assert found[sentence] == MOVE
    assert neutral(sentence) == 0
    assert largest_move({}, found) == MOVE

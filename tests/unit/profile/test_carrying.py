"""A profile carried forward is the one built from the beginning, and costs the same each time."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgment.kit.hashing import digest
from judgment.profile.accumulation import (
    VERSION,
    MemoryMarks,
    State,
    category_from_text,
    owner_from_text,
    to_text,
)
from judgment.profile.advance import advance
from judgment.profile.build import build, gathered, profile_of
from judgment.profile.decision import Decision, Option, in_order
from judgment.profile.drivers import SCENARIO_DRIVERS
from judgment.profile.model import DOCUMENT_COLUMNS, PlayerDecisionProfile
from judgment.profile.stimuli import Stimuli
from tests.unit.profile.decisions import decision
from tests.unit.profile.real_people import real_people
from tests.unit.profile.strategies import lives, long_life

if TYPE_CHECKING:
    from collections.abc import Iterable


class Keeper:
    """What a database does: texts by part, of which a decision reads and writes two; marks."""

    def __init__(self) -> None:
        self.texts = {"the owner": to_text(State().owner)}
        self.marks = MemoryMarks()

    def take_in(self, made: Decision) -> PlayerDecisionProfile:
        """One decision, from texts to texts."""
        state = State(owner_from_text(self.texts["the owner"]))
        if made.domain in self.texts:
            state.categories[made.domain] = category_from_text(self.texts[made.domain])
        advance(state, made, self.marks)
        profile = profile_of(state)
        assert set(state.categories) <= {made.domain}
        self.texts["the owner"] = to_text(state.owner)
        self.texts |= {name: to_text(part) for name, part in state.categories.items()}
        return profile


def carried(decisions: Iterable[Decision]) -> PlayerDecisionProfile:
    keeper = Keeper()
    profile = build([])
    for made in in_order(decisions):
        profile = keeper.take_in(made)
    return profile


def same(one: PlayerDecisionProfile, other: PlayerDecisionProfile) -> None:
    assert one.documents == other.documents
    assert one.games_analyzed == other.games_analyzed


@pytest.mark.promise("P2-4", "P2-accept-2")
def test_a_profile_carried_forward_by_its_texts_is_the_one_built_from_the_beginning() -> None:
    seen: set[str] = set()

    @given(lives())
    @settings(max_examples=1_000, deadline=None)
    def carry(life: list[Decision]) -> None:
        profile = carried(life)
        same(profile, build(life))
        seen.update(profile.documents)

    carry()
    assert seen == set(DOCUMENT_COLUMNS)


@pytest.mark.promise("P2-4")
@given(lives(), st.randoms(use_true_random=False))
@settings(max_examples=250, deadline=None)
def test_no_order_in_which_rows_arrive_changes_a_profile(life, dice) -> None:
    shuffled = list(life)
    dice.shuffle(shuffled)
    same(build(shuffled), build(life))


@given(lives())
@settings(max_examples=250, deadline=None)
def test_what_is_kept_reads_back_as_it_was(life) -> None:
    state = gathered(life, MemoryMarks())
    profile_of(state)
    for part in state.categories.values():
        assert category_from_text(to_text(part)) == part
    assert owner_from_text(to_text(state.owner)) == state.owner


@pytest.mark.promise("P2-4", "P2-accept-2")
def test_every_real_persons_profile_can_be_carried_forward() -> None:
    for person in real_people():
        same(carried(person.decisions), build(person.decisions))


@given(lives())
@settings(max_examples=250, deadline=None)
def test_a_retest_moves_nothing_but_noise_and_what_holds(life) -> None:
    firsts = build([made for made in life if made.retest_of is None]).documents
    every = build(life).documents
    may_move = ("occasion_noise", "confidence_calibration", "name_bias_signal")
    for column in firsts.keys() | every.keys():
        if column not in may_move:
            assert every.get(column) == firsts.get(column), column


def five_drivers(number: int, dice: random.Random) -> Decision:
    names = dice.sample(SCENARIO_DRIVERS, 5)
    options = [
        Option(str(p), f"Option {p}", "", {n: dice.random() for n in names}, dice.random())
        for p in range(4)
    ]
    return decision(
        number,
        options,
        dice.randrange(4),
        confidence=dice.random(),
        response_ms=1_000 + number,
        rationale="Fair to all, whatever the cost.",
        scenario_title=f"Round {number}",
    )


@pytest.mark.promise("P2-4")
def test_what_is_kept_does_not_grow_with_the_history() -> None:
    dice, state, marks = random.Random(3), State(), MemoryMarks()
    sizes = {}
    for number in range(1, 1_201):
        advance(state, five_drivers(number, dice), marks)
        if number in (300, 1_200):
            profile_of(state)
            sizes[number] = [len(to_text(p)) for p in (state.owner, *state.categories.values())]
    for early, late in zip(sizes[300], sizes[1_200], strict=True):
        assert late < early * 1.02
    assert sum(sizes[1_200]) < 160_000


def test_even_the_oddest_history_keeps_within_its_bounds() -> None:
    """Every limit of `decision_from_row` used up: 24 options, 16 drivers each, names of 48."""
    dice, state, marks = random.Random(4), State(), MemoryMarks()
    for number in range(300):
        options = [
            Option(
                str(p),
                "x" * 160,
                "y" * 200,
                {f"{number}_{n}".ljust(48, "z"): dice.random() for n in range(16)},
            )
            for p in range(24)
        ]
        advance(state, decision(number, options, 0, rationale="growth", response_ms=10**9), marks)
    profile_of(state)
    assert len(state.categories["governance"].cases) == 240
    assert len(to_text(state.categories["governance"])) < 240 * 24 * 16 * 24
    assert len(to_text(state.owner)) < 64_000


def rounded(value: Any) -> Any:
    """Numbers as every Python gives them: the last bits of a sum differ between two versions."""
    if isinstance(value, dict):
        return {key: rounded(each) for key, each in value.items()}
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return round(value, 9) + 0.0 if isinstance(value, float) else value


def test_whoever_changes_a_number_raises_the_version_so_that_every_owner_is_begun_again() -> None:
    """What is kept of owners was counted by the old rules. Then note the new digest here."""
    life = long_life(23, 300)
    assert (VERSION, digest(rounded(build(life).documents))[:16]) == (4, "3c3a8f3e49814649")


def test_another_time_of_the_same_offer_is_a_repeat_but_not_a_twin_or_a_sequel() -> None:
    options = [Option("a", "Hold"), Option("b", "Yield")]
    first = decision(1, options, 0, stimuli=Stimuli(pair="p"))
    twin = decision(2, options, 1, stimuli=Stimuli(pair="p"))
    sequel = decision(3, options, 1, stimuli=Stimuli(sequel_of=first.scenario_id))
    assert build([first, twin, sequel]).signal("occasion_noise").evidence == 0
    plain = [replace(made, stimuli=Stimuli()) for made in (first, twin, sequel)]
    assert build(plain).signal("occasion_noise").evidence == 2

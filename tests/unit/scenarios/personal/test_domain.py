"""Whose turn it is: domains rotate, and lean to what is least known."""

from __future__ import annotations

from collections import Counter
from itertools import cycle, permutations
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.contract.profile import CATEGORIES, Category
from judgment.profile.signals import SIGNALS
from judgment.scenarios.personal.domain import SERVED, Target, choose

if TYPE_CHECKING:
    from judgment.scenarios.personal.domain import Evidence

pytestmark = pytest.mark.promise("000-8.2", "P2-7")

NAMES = [row.signal for row in SERVED]
EVIDENCE = st.dictionaries(
    st.sampled_from(CATEGORIES), st.dictionaries(st.sampled_from(NAMES), st.integers(0, 50))
)


def in_all(evidence: Evidence, signal: str) -> int:
    return sum(by.get(signal, 0) for by in evidence.values())


def evenly(**counts: int) -> Evidence:
    """The same evidence in each domain, 10 where nothing else is said."""
    return {category: {name: counts.get(name, 10) for name in NAMES} for category in CATEGORIES}


@given(st.lists(EVIDENCE, max_size=60))
def test_no_domain_gets_more_than_twice_the_turns_of_another(history: list[Evidence]):
    made: Counter[Category] = Counter()
    for evidence in history:
        made[choose(made, evidence).category] += 1
        for one, other in permutations(CATEGORIES, 2):
            assert made[one] <= 2 * (made[other] + 1)


@given(
    st.lists(EVIDENCE, min_size=1, max_size=6),
    st.lists(st.integers(0, 5), min_size=1, max_size=8),
    st.dictionaries(st.sampled_from(CATEGORIES), st.integers(0, 10)),
)
def test_whatever_came_before_every_domain_comes_up_again(
    known: list[Evidence], history: list[int], before: dict[Category, int]
):
    """A domain that is ten rounds ahead waits for 22 of each of the three others, and no longer."""
    made = Counter(before)
    seen: set[Category] = set()
    for _, moment in zip(range(70), cycle(history), strict=False):
        category = choose(made, known[moment % len(known)]).category
        made[category] += 1
        seen.add(category)
    assert seen == set(CATEGORIES)


@given(
    st.dictionaries(st.sampled_from(CATEGORIES), st.integers(0, 50)),
    EVIDENCE,
)
def test_the_target_is_a_least_known_signal_and_its_stimulus_the_one_it_takes(
    made: dict[Category, int], evidence: Evidence
):
    target = choose(made, evidence)
    least = min(in_all(evidence, name) for name in NAMES)
    assert in_all(evidence, target.signal) == least
    assert (target.signal, target.stimulus) in {(row.signal, row.stimulus) for row in SERVED}
    assert choose(dict(made), dict(evidence)) == target


def test_without_anything_known_domains_take_turns():
    made: Counter[Category] = Counter()
    turns: list[Category] = []
    for _ in range(8):
        turns.append(choose(made, {}).category)
        made[turns[-1]] += 1
    assert turns == [*CATEGORIES, *CATEGORIES]


@pytest.mark.parametrize(
    ("signal", "stimulus"),
    [
        ("self_awareness", "premise"),
        ("persuadability", "counter_arguments"),
        ("peer_reading", "majority"),
        ("dissent_profile", "majority"),
        ("timing_signature", None),
    ],
)
def test_the_least_known_signal_decides_what_the_round_shows(signal: str, stimulus: str | None):
    target = choose({}, evenly(**{signal: 1}))
    assert target == Target(CATEGORIES[0], signal, stimulus)


def test_the_domain_where_the_target_is_least_known_takes_two_turns():
    evidence: Evidence = {
        category: {**by, "persuadability": 0 if category == "team-dynamics" else 3}
        for category, by in evenly().items()
    }
    made: Counter[Category] = Counter()
    for _ in range(10):
        made[choose(made, evidence).category] += 1
    assert made["team-dynamics"] == 4
    assert {made[c] for c in CATEGORIES if c != "team-dynamics"} == {2}


def test_a_made_round_serves_signals_that_there_are_and_not_those_that_compare_rounds():
    assert {row.name for row in SIGNALS} - set(NAMES) == {
        "learning_rate",
        "occasion_noise",
        "name_bias_signal",
    }

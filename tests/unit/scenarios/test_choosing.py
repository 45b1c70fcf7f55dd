"""What is served next, over any library and any way of playing it."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.profile.shapes import SPARSE_BELOW
from judgment.profile.signals import SIGNALS
from judgment.scenarios.choosing import (
    ANY_ROUND,
    COUNTER_ARGUMENT,
    MAJORITY,
    OUTCOME,
    PAIR,
    PREMISE,
    RETEST,
    SEQUEL_DISTANCE,
    TWIN_DISTANCE,
    Candidate,
    Settings,
    candidate,
)
from judgment.scenarios.library.reading import read_library
from tests.unit.scenarios.playing import Player, library

DAY = timedelta(days=1)
players = st.builds(
    lambda number, **sizes: Player(number, library(number, **sizes)),
    st.integers(0, 10_000),
    themes=st.integers(1, 3),
    pairs=st.integers(0, 4),
    stories=st.integers(0, 4),
    plain=st.integers(1, 8),
)
paces = st.lists(st.sampled_from([timedelta(0), timedelta(hours=5), DAY, 31 * DAY]), max_size=60)


def test_every_signal_is_fed_by_something() -> None:
    fed = ANY_ROUND | PREMISE | MAJORITY | COUNTER_ARGUMENT | PAIR | OUTCOME | RETEST
    assert fed == {signal.name for signal in SIGNALS}


@pytest.mark.promise("R-23")
@given(players, paces)
def test_only_what_may_come_comes(player: Player, pace: list[timedelta]) -> None:
    by_id = {c.id: c for c in player.library}
    for step in pace:
        before = player.history
        choice = player.play()
        player.now += step
        if choice is None:
            continue
        found, number = by_id[choice.scenario_id], before.rounds + 1
        known = before.answered.get(found.id)
        assert (known is not None) == (choice.retest_of is not None)
        if known is not None:
            assert choice.retest_of == known.decision_id
            assert player.now - step - known.last_at >= timedelta(days=30)
            assert found.sequel_of is None
            pair = {c.id for c in player.library if c.pair is not None and c.pair == found.pair}
            assert pair <= before.answered.keys()
        for twin in player.library:
            if found.pair is not None and twin.pair == found.pair and twin.id != found.id:
                met = before.answered.get(twin.id)
                assert met is None or number - met.last_round >= TWIN_DISTANCE
        if found.sequel_of is not None:
            original = before.answered[found.sequel_of]
            assert number - original.first_round >= SEQUEL_DISTANCE
            assert choice.outcome_of == original.decision_id
        else:
            assert choice.outcome_of is None


@given(players, st.integers(0, 30), st.randoms())
def test_the_same_call_gives_the_same_round_in_whatever_order_the_library_comes(
    player: Player, played: int, draw: random.Random
) -> None:
    for _ in range(played):
        player.play()
    first = player.next()
    shuffled = list(player.library)
    draw.shuffle(shuffled)
    player.library = shuffled
    assert player.next() == first == player.next()


@given(players, st.integers(0, 20))
def test_a_theme_serves_its_own_and_no_theme_serves_all(player: Player, played: int) -> None:
    themes = {c.id: c.theme for c in player.library}
    for _ in range(played):
        choice = player.play("frontier")
        assert choice is None or themes[choice.scenario_id] == "frontier"


@given(players)
def test_everything_is_served_in_the_end(player: Player) -> None:
    for _ in range(200):
        player.play()
        player.now += 3 * DAY
    assert {c.scenario_id for c in player.served} == {c.id for c in player.library}


@given(players, paces)
def test_retests_come_in_their_turn_or_when_nothing_unseen_may(
    player: Player, pace: list[timedelta]
) -> None:
    player.settings = Settings(retest_after_days=2, retest_one_in=5)
    for step in pace:
        before = player.history
        choice = player.play()
        player.now += step
        if choice is not None and choice.retest_of is not None and before.rounds % 5 != 4:
            later = replace(before, answered=before.answered)
            unretested = Player(player.number, player.library, Settings(10_000, 5))
            unretested.history, unretested.now = later, player.now
            assert unretested.next() is None


def test_a_retest_is_served_in_its_turn_though_much_is_unseen() -> None:
    player = Player(1, library(1, plain=30))
    for _ in range(19):
        player.play()
        player.now += 2 * DAY
    assert all(choice.retest_of is None for choice in player.served)
    due = player.play()
    assert due is not None
    assert due.retest_of is not None
    following = player.next()
    assert following is not None
    assert following.retest_of is None


def test_the_least_often_and_longest_ago_is_asked_again_first() -> None:
    player = Player(1, library(1, pairs=0, stories=0, plain=4))
    for _ in range(4):
        player.play()
        player.now += DAY
    first_asked = [choice.scenario_id for choice in player.served]
    player.now += 30 * DAY
    again = [player.play() for _ in range(4)]
    assert [choice and choice.scenario_id for choice in again] == first_asked
    assert player.play() is None
    player.now += 31 * DAY
    assert player.play() is not None


def test_nothing_is_due_while_the_clock_stands_before_the_decisions() -> None:
    player = Player(1, library(1, pairs=0, stories=0, plain=3))
    for _ in range(3):
        player.play()
    player.now -= 400 * DAY
    assert player.next() is None


def test_what_feeds_the_signal_with_least_data_comes_first() -> None:
    kinds = (PREMISE, MAJORITY, COUNTER_ARGUMENT)
    player = Player(1, [Candidate(uuid4(), "court", ANY_ROUND | kind) for kind in kinds])
    enough = {signal.name: 12 for signal in SIGNALS}
    for found, kind in zip(player.library, kinds, strict=True):
        short = {**enough, next(iter(kind)): 11}
        player.history = replace(player.history, evidence=short)
        choice = player.next()
        assert choice is not None
        assert choice.scenario_id == found.id


def test_owners_are_not_all_served_the_same_order() -> None:
    rounds = library(3, pairs=0, stories=0, plain=8)
    same = [replace(c, feeds=ANY_ROUND) for c in rounds]
    firsts = {getattr(Player(n, same).next(), "scenario_id", None) for n in range(60)}
    assert len(firsts) == 8


def test_either_of_a_pair_may_come_first() -> None:
    pair = library(3, themes=1, pairs=1, stories=0, plain=0)
    firsts = {getattr(Player(n, pair).next(), "scenario_id", None) for n in range(40)}
    assert firsts == {c.id for c in pair}


def test_an_outcome_is_told_soon_and_not_in_the_story_of_another() -> None:
    player = Player(5, library(5, pairs=0, stories=1, plain=12))
    story, sequel = player.library[:2]
    while story.id not in player.history.answered:
        player.play()
    told_in = player.history.rounds + SEQUEL_DISTANCE
    while sequel.id not in player.history.answered:
        player.play()
    assert player.history.rounds == told_in


def test_a_story_whose_outcome_was_told_is_not_asked_again() -> None:
    story, sequel, *others = library(5, pairs=0, stories=1, plain=3)
    player = Player(5, [story, sequel, *(replace(c, feeds=ANY_ROUND) for c in others)])
    for _ in range(5):
        player.play()
    assert len(player.history.answered) == 5
    player.now += 40 * DAY
    asked = [player.play() for _ in range(4)]
    assert [choice is not None for choice in asked] == [True, True, True, False]
    assert not {c.id for c in player.library[:2]} & {c.scenario_id for c in asked if c}


def packaged() -> list[Candidate]:
    """The library as the choice sees it."""
    return [candidate(scenario) for scenario in read_library()]


def test_of_the_packaged_library_everything_is_served_without_waiting() -> None:
    found = packaged()
    for number in range(20):
        player = Player(number, found)
        for _ in found:
            assert player.play() is not None
        assert set(player.history.answered) == {c.id for c in found}


@pytest.mark.parametrize("number", range(8))
def test_whoever_plays_a_round_a_day_leaves_no_signal_sparse_after_sixty(number: int) -> None:
    player = Player(number, packaged())
    rounds = dict.fromkeys((signal.name for signal in SIGNALS), 0)
    for _ in range(60):
        player.play()
        player.now += DAY
        for name in rounds:
            if player.history.evidence.get(name, 0) < SPARSE_BELOW:
                rounds[name] = player.history.rounds + 1
    assert player.history.rounds == 60
    assert max(rounds.values()) <= 60, rounds
    assert sorted(rounds.values())[-2] <= 40, rounds  # all but what needs a month to pass

"""Ranked ballots: points, majorities, circles, and the same answer whatever the names."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgment.kit.errors import InvalidRequest
from judgment.preferences.solver import Ballot, ballots_from, ballots_in, count, verify

pytestmark = pytest.mark.promise("P3-solver-ballots")

CANDIDATES = "abcde"


def standing(found) -> dict[str, int]:
    return {one.candidate: one.rank for one in found.ranking}


@st.composite
def orders(draw) -> tuple[tuple[str, ...], ...]:
    """Some candidates in groups, the rest left out."""
    named = draw(st.permutations(CANDIDATES))[: draw(st.integers(1, 5))]
    cuts = draw(st.lists(st.booleans(), min_size=len(named), max_size=len(named)))
    groups: list[tuple[str, ...]] = []
    for one, cut in zip(named, cuts, strict=True):
        if cut or not groups:
            groups.append((one,))
        else:
            groups[-1] = (*groups[-1], one)
    return tuple(groups)


def elections() -> st.SearchStrategy[list[Ballot]]:
    return st.lists(st.builds(Ballot, orders(), st.integers(1, 4)), min_size=1, max_size=9)


def test_points_are_for_those_behind_and_half_for_those_level() -> None:
    found = count([Ballot((("a", "b"), ("c",)))], "abcd", method="borda")
    assert {one.candidate: one.points for one in found.ranking} == {
        "a": 2.5,
        "b": 2.5,
        "c": 1.0,
        "d": 0.0,
    }
    assert standing(found) == {"a": 1, "b": 1, "c": 3, "d": 4}


def test_who_is_not_on_a_ballot_shares_the_places_left_over() -> None:
    found = count([Ballot(("a",), 2)], "abcd", method="borda")
    assert [one.points for one in found.ranking] == [6.0, 2.0, 2.0, 2.0]
    assert sum(one.points or 0 for one in found.ranking) == 2 * (3 + 2 + 1 + 0)


def test_a_majority_against_each_other_wins_though_another_has_more_points() -> None:
    ballots = [Ballot(("a", "b", "c"), 3), Ballot(("b", "c", "a"), 2)]
    points, majorities = (count(ballots, "abc", method=one) for one in ("borda", "condorcet"))
    assert points.ranking[0].candidate == "b"
    assert majorities.winner == "a"
    assert majorities.ranking[0].candidate == "a"
    assert majorities.undefeated == ("a",)
    assert majorities.cycle == ()


def test_a_circle_is_named_and_ordered_by_its_strongest_paths() -> None:
    """The weakest of the three majorities, 4 to 3 for c over a, is the one that gives way."""
    ballots = [Ballot(("a", "b", "c"), 3), Ballot(("b", "c", "a"), 2), Ballot(("c", "a", "b"), 2)]
    found = count(ballots, "abc")
    assert found.winner is None
    assert found.undefeated == ("a", "b", "c")
    assert found.cycle == ("a", "b", "c")
    assert standing(found) == {"a": 1, "b": 2, "c": 3}


def test_the_example_by_which_the_method_is_usually_explained() -> None:
    """45 voters over five candidates, each beaten by another: e > a > c > b > d."""
    ballots = [
        Ballot(tuple(order), times)
        for order, times in (
            ("acbed", 5),
            ("adecb", 5),
            ("bedac", 8),
            ("cabed", 3),
            ("caebd", 7),
            ("cbade", 2),
            ("dceba", 7),
            ("ebadc", 8),
        )
    ]
    found = count(ballots, "abcde")
    assert [one.candidate for one in found.ranking] == list("eacbd")
    assert [one.rank for one in found.ranking] == [1, 2, 3, 4, 5]
    assert found.winner is None
    assert found.trace["paths"]["e"] == {"a": 25, "b": 28, "c": 28, "d": 31}
    assert found.trace["paths"]["a"] == {"b": 28, "c": 28, "d": 30, "e": 24}


def test_a_draw_without_a_circle_is_a_tie_and_no_circle_is_made_up() -> None:
    found = count([Ballot(("a", "b", "c")), Ballot(("b", "a", "c"))], "abc")
    assert found.winner is None
    assert found.undefeated == ("a", "b")
    assert found.cycle == ()
    assert standing(found) == {"a": 1, "b": 1, "c": 3}


@settings(max_examples=300, deadline=None)
@given(elections(), st.sampled_from(("borda", "condorcet")))
def test_every_count_is_derived_again_by_another_road(ballots, method) -> None:
    found = count(ballots, CANDIDATES, method=method)
    assert verify(found.trace) == []


@settings(max_examples=200, deadline=None)
@given(elections(), st.sampled_from(("borda", "condorcet")), st.permutations(CANDIDATES), st.data())
def test_names_and_order_of_ballots_decide_nothing(ballots, method, names, data) -> None:
    renamed = dict(zip(CANDIDATES, names, strict=True))
    other = [
        Ballot(tuple(tuple(renamed[one] for one in group) for group in ballot.order), ballot.count)
        for ballot in data.draw(st.permutations(ballots))
    ]
    before, after = count(ballots, CANDIDATES, method=method), count(other, names, method=method)
    assert {renamed[one]: rank for one, rank in standing(before).items()} == standing(after)
    assert {renamed[one] for one in before.undefeated} == set(after.undefeated)
    assert len(before.cycle) == len(after.cycle)
    assert (before.winner and renamed[before.winner]) == after.winner


@settings(max_examples=200, deadline=None)
@given(elections())
def test_a_condorcet_winner_stands_alone_in_front_and_a_circle_is_one(ballots) -> None:
    found = count(ballots, CANDIDATES)
    votes = found.trace["votes"]
    if found.winner:
        assert all(times > votes[one][found.winner] for one, times in votes[found.winner].items())
        assert [one.candidate for one in found.ranking if one.rank == 1] == [found.winner]
    for one, after in zip(found.cycle, (*found.cycle[1:], *found.cycle[:1]), strict=True):
        assert votes[one][after] > votes[after][one]
    outside = set(CANDIDATES) - set(found.undefeated)
    assert all(votes[one][out] > votes[out][one] for one in found.undefeated for out in outside)


@settings(max_examples=100, deadline=None)
@given(elections())
def test_ballots_split_over_lines_count_as_one_line(ballots) -> None:
    apart = [Ballot(one.order) for one in ballots for _ in range(one.count)]
    assert count(ballots, CANDIDATES).trace == count(apart, CANDIDATES).trace


def test_a_file_of_ballots_is_read_with_what_stands_level() -> None:
    text = "# TITLE: a vote\n\n3: 1,2\n2: {1, 3},2\n1: 2\n"
    assert ballots_in(text) == (
        Ballot(("1", "2"), 3),
        Ballot((("1", "3"), ("2",)), 2),
        Ballot(("2",), 1),
    )
    same = [{"order": ["1", "2"], "count": 3}, {"order": [["1", "3"], "2"], "count": 2}]
    assert ballots_from([*same, {"order": ["2"]}]) == ballots_in(text)


@pytest.mark.promise("P3-refuse")
@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: count([], "ab"), "at least one ballot"),
        (lambda: count([Ballot(("a",))], []), "at least one candidate"),
        (lambda: count([Ballot(("a",))], "aab"), "two candidates are called a"),
        (lambda: count([Ballot(("a", "z"))], "ab"), "names nobody's candidate: z"),
        (lambda: count([Ballot(("a",))], "ab", method="approval"), "method must be one of borda"),
        (lambda: Ballot(("a", "b", "a")), "names a twice"),
        (lambda: Ballot((("a", "a"),)), "names a twice"),
        (lambda: Ballot(()), "at least one candidate"),
        (lambda: Ballot(((),)), "a ballot is a list of names"),
        (lambda: Ballot((3,)), "a ballot is a list of names"),
        (lambda: Ballot(("a",), 0), "a whole number from 1"),
        (lambda: Ballot(("a",), True), "a whole number from 1"),
        (lambda: Ballot(("a",), 1.5), "a whole number from 1"),
        (lambda: count([Ballot(("0",))], map(str, range(201))), "201 candidates, at most 200"),
        (lambda: ballots_in("3 1,2"), "line 1 is not a count"),
        (lambda: ballots_in("3: 1,{2,3\n"), "line 1 has an order that cannot be read"),
        (lambda: ballots_in("3: 1,,2\n"), "line 1 has an order that cannot be read"),
        (lambda: ballots_in("1: 1,2,\n2: 1,1"), "names 1 twice"),
        (lambda: ballots_from([{"order": ["a"], "weight": 2}]), "unknown fields: weight"),
        (lambda: ballots_from([{"count": 2}]), "ballot 1 has no order"),
        (lambda: ballots_from({"order": ["a"]}), "ballots must be a list"),
    ],
)
def test_what_is_no_vote_is_refused(call, words: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        call()
    assert words in caught.value.message


@pytest.mark.promise("P3-refuse")
def test_a_count_that_would_take_long_is_refused() -> None:
    names = [f"c{place}" for place in range(200)]
    ballots = [Ballot((one, other)) for one in names[:20] for other in names[20:40]]
    with pytest.raises(InvalidRequest, match="comparisons"):
        count(ballots, names)

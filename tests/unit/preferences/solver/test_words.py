"""The same trace in words: complete, one step a line, and deaf to what a name would like to say."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgment.preferences.solver import (
    Ballot,
    Constraint,
    Opinion,
    Option,
    Participant,
    count,
    solution_json,
    solution_object,
    solve,
    words,
)
from tests.unit.preferences.solver.groups import POLICIES, option, person

pytestmark = pytest.mark.promise("P3-solver")

PLANS = [
    option("bistro", "vegan", "wine", title="At the corner"),
    option("diner", "meat"),
]
GROUP = [
    person("ann", wine=Opinion(0.6, 0.5), vegan=0.2),
    person("bob", meat=Opinion(0.4, 1.0, True)),
]


def test_every_step_from_opinion_to_ranking_has_a_line() -> None:
    assert words(solve(PLANS, GROUP).trace) == [
        'bistro: titled "At the corner"',
        "bistro: ann vegan weight +0.200000",
        "bistro: ann wine weight +0.600000, confidence 0.500000, counts +0.300000",
        "bistro: ann mean of 2 +0.250000",
        "bistro: heard 1 of 2, silent and counted as 0: bob",
        "bistro: total +0.250000",
        "diner: bob meat weight +0.400000, stale 0.5, counts +0.200000",
        "diner: heard 1 of 2, silent and counted as 0: ann",
        "diner: total +0.200000",
        "bistro before diner: total +0.250000 over +0.200000",
        "ranking: bistro > diner",
    ]


def test_without_detail_the_opinions_are_left_out_and_the_reasons_stay() -> None:
    trace = solve(PLANS, GROUP).trace
    assert words(trace, detail=False) == [
        line for line in words(trace) if "weight" not in line and "mean of" not in line
    ]


def test_words_are_not_in_the_trace_until_they_are_asked_for() -> None:
    found = solve(PLANS, GROUP)
    assert "counts +0.300000" not in json.dumps(found.trace)
    assert solution_object(found).keys() >= {"ranking", "trace"}
    assert "words" not in solution_object(found)
    assert solution_object(found, in_words=True)["words"] == words(found.trace)


def test_a_veto_that_six_decimals_would_hide_is_shown_in_full() -> None:
    found = solve(PLANS, [person("ann", meat=-0.5000001)], policy="hard-veto")
    assert found.excluded[0].reason == "veto by ann on meat (-0.5000001 < -0.5)"


def test_many_silent_are_counted_and_not_all_named() -> None:
    group = [person(f"p{n:02}") for n in range(14)]
    line = words(solve([option("plan", "key")], group).trace)[0]
    assert line.startswith("plan: heard 0 of 14, silent and counted as 0: p00, p01")
    assert line.endswith("p09 and 4 more")


FORGING = st.text(
    st.sampled_from('\n\r\u2028\u2029\x85\x1b\u202e\u2066\u200b"\\ >=:|ab') | st.characters(),
    min_size=1,
    max_size=12,
).filter(lambda text: not any("\ud800" <= one <= "\udfff" for one in text))


@settings(max_examples=200, deadline=None)
@given(FORGING, FORGING, FORGING, FORGING, st.sampled_from(POLICIES))
def test_no_name_key_or_title_can_forge_a_line(plan, key, name, title, policy) -> None:
    option_ = Option(plan, (key,), title)
    group = [Participant(name, {key: Opinion(-0.9)}), Participant(f"{name}2", {})]
    found = solve(
        [option_], group, policy=policy, constraints=[Constraint("excludes", key, by=name)]
    )
    lines = words(found.trace)
    assert all(line.isprintable() for line in lines)
    # Titled, one opinion, one silent, the veto where the policy has one, the constraint, ranking.
    assert len(lines) == 5 + (policy == "hard-veto")
    assert all(one.isprintable() for one in found.excluded[0].reasons)


def test_a_name_that_looks_like_a_ranking_is_in_quotes() -> None:
    found = solve([option("a > b | vetoed: c", "x"), option("d", "y")], [person("ann", x=0.5)])
    assert words(found.trace)[-1] == 'ranking: "a > b | vetoed: c" > d'


def test_an_answer_holds_of_each_participant_only_what_was_asked() -> None:
    document = {"asked": Opinion(0.123, 0.456), "secret.key": Opinion(-0.789)}
    text = solution_json(
        solve([option("plan", "asked")], [Participant("ann", document)]), in_words=True
    )
    assert "0.123" in text
    assert "secret" not in text
    assert "0.789" not in text
    brief = solution_json(
        solve([option("plan", "asked")], [Participant("ann", document)]), trace=False
    )
    assert "0.123" not in brief
    assert "asked" not in brief
    assert text.endswith("}\n")
    assert text.isascii()


def test_a_count_is_told_pair_by_pair() -> None:
    ballots = [Ballot(("a", "b", "c"), 3), Ballot(("b", "c", "a"), 2), Ballot(("c", "a", "b"), 2)]
    assert words(count(ballots, "abc").trace) == [
        "a over b: votes 5 to 2",
        "a over b: strongest path 5 to 4",
        "c over a: votes 4 to 3",
        "a over c: strongest path 5 to 4",
        "b over c: votes 5 to 2",
        "b over c: strongest path 5 to 4",
        "nobody is preferred to each other by a majority; undecided among a, b, c",
        "majorities go in a circle: a over b over c over a",
        "ranking: a > b > c",
    ]
    assert words(count(ballots, "abc", method="borda").trace)[-4:] == [
        "a: 8 points",
        "b: 7 points",
        "c: 6 points",
        "ranking: a > b > c",
    ]

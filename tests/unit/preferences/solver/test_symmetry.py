"""Neither order nor names decide: the solver sees who wants what, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgment.preferences.solver import Option, Participant, solution_json, solve
from tests.unit.preferences.solver.groups import (
    KEYS,
    option,
    options,
    participants,
    person,
    ranks,
    scores,
    settings_of_a_solve,
)

pytestmark = pytest.mark.promise("P3-solver-symmetry", "001-solver")


def shuffled_keys(one: Option, shuffle: Any) -> Option:
    return Option(
        one.id,
        tuple(shuffle(list(one.keys))),
        one.title,
        dict(shuffle(list(one.attributes.items()))),
    )


@settings(max_examples=200, deadline=None)
@given(options(), participants(), settings_of_a_solve(), st.data())
def test_the_order_of_everything_shows_in_no_byte(plans, group, how, data) -> None:
    def shuffle(items: list[Any]) -> list[Any]:
        return data.draw(st.permutations(items)) if items else []

    other_plans = [shuffled_keys(one, shuffle) for one in shuffle(plans)]
    other_group = [
        Participant(one.id, dict(shuffle(list(one.opinions.items())))) for one in shuffle(group)
    ]
    other_how = {**how, "constraints": shuffle(how["constraints"])}
    one = solution_json(solve(plans, group, **how), in_words=True)
    assert one == solution_json(solve(other_plans, other_group, **other_how), in_words=True)


@settings(max_examples=200, deadline=None)
@given(options(), participants(), settings_of_a_solve(), st.data())
def test_other_names_change_no_score_no_rank_and_no_tie(plans, group, how, data) -> None:
    def renamed(names: list[str]) -> dict[str, str]:
        others = data.draw(
            st.lists(
                st.text(min_size=1, max_size=3).filter(str.isprintable),
                min_size=len(names),
                max_size=len(names),
                unique=True,
            )
        )
        return dict(zip(names, [f"k{one}" for one in others], strict=True))

    how = {**how, "forced_order": False}
    plan_names = renamed(sorted(one.id for one in plans))
    names = renamed(sorted(one.id for one in group))
    keys = {
        key: f"other.{place}"
        for place, key in enumerate(data.draw(st.permutations((*KEYS, "unasked"))))
    }
    subjects = {"price": "z", "minutes": "a", **keys}
    other_plans = [
        Option(
            plan_names[one.id],
            tuple(keys[key] for key in one.keys),
            one.title,
            {subjects[name]: amount for name, amount in one.attributes.items()},
        )
        for one in plans
    ]
    other_group = [
        Participant(names[one.id], {keys[key]: held for key, held in one.opinions.items()})
        for one in group
    ]
    conditions = [
        type(one)(one.kind, subjects[one.subject], one.amount) for one in how["constraints"]
    ]
    before = solve(plans, group, **how)
    after = solve(other_plans, other_group, **{**how, "constraints": conditions})
    assert {plan_names[one]: rank for one, rank in ranks(before).items()} == ranks(after)
    assert {plan_names[one]: score for one, score in scores(before).items()} == scores(after)
    assert {plan_names[one.option] for one in before.excluded} == {
        one.option for one in after.excluded
    }
    assert {frozenset(plan_names[one] for one in tie) for tie in before.trace["ties"]} == {
        frozenset(tie) for tie in after.trace["ties"]
    }


def test_a_sum_of_floats_does_not_depend_on_which_key_comes_first() -> None:
    """From left to right 0.1 + 0.2 + 0.3 is one float and 0.3 + 0.2 + 0.1 another."""
    plans = [option("plan", "a", "b", "c")]
    forth, back = person("ann", a=0.1, b=0.2, c=0.3), person("ann", a=0.3, b=0.2, c=0.1)
    for normalise in ("mean", "none"):
        one, other = (
            solve(plans, [group], normalise=normalise).trace["options"]["plan"]
            for group in (forth, back)
        )
        assert one == other
    assert 0.1 + 0.2 + 0.3 != 0.3 + 0.2 + 0.1


@settings(max_examples=100, deadline=None)
@given(options(), participants(), settings_of_a_solve())
def test_solving_twice_gives_the_same_bytes_and_leaves_its_input_alone(plans, group, how) -> None:
    kept = repr((plans, group))
    first, second = (solution_json(solve(plans, group, **how)) for _ in range(2))
    assert first == second
    assert repr((plans, group)) == kept


@settings(max_examples=100, deadline=None)
@given(options(), participants(), settings_of_a_solve())
def test_opinions_that_no_option_asks_for_are_neither_used_nor_shown(plans, group, how) -> None:
    asked = {key for one in plans for key in one.keys}
    only_asked = [
        Participant(one.id, {key: held for key, held in one.opinions.items() if key in asked})
        for one in group
    ]
    assert solution_json(solve(plans, group, **how)) == solution_json(
        solve(plans, only_asked, **how)
    )

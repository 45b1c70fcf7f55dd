"""Conditions that no opinion can outweigh."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from judgment.preferences.solver import Constraint, solve, verify, words
from tests.unit.preferences.solver.groups import (
    constraints,
    option,
    options,
    participants,
    person,
    ranks,
    scores,
)

pytestmark = pytest.mark.promise("P3-solver")

PLANS = [
    option("bistro", "vegan", "wine", price=40.0),
    option("diner", "meat", price=15.0),
    option("picnic", "vegan"),
]
GROUP = [person("ann", wine=1.0, meat=1.0), person("bob", vegan=0.1)]


def left(*conditions: Constraint) -> set[str]:
    return set(ranks(solve(PLANS, GROUP, constraints=conditions)))


def test_a_key_can_be_required_or_excluded() -> None:
    assert left(Constraint("requires", "vegan")) == {"bistro", "picnic"}
    assert left(Constraint("excludes", "vegan")) == {"diner"}
    assert left(Constraint("requires", "vegan"), Constraint("excludes", "wine")) == {"picnic"}


def test_a_number_can_be_bounded_and_a_bound_is_within() -> None:
    assert left(Constraint("at_most", "price", 15)) == {"diner"}
    assert left(Constraint("at_least", "price", 40)) == {"bistro"}
    assert left(Constraint("at_most", "price", 14.99)) == set()


def test_what_is_unknown_of_an_option_is_within_no_bound() -> None:
    found = solve(PLANS, GROUP, constraints=[Constraint("at_most", "price", 100)])
    assert [(one.option, one.reasons) for one in found.excluded] == [
        ("picnic", ("out, price is not given, at_most 100.0",))
    ]


def test_every_reason_is_named_with_who_asked() -> None:
    found = solve(
        PLANS,
        [*GROUP, person("cleo", wine=-0.9)],
        policy="hard-veto",
        constraints=[
            Constraint("at_most", "price", 20, by="bob"),
            Constraint("excludes", "wine", by="cleo"),
        ],
    )
    bistro = found.excluded[0]
    assert bistro.option == "bistro"
    assert bistro.reasons == (
        "veto by cleo on wine (-0.900000 < -0.5)",
        "out, price is 40.0, at_most 20.0, asked by bob",
        "out, excludes wine, asked by cleo",
    )
    assert words(found.trace)[-1] == "ranking: diner | vetoed: bistro | excluded: picnic"


def test_everything_can_be_out() -> None:
    found = solve(PLANS, GROUP, constraints=[Constraint("requires", "sushi")])
    assert found.ranking == ()
    assert len(found.excluded) == 3
    assert words(found.trace)[-1] == ("ranking: nothing is left | excluded: bistro, diner, picnic")
    assert verify(found.trace) == []


@settings(max_examples=100, deadline=None)
@given(options(), participants(), constraints())
def test_a_constraint_takes_out_and_changes_no_score(plans, group, conditions) -> None:
    free, bound = solve(plans, group), solve(plans, group, constraints=conditions)
    assert scores(bound).items() <= scores(free).items()
    assert set(scores(bound)) | {one.option for one in bound.excluded} == set(scores(free))
    kept = [one.option for one in free.ranking if one.option in scores(bound)]
    assert [one.option for one in bound.ranking] == kept

"""A trace proves itself, and one changed number gives it away."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgment.preferences.solver import Ballot, Constraint, Opinion, count, solve, verify
from tests.unit.preferences.solver.groups import (
    POLICIES,
    option,
    options,
    participants,
    person,
    settings_of_a_solve,
)

pytestmark = pytest.mark.promise("P3-solver-verify")

Path = tuple[str | int, ...]

PLANS = [
    option("bistro", "vegan", "wine", price=40.0, title="A bistro"),
    option("diner", "meat", price=15.0),
    option("picnic", "vegan", price=0.0),
    option("same", "vegan", price=1.0),
]
GROUP = [
    person("ann", wine=Opinion(0.6, 0.7), meat=1.0, vegan=Opinion(0.0, 0.9)),
    person("bob", vegan=Opinion(0.1, 1.0, True), meat=-0.9),
    person("cleo"),
]
HOW: dict[str, Any] = {"constraints": [Constraint("at_most", "price", 30, by="bob")]}
BALLOTS = [Ballot(("a", "b", "c"), 3), Ballot(("b", "c"), 2), Ballot((("c",), ("a", "d")), 2)]


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every value in it that is no list and no object, and where it stands."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from leaves(one, (*path, name))
    elif isinstance(value, list):
        for place, one in enumerate(value):
            yield from leaves(one, (*path, place))
    else:
        yield path, value


def changed(trace: Any, path: Path, value: Any) -> Any:
    """A copy with another value there."""
    other = copy.deepcopy(trace)
    here = other
    for step in path[:-1]:
        here = here[step]
    here[path[-1]] = value
    return other


def others(value: Any) -> list[Any]:
    """Values that it is not."""
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, int | float):
        return [value + 1e-9, value + 1, value - 2, None, float("nan"), True]
    return [f"{value}x", None if value is not None else 0.5]


def through_json(trace: Any) -> Any:
    return json.loads(json.dumps(trace, allow_nan=False))


@settings(max_examples=300, deadline=None)
@given(options(), participants(), settings_of_a_solve())
def test_whatever_is_solved_can_be_derived_again_from_its_trace(plans, group, how) -> None:
    trace = solve(plans, group, **how).trace
    assert verify(trace) == []
    assert verify(through_json(trace)) == []


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("forced_order", [False, True])
def test_any_one_value_changed_anywhere_is_found(policy: str, forced_order: bool) -> None:
    trace = solve(PLANS, GROUP, policy=policy, forced_order=forced_order, **HOW).trace
    places = list(leaves(trace))
    assert len(places) > 100
    for path, value in places:
        for other in others(value):
            assert verify(changed(trace, path, other)), (path, value, other)


@pytest.mark.parametrize("method", ["borda", "condorcet"])
def test_any_one_value_of_a_count_changed_is_found(method: str) -> None:
    trace = count(BALLOTS, "abcd", method=method).trace
    assert verify(through_json(trace)) == []
    for path, value in leaves(trace):
        for other in others(value):
            assert verify(changed(trace, path, other)), (path, value, other)


@settings(max_examples=150, deadline=None)
@given(options(), participants(), settings_of_a_solve(), st.data())
def test_in_any_trace_a_changed_number_is_found(plans, group, how, data) -> None:
    trace = solve(plans, group, **how).trace
    numbers = [
        (path, value)
        for path, value in leaves(trace)
        if isinstance(value, int | float) and not isinstance(value, bool)
    ]
    path, value = data.draw(st.sampled_from(numbers))
    other = data.draw(st.floats(-2, 2).filter(lambda number: number != value))
    assert verify(changed(trace, path, other)), (path, value, other)


def test_a_difference_says_where_it_is_and_what_follows_there() -> None:
    trace = solve(PLANS, GROUP, **HOW).trace
    assert verify(changed(trace, ("options", "diner", "score"), 0.25)) == [
        "trace.options.diner.score is 0.25, and follows as 0.1"
    ]
    assert verify(changed(trace, ("ranking", 0, "rank"), 2)) == [
        "trace.ranking[0].rank is 2, and follows as 1"
    ]


def test_what_is_missing_added_or_swapped_is_named() -> None:
    trace = solve(PLANS, GROUP, **HOW).trace
    without = copy.deepcopy(trace)
    del without["options"]["diner"]
    assert "trace.options.diner is missing" in verify(without)
    more = changed(trace, ("options", "diner", "note\n"), 1)
    assert verify(more) == ['trace.options.diner."note\\n" does not belong there']
    swapped = copy.deepcopy(trace)
    swapped["ranking"].reverse()
    assert verify(swapped)
    silenced = copy.deepcopy(trace)
    silenced["options"]["diner"]["silent"] = []
    assert verify(silenced) == ["trace.options.diner.silent is a list of 0, not a list of 1"]


def test_an_input_that_moves_nothing_is_held_by_the_digest() -> None:
    trace = solve(PLANS, GROUP, **HOW).trace
    path = ("inputs", "participants", 0, "keys", "vegan", "confidence")
    found = verify(changed(trace, path, 0.8))
    assert len(found) == 1
    assert found[0].startswith("trace.digest is ")


@pytest.mark.parametrize(
    "value",
    [
        None,
        3,
        "trace",
        [],
        {},
        {"inputs": []},
        {"inputs": {"policy": ["nash"], "options": [], "participants": {}}},
        {"inputs": {"ballots": [], "method": [], "candidates": "abc"}},
        {"inputs": {"ballots": [{"order": [[]]}], "method": "borda", "candidates": ["a"]}},
    ],
)
def test_what_is_no_trace_is_said_and_nothing_is_raised(value: Any) -> None:
    found = verify(value)
    assert len(found) == 1
    assert found[0].startswith("the inputs cannot be read: ")


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_no_text_in_a_trace_can_forge_a_line_of_the_findings(data) -> None:
    trace = solve(PLANS, GROUP, **HOW).trace
    path, _ = data.draw(st.sampled_from(list(leaves(trace))))
    text = data.draw(st.text(max_size=20)) + "\n\u202e\x1b[2J"
    for line in verify(changed(trace, path, text)):
        assert line.isprintable()


def test_a_trace_with_everything_wrong_is_answered_within_bounds() -> None:
    plans = [option(f"o{n}", "x") for n in range(300)]
    trace = solve(plans, [person("ann", x=0.5)]).trace
    trace["options"] = {}
    found = verify(trace)
    assert len(found) == 101
    assert found[-1] == "and more"

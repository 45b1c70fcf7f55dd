"""What a page gets of a scenario, what it may answer, and rows of any kind."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, get_args
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.contract.rounds import DecisionRequest, ShownOutcome, Step
from judgment.scenarios.library.entries import read_entry
from judgment.scenarios.model import (
    Scenario,
    asked,
    scenario_columns,
    scenario_from_row,
    steps,
    to_wire,
)
from tests.unit.scenarios.examples import any_json, document, scenario

OUTCOME = ShownOutcome(
    decision_id=uuid4(), scenario_title="Before", chosen_label="That", text="It went badly."
)
STIMULI = ("premise", "majority_option_id", "counter_arguments")


def without(*names: str) -> Scenario:
    """The good scenario without some of its stimuli."""
    changed = document()
    gone = {*names} | ({"majority_text"} if "majority_option_id" in names else set())
    for name in gone:
        del changed["stimuli"][name]
    found = read_entry(changed)
    assert found.scenario is not None
    assert not found.complaints
    return found.scenario


def row(found: Scenario) -> dict[str, Any]:
    """As the database would give it back."""
    return {**scenario_columns(found), "archived": False, "library_key": found.key}


@pytest.mark.promise("000-8.3")
def test_what_an_option_reveals_and_how_it_turns_out_never_leaves() -> None:
    found = scenario()
    sent = to_wire(found, retest=False, outcome=OUTCOME).model_dump_json()
    assert set(to_wire(found, retest=False, outcome=None).options[0].model_dump()) == {
        "id",
        "label",
        "description",
    }
    for word in ("drivers", "risk", "approach", "outcomes", "pair", "sequel", "long_term", "spend"):
        assert word not in sent
    for outcome in found.stimuli.outcomes.values():
        assert outcome.text not in sent


@pytest.mark.parametrize("outcome", [None, OUTCOME])
@pytest.mark.parametrize("gone", [(), *((name,) for name in STIMULI), STIMULI])
def test_steps_are_those_of_the_contract_in_its_order(
    gone: tuple[str, ...], outcome: ShownOutcome | None
) -> None:
    found = without(*gone)
    wire = to_wire(found, retest=True, outcome=outcome)
    order = [step for step in get_args(Step) if step in wire.steps]
    assert wire.steps == order
    assert ("outcome" in order) == (outcome is not None) == (wire.outcome is not None)
    assert ("self_prediction" in order) == (wire.premise is not None)
    assert ("peer_prediction" in order) == ("majority" in order) == (wire.majority is not None)
    assert ("first_choice" in order) == ("counter_argument" in order)
    assert ("first_choice" in order) == bool(wire.counter_arguments)
    assert {"scenario", "choice", "confidence", "rationale"} <= set(order)
    assert wire.retest


def test_a_round_asks_for_what_it_has_steps_for_and_for_nothing_else() -> None:
    every = set(DecisionRequest.model_fields) - {"scenario_id"}
    assert asked(scenario()) == every
    assert asked(without(*STIMULI)) == {"option_id", "rationale", "confidence", "response_ms"}
    for step, name in (
        ("self_prediction", "self_predicted_option_id"),
        ("peer_prediction", "predicted_peer_option_id"),
        ("first_choice", "first_option_id"),
    ):
        for gone in ((), *((n,) for n in STIMULI)):
            found = without(*gone)
            assert (name in asked(found)) == (step in steps(found, outcome=False))


def test_a_scenario_is_read_as_it_was_stored() -> None:
    assert scenario_from_row(row(scenario())) == scenario()


def test_only_the_personal_theme_is_personalized() -> None:
    mine = replace(scenario(), theme="personal", owner_user_id=uuid4())
    assert to_wire(mine, retest=False, outcome=None).personalized
    assert not to_wire(scenario(), retest=False, outcome=None).personalized


@pytest.mark.parametrize(
    "change",
    [
        {"theme": "space"},
        {"theme": None},
        {"category": None},
        {"category": 7},
        {"title": "\u200b"},
        {"options": "many"},
        {"options": []},
        {"options": [{"id": "none", "label": "None of these"}]},
    ],
)
def test_what_nobody_could_play_is_no_scenario(change: dict[str, Any]) -> None:
    assert scenario_from_row({**row(scenario()), **change}) is None


def test_stimuli_that_fit_no_option_are_neither_shown_nor_kept() -> None:
    stored = row(scenario())
    stored["stimuli"] = {
        "majority_option_id": "z",
        "majority_text": "Most would.",
        "counter_arguments": {"z": "But.", "a": "But."},
        "outcomes": {"z": {"text": "So.", "good": True}},
    }
    found = scenario_from_row(stored)
    assert found is not None
    assert found.stimuli.to_json() == {"counter_arguments": {"a": "But."}}
    assert asked(found) - asked(without(*STIMULI)) == {"first_option_id"}


def test_of_two_options_with_one_id_the_first_is_offered() -> None:
    stored = row(scenario())
    stored["options"] = [*stored["options"], {"id": "a", "label": "Another"}]
    assert scenario_from_row(stored) == scenario()


COLUMNS = ("title", "description", "options", "constraints", "stimuli", "library_key", "archived")


@given(st.dictionaries(st.sampled_from((*COLUMNS, "theme", "category")), any_json(), max_size=6))
def test_no_stored_document_raises_and_what_is_read_can_be_sent(change: dict[str, Any]) -> None:
    found = scenario_from_row({**row(scenario()), **change})
    if found is not None:
        wire = to_wire(found, retest=False, outcome=None)
        assert wire.model_dump_json()
        assert asked(found)


def test_a_moment_and_an_owner_travel_with_the_row() -> None:
    owner = uuid4()
    stored = {**row(scenario()), "owner_user_id": owner, "archived": True}
    found = scenario_from_row({**stored, "created_at": datetime.now(UTC)})
    assert found is not None
    assert found.owner_user_id == owner
    assert found.archived

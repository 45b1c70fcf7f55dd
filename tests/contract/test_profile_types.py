"""The wire types of seed 000 §3.2, field for field, their cold-start form and their bounds."""

from __future__ import annotations

import json
from datetime import UTC
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from judgment.contract import profile as wire

OWNER = UUID("0f1d7f0c-3c57-4a3c-9d0f-7f1c7a2b9e11")

# As the seed's type listing has it, and what was added since: name -> (JSON type, may be null).
SEED: dict[type[BaseModel], dict[str, str]] = {
    wire.AgentProfile: {
        "user_id": "string",
        "sync_score": "number",
        "games_played": "integer",
        "model_confidence": "number",
        "signals": "array of AgentSignalSummary",
        "category_tendencies": "array of CategoryTendency",
        "context_rules": "array of AgentContextRule",
        "summary_text": "string or null",
        "summary_generated_at": "string or null",
        "summary_model_version": "string or null",
        "agent_context_block": "string or null",
        "summary_games_analyzed": "integer or null",
        "summary_stale": "boolean",
        "schema_version": "v1",
    },
    wire.AgentSignalSummary: {
        "signal": "string",
        "description": "string",
        "state": "rich | developing | sparse",
        "one_line": "string",
    },
    wire.CategoryTendency: {
        "category": "governance | values-culture | resource-allocation | team-dynamics",
        "primary_driver": "string",
        "secondary_drivers": "array of string",
        "risk_tolerance": "low | medium | high",
        "decision_speed": "deliberate | balanced | quick",
        "games_in_category": "integer",
        "recent_trend": "string or null",
    },
    wire.AgentContextRule: {
        "trigger": "string",
        "behavior_shift": "string",
        "confidence": "number",
    },
    wire.RecentDecision: {
        "scenario_id": "string",
        "scenario_title": "string",
        "category": "string",
        "theme": "string",
        "chosen_label": "string",
        "rationale": "string or null",
        "recorded_at": "string",
    },
}


def described(schema: dict[str, Any]) -> str:
    """A property's JSON Schema in the short words of the table above."""
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[1]
    if "anyOf" in schema:
        return " or ".join(described(branch) for branch in schema["anyOf"])
    if "const" in schema:
        return str(schema["const"])
    if "enum" in schema:
        return " | ".join(schema["enum"])
    if schema["type"] == "array":
        return f"array of {described(schema['items'])}"
    return str(schema["type"])


def owner_profile(**changes: Any) -> dict[str, Any]:
    """A profile as JSON would hold it, with every list filled."""
    return {
        "user_id": str(OWNER),
        "sync_score": 71.5,
        "games_played": 12,
        "model_confidence": 0.62,
        "signals": [
            {"signal": "dissent", "description": "d", "state": "rich", "one_line": "Says no."}
        ],
        "category_tendencies": [
            {
                "category": "governance",
                "primary_driver": "price",
                "secondary_drivers": ["trust"],
                "risk_tolerance": "low",
                "decision_speed": "balanced",
                "games_in_category": 12,
                "recent_trend": None,
            }
        ],
        "context_rules": [{"trigger": "crisis", "behavior_shift": "slows", "confidence": 0.4}],
        "summary_text": "Decides by price.",
        "summary_generated_at": "2026-05-01T10:00:00Z",
        "summary_model_version": "composer-1",
        "agent_context_block": "## How your owner decides",
        "summary_games_analyzed": 11,
        "summary_stale": True,
        "schema_version": "v1",
        **changes,
    }


@pytest.mark.promise("000-3", "000-3.2", "000-12", "P1-2")
@pytest.mark.parametrize("model", SEED, ids=lambda model: model.__name__)
def test_a_wire_type_has_the_fields_of_the_seed_and_those_added_to_v1(
    model: type[BaseModel],
) -> None:
    schema = model.model_json_schema(mode="serialization")
    properties = {name: described(value) for name, value in schema["properties"].items()}
    assert properties == SEED[model]
    assert schema["required"] == list(SEED[model])
    assert schema["additionalProperties"] is False


@pytest.mark.promise("000-3.1-themes")
def test_themes_and_categories_are_separate_closed_vocabularies() -> None:
    themes = set(wire.Theme.__args__)
    assert themes == {
        "boardroom", "frontier", "rebuild", "court", "underground", "custom", "personal"
    }  # fmt: skip
    assert set(wire.CATEGORIES) == set(wire.Category.__args__)
    assert themes.isdisjoint(wire.CATEGORIES)


@pytest.mark.promise("000-3.2-cold")
def test_an_owner_without_a_row_gets_the_cold_start_form() -> None:
    assert json.loads(wire.cold_start(OWNER).model_dump_json()) == {
        "user_id": str(OWNER),
        "sync_score": 0.0,
        "games_played": 0,
        "model_confidence": 0.0,
        "signals": [],
        "category_tendencies": [],
        "context_rules": [],
        "summary_text": None,
        "summary_generated_at": None,
        "summary_model_version": None,
        "agent_context_block": None,
        "summary_games_analyzed": None,
        "summary_stale": False,
        "schema_version": "v1",
    }


def test_cold_start_keeps_a_score_that_an_existing_app_has_given() -> None:
    assert wire.cold_start(OWNER, 40.0).sync_score == 40.0


def test_a_full_profile_survives_the_wire_unchanged() -> None:
    text = json.dumps(owner_profile())
    again = wire.AgentProfile.model_validate_json(text).model_dump_json()
    assert json.loads(again) == owner_profile()


@pytest.mark.promise("000-12")
@pytest.mark.parametrize(
    "changes",
    [
        {"sync_score": 100.5},
        {"sync_score": -1},
        {"sync_score": float("nan")},
        {"games_played": -1},
        {"games_played": 1.5},
        {"model_confidence": 1.01},
        {"model_confidence": float("inf")},
        {"schema_version": "v2"},
        {"user_id": "me"},
        {"summary_generated_at": "2026-05-01T10:00:00"},
        {"signals": [{"signal": "x", "description": "d", "state": "unsure", "one_line": "o"}]},
        {"context_rules": [{"trigger": "t", "behavior_shift": "b", "confidence": 2}]},
        {"category_tendencies": [{"category": "cooking"}]},
        {"profile": {}},
    ],
    ids=str,
)
def test_a_profile_outside_its_bounds_is_refused(changes: dict[str, Any]) -> None:
    wire.AgentProfile.model_validate(owner_profile())
    with pytest.raises(ValidationError):
        wire.AgentProfile.model_validate(owner_profile(**changes))


@pytest.mark.parametrize("field", sorted(SEED[wire.AgentProfile]))
def test_a_profile_with_a_field_missing_is_refused(field: str) -> None:
    value = owner_profile()
    del value[field]
    if field == "schema_version":
        assert wire.AgentProfile.model_validate(value).schema_version == "v1"
        return
    with pytest.raises(ValidationError):
        wire.AgentProfile.model_validate(value)


@pytest.mark.promise("000-4")
@pytest.mark.parametrize("limit", [0, 21, -1, 1e9, 1.5, True, "5", None])
def test_a_limit_of_recent_decisions_outside_1_to_20_is_refused(limit: object) -> None:
    with pytest.raises(ValidationError):
        wire.RecentDecisionsQuery.model_validate({"limit": limit})


@pytest.mark.parametrize("limit", [1, 20])
def test_both_ends_of_the_limit_are_allowed(limit: int) -> None:
    assert wire.RecentDecisionsQuery.model_validate({"limit": limit}).limit == limit


@given(
    decisions=st.lists(
        st.builds(
            wire.RecentDecision,
            scenario_id=st.uuids(),
            scenario_title=st.text(),
            category=st.text(),
            theme=st.text(),
            chosen_label=st.text(),
            rationale=st.none() | st.text(),
            recorded_at=st.datetimes(timezones=st.just(UTC)),
        ),
        max_size=3,
    )
)
def test_decisions_of_any_text_survive_the_wire(decisions: list[wire.RecentDecision]) -> None:
    sent = wire.RecentDecisions(decisions=decisions)
    assert wire.RecentDecisions.model_validate_json(sent.model_dump_json()) == sent

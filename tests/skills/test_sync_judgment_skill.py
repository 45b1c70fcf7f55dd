"""The agent skill: legal for every runtime, and true to the contract it speaks of."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest
import skills_ref

from functions.mcp.tools import TOOLS
from judgment.contract.errors import ErrorCode
from judgment.contract.profile import (
    AgentProfile,
    AgentSignalSummary,
    RecentDecisionsQuery,
    SignalState,
)
from tests.fakes import twin

SKILL = Path(__file__).parents[2] / "skills/sync-judgment"
HERMES_SHOWS = 57


@pytest.fixture(scope="module")
def text() -> str:
    return (SKILL / "SKILL.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def words(text: str) -> str:
    """The body with line breaks as spaces."""
    return " ".join(text.split("---", 2)[2].split())


@pytest.mark.promise("000-6", "P1-8", "000-13.2")
def test_the_skill_passes_the_reference_validator() -> None:
    assert skills_ref.validate(SKILL) == []


@pytest.mark.promise("P2-5-fresh")
def test_an_agent_is_told_what_a_stale_summary_means(words: str) -> None:
    assert "summary_stale" in AgentProfile.model_fields
    assert "If `summary_stale` is true, the owner has decided since" in words


def test_the_validator_can_fail(tmp_path: Path) -> None:
    other = tmp_path / "other-name"
    other.mkdir()
    (other / "SKILL.md").write_text((SKILL / "SKILL.md").read_text(encoding="utf-8"))
    assert skills_ref.validate(other) != []


def test_the_skill_is_within_every_runtimes_limits(text: str) -> None:
    assert len(text.splitlines()) < 200
    assert len(text) < 4 * 5000
    assert text.isascii()
    description = skills_ref.read_properties(SKILL).description
    assert len(description) <= 1024


@pytest.mark.promise("P1-8")
def test_what_hermes_shows_of_the_description_is_the_whole_trigger() -> None:
    shown = skills_ref.read_properties(SKILL).description[:HERMES_SHOWS]
    sentence, found, _ = shown.partition(". ")
    assert found
    assert {"decision", "profile"} <= set(re.findall(r"[a-z]+", sentence))


@pytest.mark.promise("000-6", "000-6-rule")
@pytest.mark.parametrize(
    "sentence",
    [
        "You are the owner's digital twin agent.",
        "You do not play Sync on the owner's behalf.",
        "You do not submit decisions, fetch scenarios, or mediate gameplay through this skill.",
        "If the owner wants to play Sync, direct them to the website.",
    ],
)
def test_the_non_negotiable_rule_is_there(words: str, sentence: str) -> None:
    assert sentence in words


@pytest.mark.promise("000-6", "000-10.1", "000-3.2", "000-6-teach")
@pytest.mark.parametrize(
    "topic",
    [
        "## When to consult it",
        "## How to read it",
        "## An untrained profile",
        "## Say that you used it",
        "## When the tool refuses",
        "## What not to do",
        "`summary_text` is null",
        "Based on your Sync profile, you tend to",
        "`profile_access_disabled`",
        "`agent_context_block` first",
    ],
)
def test_every_orientation_of_the_brief_is_there(words: str, topic: str) -> None:
    assert topic in words


def test_it_names_no_tool_field_or_code_that_does_not_exist(text: str) -> None:
    tools = {tool.name for tool in TOOLS if tool.name.startswith("sync.")}
    endings = {name.rpartition(".")[2] for name in tools}
    known = (
        {*tools, *endings, *get_args(ErrorCode), *get_args(SignalState)}
        | {*AgentProfile.model_fields, *AgentSignalSummary.model_fields}
        | {*RecentDecisionsQuery.model_fields, "retry_after_seconds"}
    )
    assert set(re.findall(r"`([a-z_.]+)`", text)) <= known
    assert set(re.findall(r"\bsync\.\w+", text)) <= tools


def test_the_fake_model_knows_the_skill_by_words_that_every_host_shows() -> None:
    shown = skills_ref.read_properties(SKILL).description[:HERMES_SHOWS]
    assert twin.SKILL_MARK in shown


def test_the_limit_it_states_is_the_contracts(words: str) -> None:
    limit = RecentDecisionsQuery.model_json_schema()["properties"]["limit"]
    assert f"(`limit` {limit['minimum']} to {limit['maximum']})" in words


def test_every_tool_is_introduced_by_the_ending_that_survives_renaming(words: str) -> None:
    for tool in TOOLS:
        if tool.name.startswith("sync."):
            assert f"ends in `{tool.name.rpartition('.')[2]}`" in words

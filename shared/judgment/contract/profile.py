"""The agent-facing profile: seed 000 §3.2, field for field, and its cold-start form."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import AwareDatetime, Field

from judgment.contract.wire import RequestModel, ResponseModel

Category = Literal["governance", "values-culture", "resource-allocation", "team-dynamics"]
CATEGORIES: tuple[Category, ...] = (
    "governance",
    "values-culture",
    "resource-allocation",
    "team-dynamics",
)
Theme = Literal["boardroom", "frontier", "rebuild", "court", "underground", "custom", "personal"]
SignalState = Literal["rich", "developing", "sparse"]
Level = Literal["low", "medium", "high"]
Speed = Literal["deliberate", "balanced", "quick"]

CONTEXT_BLOCK_LIMIT = 9_000
SUMMARY_LIMIT = 4_000


class AgentSignalSummary(ResponseModel):
    """One of the twelve behavioural signals, as an observation and how well it is backed."""

    signal: str
    description: str
    state: SignalState
    one_line: str


class CategoryTendency(ResponseModel):
    """How the owner tends to decide within one decision domain."""

    category: Category
    primary_driver: str
    secondary_drivers: list[str]
    risk_tolerance: Level
    decision_speed: Speed
    games_in_category: int = Field(ge=0)
    recent_trend: str | None


class AgentContextRule(ResponseModel):
    """A circumstance that shifts the owner's behaviour."""

    trigger: str
    behavior_shift: str
    confidence: float = Field(ge=0, le=1)


class AgentProfile(ResponseModel):
    """What an agent reads to embody its owner's judgment.

    `summary_games_analyzed`: how many decisions the texts were written from, null where that is
    not known. `summary_stale`: the profile has moved by 0.05 or more since, and new texts are due.
    """

    user_id: UUID
    sync_score: float = Field(ge=0, le=100)
    games_played: int = Field(ge=0)
    model_confidence: float = Field(ge=0, le=1)
    signals: list[AgentSignalSummary]
    category_tendencies: list[CategoryTendency]
    context_rules: list[AgentContextRule]
    summary_text: str | None
    summary_generated_at: AwareDatetime | None
    summary_model_version: str | None
    agent_context_block: str | None
    summary_games_analyzed: int | None = Field(ge=0)
    summary_stale: bool
    schema_version: Literal["v1"] = "v1"


def cold_start(user_id: UUID, sync_score: float = 0.0) -> AgentProfile:
    """The profile of an owner without a row in `player_decision_profiles` (seed 000 §3.2)."""
    return AgentProfile(
        user_id=user_id,
        sync_score=sync_score,
        games_played=0,
        model_confidence=0.0,
        signals=[],
        category_tendencies=[],
        context_rules=[],
        summary_text=None,
        summary_generated_at=None,
        summary_model_version=None,
        agent_context_block=None,
        summary_games_analyzed=None,
        summary_stale=False,
    )


class ProfileQuery(RequestModel):
    """The profile takes no parameters."""


class RecentDecisionsQuery(RequestModel):
    """How many of the latest decisions, 1 to 20 (seed 000 §4); REST and MCP share this check."""

    limit: int = Field(default=10, ge=1, le=20)


class RecentDecision(ResponseModel):
    """One decision the owner made, by its labels."""

    scenario_id: UUID
    scenario_title: str
    category: str
    theme: str
    chosen_label: str
    rationale: str | None
    recorded_at: AwareDatetime


class RecentDecisions(ResponseModel):
    """Newest first, at most `limit`."""

    decisions: list[RecentDecision]


class ScoreTerm(ResponseModel):
    """One addend of a score: `contribution = weight * value`."""

    name: str
    meaning: str
    value: float
    weight: float
    contribution: float


class ScoreExplanation(ResponseModel):
    """A score and the terms it is the sum of; `kept` when an existing Sync app owns the number."""

    score: float
    formula: str
    kept: bool
    terms: list[ScoreTerm]


class SignalEvidence(ResponseModel):
    """How many decisions back a signal, and what would move it to its next state."""

    signal: str
    state: SignalState
    supporting_decisions: int = Field(ge=0)
    needs: str


class ProfileExplanation(ResponseModel):
    """Why the two scores and the signals' states are what they are (ruling 22)."""

    user_id: UUID
    sync_score: ScoreExplanation
    model_confidence: ScoreExplanation
    signals: list[SignalEvidence]
    schema_version: Literal["v1"] = "v1"

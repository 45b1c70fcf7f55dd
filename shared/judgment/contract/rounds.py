"""Rounds: a scenario to decide, the decision, and what it changed (seed 000 §§3.1, 8, 9.1)."""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import AwareDatetime, Field

from judgment.contract.profile import Category, Theme
from judgment.contract.wire import RequestModel, ResponseModel

OPTION_ID_LIMIT = 64
RATIONALE_LIMIT = 4_000
"""Characters; longer is 413, and nothing is cut."""
RESPONSE_MS_LIMIT = 86_400_000
"""A day: a page left open longer than that was not being decided on."""

CanonicalTheme = Literal["boardroom", "frontier", "rebuild", "court", "underground", "custom"]
CANONICAL_THEMES: tuple[CanonicalTheme, ...] = (
    "boardroom",
    "frontier",
    "rebuild",
    "court",
    "underground",
    "custom",
)

Step = Literal[
    "outcome",
    "premise",
    "self_prediction",
    "scenario",
    "peer_prediction",
    "majority",
    "first_choice",
    "counter_argument",
    "choice",
    "confidence",
    "rationale",
]
"""What a page shows or asks, in this order where a round has it."""


class NextQuery(RequestModel):
    """Which theme; without one, any canonical theme."""

    theme: CanonicalTheme | None = None


class RoundOption(ResponseModel):
    """What can be chosen. What choosing it reveals is never sent."""

    id: str
    label: str
    description: str


class Majority(ResponseModel):
    """What most of the story's other people favour; shown before the choice."""

    option_id: str
    text: str


class ShownOutcome(ResponseModel):
    """How an earlier decision of the owner turned out in the story; shown before this round."""

    decision_id: UUID
    scenario_title: str
    chosen_label: str
    text: str


class Scenario(ResponseModel):
    """One round as it is played. `steps` is the order in which a page shows and asks.

    `counter_arguments` maps the option chosen first to the argument against it; `retest` marks a
    decision that the owner made before; `personalized` one made for this owner alone.
    """

    id: UUID
    theme: Theme
    category: Category
    title: str
    premise: str | None
    description: str
    constraints: list[str]
    options: list[RoundOption]
    majority: Majority | None
    counter_arguments: dict[str, str]
    outcome: ShownOutcome | None
    steps: list[Step]
    retest: bool
    personalized: bool


class DecisionRequest(RequestModel):
    """A decision on a scenario. Answers to what the round did not ask are refused.

    `confidence` is 0 to 1; `response_ms` counts from showing the scenario to the final choice.
    """

    scenario_id: UUID
    option_id: str = Field(min_length=1, max_length=OPTION_ID_LIMIT)
    rationale: str | None = None
    confidence: float | None = Field(default=None, ge=0, le=1)
    response_ms: int | None = Field(default=None, ge=0, le=RESPONSE_MS_LIMIT)
    first_option_id: str | None = Field(default=None, min_length=1, max_length=OPTION_ID_LIMIT)
    self_predicted_option_id: str | None = Field(
        default=None, min_length=1, max_length=OPTION_ID_LIMIT
    )
    predicted_peer_option_id: str | None = Field(
        default=None, min_length=1, max_length=OPTION_ID_LIMIT
    )


class RecordedDecision(ResponseModel):
    """The decision is stored. `moved` is the largest move of a component since the last summary.

    `summary_due_at` is when the summary will be renewed, null when nothing moved far enough.
    """

    decision_id: UUID
    scenario_id: UUID
    recorded_at: AwareDatetime
    retest: bool
    games_played: int = Field(ge=0)
    sync_score: float = Field(ge=0, le=100)
    moved: float = Field(ge=0, le=1)
    summary_due_at: AwareDatetime | None

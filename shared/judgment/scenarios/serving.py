"""A round as it was shown to an owner: what makes it a retest, and keeps it over a refresh."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.contract.rounds import ShownOutcome

if TYPE_CHECKING:
    from judgment.profile.decision import Decision


@dataclass(frozen=True)
class Serving:
    """An open row of `judgment.servings`: shown and not decided."""

    id: UUID
    scenario_id: UUID
    retest_of: UUID | None = None
    outcome_of: UUID | None = None


def shown_outcome(earlier: Decision | None) -> ShownOutcome | None:
    """How that decision turned out, as its own round told it then; None where it told nothing."""
    if earlier is None:
        return None
    outcome = earlier.stimuli.outcomes.get(earlier.chosen_option_id)
    if outcome is None:
        return None
    return ShownOutcome(
        decision_id=earlier.id,
        scenario_title=earlier.scenario_title,
        chosen_label=earlier.chosen_label,
        text=outcome.text,
    )

"""What is checked of a decision before anything is stored, and what is then stored of it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.contract.rounds import RATIONALE_LIMIT
from judgment.kit.errors import InvalidRequest, TooLarge
from judgment.scenarios.model import asked

if TYPE_CHECKING:
    from judgment.contract.rounds import DecisionRequest
    from judgment.scenarios.model import Scenario
    from judgment.scenarios.serving import Serving

_LINES = frozenset("\t\n\r")
_CHOICES = ("first_option_id", "self_predicted_option_id", "predicted_peer_option_id")


@dataclass(frozen=True)
class NewDecision:
    """A checked decision; `now` is the clock's time, which storing makes later than the last."""

    id: UUID
    user_id: UUID
    scenario: Scenario
    request: DecisionRequest
    rationale: str | None
    serving: Serving | None
    now: datetime

    @property
    def retest_of(self) -> UUID | None:
        """The earlier decision that this one repeats."""
        return None if self.serving is None else self.serving.retest_of

    @property
    def outcome_of(self) -> UUID | None:
        """The earlier decision whose outcome was shown before this one."""
        return None if self.serving is None else self.serving.outcome_of


def checked_rationale(text: str | None) -> str | None:
    """The owner's words as they were written; None where they are blank.

    Raises TooLarge over 4,000 characters, InvalidRequest for control characters besides tab and
    line breaks, which no keyboard makes and a page or a prompt may obey.
    """
    if text is None:
        return None
    if len(text) > RATIONALE_LIMIT:
        raise TooLarge(f"rationale: at most {RATIONALE_LIMIT} characters; nothing was stored.")
    if any(unicodedata.category(c) in ("Cc", "Cs") and c not in _LINES for c in text):
        raise InvalidRequest("rationale: holds control characters.")
    return text if text.strip() else None


def refuse_what_was_not_offered(scenario: Scenario, request: DecisionRequest) -> None:
    """Raises InvalidRequest for an answer to what the round did not ask or offer."""
    if scenario.option(request.option_id) is None:
        raise InvalidRequest("option_id: this scenario offers no such option.")
    allowed = asked(scenario)
    for name in _CHOICES:
        given: str | None = getattr(request, name)
        if given is None:
            continue
        if name not in allowed:
            raise InvalidRequest(f"{name}: this scenario does not ask for it.")
        if scenario.option(given) is None:
            raise InvalidRequest(f"{name}: this scenario offers no such option.")

"""What the read door asks for: the profile, recent decisions, and why the scores are what they are.

Distilling is pure, so the last few answers are kept with the text they were made from: an owner
whose row has not changed costs one comparison. A changed row is another text and never served
from memory.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from judgment.contract.profile import (
    AgentProfile,
    ProfileExplanation,
    RecentDecision,
    RecentDecisions,
    cold_start,
)
from judgment.profile import scores, values
from judgment.profile.distil import distil, signal_evidence
from judgment.profile.model import PlayerDecisionProfile, profile_from_row

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.profile.shapes import StoredProfile

KEPT_ANSWERS = 64
KEPT_TEXT_LIMIT = 65_536
RATIONALE_LIMIT = 4_000
OURS = "judgment"


class ProfileRows(Protocol):
    """Where the rows come from: `judgment.profile.store`."""

    def stored_profile(self, tx: Transaction, user_id: UUID) -> StoredProfile:
        """What is stored of one owner."""
        ...

    def recent_decisions(
        self, tx: Transaction, user_id: UUID, limit: int
    ) -> Sequence[Mapping[str, Any]]:
        """The latest decisions, newest first."""
        ...


class ProfileService:
    """Reads on behalf of one owner at a time, inside the caller's transaction."""

    def __init__(self, rows: ProfileRows) -> None:
        self._rows = rows
        self._answers: OrderedDict[tuple[UUID, StoredProfile], AgentProfile] = OrderedDict()

    def profile(self, tx: Transaction, user_id: UUID) -> AgentProfile:
        """The distilled profile; without a row its cold start. No stored row makes it raise."""
        stored = self._rows.stored_profile(tx, user_id)
        key = (user_id, stored)
        answer = self._answers.get(key)
        if answer is None:
            answer = _distilled(stored, user_id)
            if len(stored.row or "") <= KEPT_TEXT_LIMIT:
                self._answers[key] = answer
                if len(self._answers) > KEPT_ANSWERS:
                    self._answers.popitem(last=False)
        return answer

    def recent_decisions(self, tx: Transaction, user_id: UUID, limit: int) -> RecentDecisions:
        """The latest `limit` decisions (1 to 20, checked at the edge), newest first, bounded."""
        rows = self._rows.recent_decisions(tx, user_id, limit)
        return RecentDecisions(decisions=[_recent(row) for row in rows])

    def explanation(self, tx: Transaction, user_id: UUID) -> ProfileExplanation:
        """Both scores term by term and the evidence of all twelve signals."""
        stored = self._rows.stored_profile(tx, user_id)
        profile = read_stored(stored.row)
        score = _score(stored)
        ours = stored.score_owner == OURS or (stored.row is None and score == 0)
        return ProfileExplanation(
            user_id=user_id,
            sync_score=scores.explain_sync_score(profile) if ours else scores.explain_kept(score),
            model_confidence=scores.explain_model_confidence(profile),
            signals=signal_evidence(profile),
        )


def read_stored(row: str | None) -> PlayerDecisionProfile:
    """A profile from its row's JSON text; an unreadable or absent row reads as empty."""
    return profile_from_row(values.mapping(_parsed(row or "{}")))


def _parsed(row: str) -> object:
    try:
        return json.loads(row)
    except ValueError:
        pass  # a numeral beyond Python's limit on digits: read numerals as floats instead
    except RecursionError:
        return {}  # nested beyond any honest profile
    try:
        return json.loads(row, parse_int=float)
    except (ValueError, RecursionError):
        return {}


def _distilled(stored: StoredProfile, user_id: UUID) -> AgentProfile:
    if stored.row is None:
        return cold_start(user_id, _score(stored))
    return distil(
        read_stored(stored.row),
        user_id,
        _score(stored),
        summary_games=stored.summary_games,
        summary_stale=stored.summary_stale,
    )


def _score(stored: StoredProfile) -> float:
    return values.number(stored.sync_score, 0, 100) or 0.0


def _recent(row: Mapping[str, Any]) -> RecentDecision:
    return RecentDecision(
        scenario_id=row["scenario_id"],
        scenario_title=values.label(row["scenario_title"]) or "Untitled scenario",
        category=values.label(row["category"], 64) or "unknown",
        theme=values.label(row["theme"], 64) or "unknown",
        chosen_label=values.label(row["chosen_label"]) or "unknown",
        rationale=values.text(row["rationale"], RATIONALE_LIMIT),
        recorded_at=row["recorded_at"],
    )

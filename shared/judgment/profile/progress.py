"""One more decision: the profile carried forward, in the transaction that records the decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from judgment.profile.build import build
from judgment.profile.scores import sync_score

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.profile.decision import Decision
    from judgment.profile.model import PlayerDecisionProfile


@dataclass(frozen=True)
class Progress:
    """The profile after a decision, without texts, and the score (0 to 100) that goes with it."""

    profile: PlayerDecisionProfile
    sync_score: float


class ProgressRows(Protocol):
    """Where the rows are: `judgment.profile.store`."""

    def decisions(self, tx: Transaction, user_id: UUID) -> Sequence[Decision]:
        """Every decision of the owner, oldest first."""
        ...

    def save_progress(
        self, tx: Transaction, user_id: UUID, profile: PlayerDecisionProfile, sync_score: float
    ) -> None:
        """Write documents, count and score; texts stay as they are."""
        ...


class ProfileProgress:
    """Carries one owner's profile over one decision."""

    def __init__(self, rows: ProgressRows) -> None:
        self._rows = rows

    def record(self, tx: Transaction, user_id: UUID, decision: Decision) -> Progress:
        """Take in a decision whose row is already in `judgment.decisions`.

        The caller holds the owner's lock and has made sure that no Sync app keeps the profile.
        """
        _ = decision
        profile = build(self._rows.decisions(tx, user_id))
        score = sync_score(profile)
        self._rows.save_progress(tx, user_id, profile, score)
        return Progress(profile, score)

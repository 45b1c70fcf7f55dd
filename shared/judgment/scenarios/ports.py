"""What recording a round asks of its neighbours, each inside the round's transaction (ruling 39).

The profile's progress and the request for a summary belong to other ideas; the wiring of a door
joins them here.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.profile.decision import Decision
    from judgment.profile.model import PlayerDecisionProfile


class Progressed(Protocol):
    """A profile after a decision; `sync_score` is 0 to 100."""

    @property
    def profile(self) -> PlayerDecisionProfile:
        """The profile with the decision in it."""
        ...

    @property
    def sync_score(self) -> float:
        """The owner's score with the decision in it."""
        ...


class Profiles(Protocol):
    """Carries a stored profile forward; `judgment.profile.progress.ProfileProgress` is one."""

    def record(self, tx: Transaction, user_id: UUID, decision: Decision) -> Progressed:
        """Store the profile with a decision that is stored already; the owner's lock is held."""
        ...


class Moved(Protocol):
    """How far a profile is from the one that its last summary was written from."""

    @property
    def moved(self) -> float:
        """The largest move of a component, 0 to 1."""
        ...

    @property
    def due_at(self) -> datetime | None:
        """When the next summary is due; None when none is wanted."""
        ...

    @property
    def became_pending(self) -> bool:
        """Whether it is this very request that made one wanted, so that it owes a wake-up."""
        ...


class RequestSummary(Protocol):
    """`judgment.summary.moves.request_if_moved` is one."""

    def __call__(
        self,
        tx: Transaction,
        user_id: UUID,
        profile: PlayerDecisionProfile,
        correlation_id: str,
        now: datetime,
    ) -> Moved:
        """Note in `tx` that a new summary is wanted, where the profile moved far enough."""
        ...


class WakeSummary(Protocol):
    """`judgment.summary.wakeups.wake` is one, once it knows its queue."""

    def __call__(
        self, user_id: UUID, due_at: datetime, correlation_id: str, now: datetime
    ) -> object:
        """Send the delayed wake-up, after the commit. A queue that is down is never raised."""
        ...


@dataclass(frozen=True)
class Summaries:
    """How a new summary is asked for, and how whoever writes it is woken."""

    request_if_moved: RequestSummary
    wake: WakeSummary

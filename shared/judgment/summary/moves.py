"""Whether a profile has moved since its summary, by enough to write it anew."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.profile.movement import MOVE, components, largest_move
from judgment.summary import debounce, store

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.profile.model import PlayerDecisionProfile
    from judgment.summary.model import State

ROUNDING = 1e-9


@dataclass(frozen=True)
class Moved:
    """How far the profile is from the one last summarised, 0 to 1.

    `due_at` is when a new summary may be written, None where none is due. When `became_pending`,
    the caller sends the wake-up after its commit (`summary.wakeups.wake`).
    """

    moved: float
    due_at: datetime | None
    became_pending: bool


def request_if_moved(
    tx: Transaction,
    user_id: UUID,
    profile: PlayerDecisionProfile,
    correlation_id: str,
    now: datetime,
    window: timedelta = debounce.WINDOW,
) -> Moved:
    """Want a new summary where a component moved by 0.05 or more since the last one.

    Moves add up, because they are measured against what was last summarised (seed 000 §10.4).
    A profile that was never summarised has moved by 1, one without a decision not at all.
    """
    if not profile.games_analyzed:
        return Moved(0.0, None, became_pending=False)
    moved = distance(store.lock_state(tx, user_id), profile)
    if not is_move(moved):
        return Moved(moved, None, became_pending=False)
    due = debounce.request(tx, user_id, correlation_id, now, window)
    return Moved(moved, due.run_after, due.became_pending)


def distance(state: State | None, profile: PlayerDecisionProfile) -> float:
    """The largest change of a component since the last summary; 1 where there was none."""
    if state is None or state.games_analyzed is None:
        return 1.0
    return largest_move(state.components, components(profile))


def is_move(moved: float) -> bool:
    """Whether a change of that size asks for a new summary."""
    return moved >= MOVE - ROUNDING

"""One more decision: the profile carried forward, in the transaction that records the decision.

What was kept of the earlier decisions is read, the new one taken in, and the result written back:
two parts and a few marks, whatever the length of the history. Where what was kept is missing, of
another version, unreadable, or not of exactly the decisions before this one, all decisions are
taken in anew. Both ways end in the same profile (`build`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from judgment.profile.accumulation import (
    OWNER,
    VERSION,
    MemoryMarks,
    State,
    category_from_text,
    owner_from_text,
    to_text,
)
from judgment.profile.advance import advance
from judgment.profile.build import gathered, profile_of
from judgment.profile.scores import sync_score

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.profile.decision import Decision
    from judgment.profile.model import PlayerDecisionProfile
    from judgment.profile.shapes import Carried


@dataclass(frozen=True)
class Progress:
    """The profile after a decision, without texts, and the score (0 to 100) that goes with it."""

    profile: PlayerDecisionProfile
    sync_score: float


class ProgressRows(Protocol):
    """Where the rows are: `judgment.profile.store`."""

    def carried(self, tx: Transaction, user_id: UUID, decision: Decision, version: int) -> Carried:
        """The stored decision and what is kept of those before it. Raises LookupError."""
        ...

    def mark(self, tx: Transaction, user_id: UUID, key: str) -> str | None:
        """One mark, or None."""
        ...

    def decisions(self, tx: Transaction, user_id: UUID) -> Sequence[Decision]:
        """Every decision of the owner, oldest first."""
        ...

    def begin_again(self, tx: Transaction, user_id: UUID) -> None:
        """Forget all that was kept."""
        ...

    def carry(
        self,
        tx: Transaction,
        user_id: UUID,
        version: int,
        parts: Mapping[str, str],
        marks: Mapping[str, str],
    ) -> None:
        """Keep parts and marks."""
        ...

    def save_progress(
        self,
        tx: Transaction,
        user_id: UUID,
        profile: PlayerDecisionProfile,
        sync_score: float,
        *,
        says_when: bool,
    ) -> None:
        """Write documents, count and score; texts stay as they are."""
        ...


class ProfileProgress:
    """Carries one owner's profile over one decision."""

    def __init__(self, rows: ProgressRows, version: int = VERSION) -> None:
        self._rows = rows
        self._version = version

    def record(self, tx: Transaction, user_id: UUID, decision: Decision) -> Progress:
        """Take in a decision whose row is already in `judgment.decisions`.

        The row counts, not the object given. The caller holds the owner's lock and has made sure
        that no Sync app keeps the profile. Raises LookupError where there is no row.
        """
        carried = self._rows.carried(tx, user_id, decision, self._version)
        state = _kept(carried)
        marks = _KeptMarks(self._rows, tx, user_id, carried.marks)
        if state is None:
            self._rows.begin_again(tx, user_id)
            marks = MemoryMarks()
            state = gathered(self._rows.decisions(tx, user_id), marks)
        else:
            advance(state, carried.decision, marks)
        profile = profile_of(state)
        score = sync_score(profile)
        parts = {name: to_text(part) for name, part in state.categories.items()}
        parts[OWNER] = to_text(state.owner)
        self._rows.carry(tx, user_id, self._version, parts, marks.written)
        self._rows.save_progress(tx, user_id, profile, score, says_when=carried.says_when)
        return Progress(profile, score)


class _KeptMarks:
    """Marks in the database: those looked up already, others one by one; `written` are the new."""

    def __init__(
        self, rows: ProgressRows, tx: Transaction, user_id: UUID, found: Mapping[str, str | None]
    ) -> None:
        self._rows = rows
        self._tx = tx
        self._user_id = user_id
        self._found = dict(found)
        self.written: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        """What was set last, or None."""
        if key not in self._found:
            self._found[key] = self._rows.mark(self._tx, self._user_id, key)
        return self._found[key]

    def set(self, key: str, value: str) -> None:
        """Remember, in place of what was there."""
        self._found[key] = self.written[key] = value


def _kept(carried: Carried) -> State | None:
    """What was kept, if it is of all decisions before this one and of no other; else None."""
    if carried.owner is None:
        return None
    domain = carried.decision.domain
    try:
        state = State(owner_from_text(carried.owner))
        if carried.category is not None and domain is not None:
            state.categories[domain] = category_from_text(carried.category)
    except (ValueError, TypeError, KeyError):
        return None
    before = tuple(identity.hex for identity in carried.latest)
    if before != (carried.decision.id.hex, state.owner.last):
        return None
    return state if (domain in state.categories) == (domain in state.owner.finished) else None

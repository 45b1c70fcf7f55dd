"""On whose behalf preferences are asked for or added to, and through which door of the database."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar
from uuid import UUID

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

T = TypeVar("T")


class Within(Protocol):
    """Runs something in one transaction that acts for the asker's owner, and commits it.

    For an agent it is the gate: scope, limit and switches are looked at in between.
    """

    def __call__(self, use: Callable[[Transaction], T]) -> T:
        """What `use` returns. Raises what `use` raises, and then nothing is kept."""
        ...


@dataclass(frozen=True, slots=True)
class Asker:
    """An owner, or an agent with one of the owner's keys.

    `hand` is who did it, as the ledger says it; `correlation_id` the request.
    """

    owner: UUID
    hand: str
    correlation_id: str
    within: Within

"""On whose behalf preferences are asked for or added to, and through which door of the database."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar
from uuid import UUID

from judgment.kit.errors import InvalidRequest
from judgment.preferences.consent import checked_audience

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


def audience_of(owner: UUID) -> str:
    """The audience as which one owner is known to another."""
    return f"user:{owner}"


def named_audience(text: str) -> str:
    """The one name of an audience: an owner's is the same in whatever spelling their id comes.

    A deny under another spelling would close nothing. Raises InvalidRequest for what is no
    audience, for `user:` with anything but an id, and for an id without `user:`.
    """
    name = checked_audience(text)
    folded = unicodedata.normalize("NFKC", name).casefold()
    head, colon, rest = folded.partition(":")
    if colon and head.strip() == "user":
        owner = owner_in(rest)
        if owner is None:
            raise InvalidRequest("audience: after user: comes the id of an owner.")
        return audience_of(owner)
    if owner_in(folded) is not None:
        raise InvalidRequest("audience: write user: before the id of an owner.")
    return name


def owner_in(text: str) -> UUID | None:
    """The id that a text is, in any spelling of a UUID, or None."""
    try:
        return UUID(text.strip())
    except ValueError:
        return None

"""The one text an owner may write about their life, and the one prompt that asks for it.

Emptying it is deleting it: its copies go in the same transaction, and so do the rounds made from it
that nobody has answered. Each writer takes the owner's row first, so that two of them follow one
another and the text that is answered is the text that is stored. Seed 000 §7, ruling 4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from judgment.contract.personal import PERSONAL_CONTEXT_LIMIT, Lightbox, PersonalContext
from judgment.kit.errors import InvalidRequest, NotFound, TooLarge

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

ONBOARDED_FROM = 3
"""Decisions in the profile from which the owner knows what a round is; a Sync app's own profile
counts as onboarded whatever it holds (ADR 083)."""


class ContextRows(Protocol):
    """The statements on personal context, run as `judgment_owner`."""

    def lock_context(self, tx: Transaction, user_id: UUID) -> str | None:
        """The text, its row held until the transaction ends; None without such an owner."""
        ...

    def context_as_shown(self, tx: Transaction, user_id: UUID) -> Mapping[str, Any] | None:
        """personal_context, updated_at, dismissed, games_analyzed (0 without a profile) and
        is_sync_profile; None without such an owner."""
        ...

    def write_context(self, tx: Transaction, user_id: UUID, text: str) -> None:
        """Store the text and the moment."""
        ...

    def dismiss_lightbox(self, tx: Transaction, user_id: UUID) -> bool:
        """Note that the prompt was seen, keeping an earlier note; False without such an owner."""
        ...

    def forget_context_copies(self, tx: Transaction, user_id: UUID) -> None:
        """Null the copies in snapshots, keeping digests, and remove unanswered personal rounds."""
        ...


class PersonalContexts:
    """The use cases of personal context."""

    def __init__(
        self, begin: Callable[[UUID], AbstractContextManager[Transaction]], rows: ContextRows
    ):
        self._begin = begin
        self._rows = rows

    def read(self, owner: UUID) -> PersonalContext:
        """The text and whether to ask for it. Raises NotFound."""
        with self._begin(owner) as tx:
            return self._shown(tx, owner)

    def write(self, owner: UUID, text: str) -> PersonalContext:
        """Replace the whole text; the same text again changes nothing, an empty one deletes.

        Blanks are a text. Raises TooLarge above the limit in UTF-8, InvalidRequest for a NUL
        character or half a surrogate pair, which the store cannot hold, and NotFound.
        """
        _require_storable(text)
        with self._begin(owner) as tx:
            if self._rows.lock_context(tx, owner) != text:
                self._rows.write_context(tx, owner, text)
            if text:
                self._rows.dismiss_lightbox(tx, owner)
            else:
                self._rows.forget_context_copies(tx, owner)
            return self._shown(tx, owner)

    def dismiss_lightbox(self, owner: UUID) -> None:
        """The prompt was seen and will not come again. Raises NotFound."""
        with self._begin(owner) as tx:
            if not self._rows.dismiss_lightbox(tx, owner):
                raise NotFound("There is no such owner.")

    def _shown(self, tx: Transaction, owner: UUID) -> PersonalContext:
        row = self._rows.context_as_shown(tx, owner)
        if row is None:
            raise NotFound("There is no such owner.")
        onboarded = row["is_sync_profile"] or row["games_analyzed"] >= ONBOARDED_FROM
        return PersonalContext(
            personal_context=row["personal_context"],
            updated_at=row["updated_at"],
            bytes=len(row["personal_context"].encode()),
            onboarding_completed=onboarded,
            lightbox=_lightbox(onboarded, row["dismissed"]),
        )


def _lightbox(onboarded: bool, dismissed: bool) -> Lightbox:
    if dismissed:
        return "dismissed"
    return "show" if onboarded else "not_yet"


def _require_storable(text: str) -> None:
    if len(text.encode("utf-8", "surrogatepass")) > PERSONAL_CONTEXT_LIMIT:
        raise TooLarge(f"personal_context: over {PERSONAL_CONTEXT_LIMIT // 1024} KiB in UTF-8")
    if "\x00" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise InvalidRequest(
            "personal_context: a NUL character or half a surrogate pair cannot be stored"
        )

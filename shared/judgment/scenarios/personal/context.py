"""The one text an owner may write about their life, and the one prompt that asks for it.

Emptying it is deleting it: its copies go in the same transaction, and so do the rounds made from it
that nobody has answered. Each writer takes the owner's row first, so that two of them follow one
another and the text that is answered is the text that is stored. Seed 000 §7, ruling 4.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.contract.personal import PERSONAL_CONTEXT_LIMIT, Lightbox, PersonalContext
from judgment.kit.errors import InvalidRequest, NotFound, TooLarge
from judgment.scenarios.personal import store
from judgment.scenarios.refusals import NO_OWNER

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

ONBOARDED_FROM = 3
"""Decisions in the profile from which the owner knows what a round is; a Sync app's own profile
counts as onboarded whatever it holds (ADR 083)."""


class PersonalContexts:
    """The use cases of personal context."""

    def __init__(self, begin: Callable[[UUID], AbstractContextManager[Transaction]]):
        self._begin = begin

    def read(self, owner: UUID) -> PersonalContext:
        """The text and whether to ask for it. Raises NotFound."""
        with self._begin(owner) as tx:
            return _shown(tx, owner)

    def write(self, owner: UUID, text: str) -> PersonalContext:
        """Replace the whole text; the same text again changes nothing, an empty one deletes.

        Blanks are a text. Raises TooLarge above the limit in UTF-8, InvalidRequest for a NUL
        character or half a surrogate pair, which the store cannot hold, and NotFound.
        """
        _require_storable(text)
        with self._begin(owner) as tx:
            if store.lock_context(tx, owner) != text:
                store.write_context(tx, owner, text)
            if text:
                store.dismiss_lightbox(tx, owner)
            else:
                store.forget_context_copies(tx, owner)
            return _shown(tx, owner)

    def dismiss_lightbox(self, owner: UUID) -> None:
        """The prompt was seen and will not come again. Raises NotFound."""
        with self._begin(owner) as tx:
            if not store.dismiss_lightbox(tx, owner):
                raise NotFound(NO_OWNER)


def _shown(tx: Transaction, owner: UUID) -> PersonalContext:
    row = store.context_as_shown(tx, owner)
    if row is None:
        raise NotFound(NO_OWNER)
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

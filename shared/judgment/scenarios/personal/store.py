"""The statements of personal context and personal rounds; each runs in the transaction it gets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.db.queries import load_queries

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

_Q = load_queries("judgment.scenarios.personal")


def lock_context(tx: Transaction, user_id: UUID) -> str | None:
    """The text, its row held until the transaction ends; None without such an owner."""
    tx.value(_Q["lock_owner"], {"user_id": user_id})
    return tx.value(_Q["lock_context"], {"user_id": user_id})


def context_as_shown(tx: Transaction, user_id: UUID) -> Mapping[str, Any] | None:
    """See `context.ContextRows`."""
    return tx.one(_Q["context_as_shown"], {"user_id": user_id})


def write_context(tx: Transaction, user_id: UUID, text: str) -> None:
    """Store the text and the moment; nothing where there is no such owner."""
    if tx.execute(_Q["write_context"], {"user_id": user_id, "text": text}):
        tx.execute(_Q["note_context_written"], {"user_id": user_id})


def dismiss_lightbox(tx: Transaction, user_id: UUID) -> bool:
    """Note that the prompt was seen, keeping an earlier note; False without such an owner."""
    return tx.execute(_Q["dismiss_lightbox"], {"user_id": user_id}) == 1


def forget_context_copies(tx: Transaction, user_id: UUID) -> None:
    """Null the copies in snapshots, keeping digests, and remove unanswered personal rounds.

    Where a Sync app made the table of scenarios its row stays: an id, theme, category and digest.
    """
    owner = {"user_id": user_id}
    tx.execute(_Q["forget_snapshot_texts"], owner)
    ids = [row["id"] for row in tx.all(_Q["unanswered_personal"], owner)]
    if not ids:
        return
    rounds = {"user_id": user_id, "ids": ids}
    tx.execute(_Q["drop_servings"], rounds)
    tx.execute(_Q["drop_contents"], rounds)
    if tx.value(_Q["may_drop_scenarios"]):
        tx.execute(_Q["drop_scenarios"], rounds)

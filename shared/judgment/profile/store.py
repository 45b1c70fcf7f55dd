"""Profiles and decisions in Postgres. Every function takes the caller's open transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.db.connection import json_value
from judgment.db.queries import load_queries
from judgment.profile.decision import Decision, decision_from_row
from judgment.profile.model import DOCUMENT_COLUMNS, PlayerDecisionProfile
from judgment.profile.shapes import StoredProfile

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

QUERIES = load_queries("judgment.profile")


def stored_profile(tx: Transaction, user_id: UUID) -> StoredProfile:
    """What is stored of one owner, in one statement; nothing of it is interpreted here."""
    row = tx.one(QUERIES["stored_profile"], {"user_id": user_id}) or {}
    return StoredProfile(row.get("profile"), row.get("sync_score"), row.get("score_owner"))


def recent_decisions(tx: Transaction, user_id: UUID, limit: int) -> list[dict[str, Any]]:
    """The latest `limit` decisions, newest first, as rows of labels."""
    return tx.all(QUERIES["recent_decisions"], {"user_id": user_id, "limit": limit})


def decisions(tx: Transaction, user_id: UUID) -> list[Decision]:
    """Every decision of the owner, oldest first."""
    rows = tx.all(QUERIES["decisions_of"], {"user_id": user_id})
    return [decision_from_row(row) for row in rows]


def save(
    tx: Transaction,
    user_id: UUID,
    profile: PlayerDecisionProfile,
    sync_score: float,
) -> None:
    """Write the profile with its texts, and the score where it is ours (ruling 22).

    The owner's row in `profiles` must exist.
    """
    tx.execute(QUERIES["own_score"], {"user_id": user_id})
    tx.execute(QUERIES["save_profile"], save_parameters(user_id, profile))
    tx.execute(QUERIES["save_score"], {"user_id": user_id, "sync_score": sync_score})


def save_progress(
    tx: Transaction,
    user_id: UUID,
    profile: PlayerDecisionProfile,
    sync_score: float,
) -> None:
    """Write documents and count, and the score where it is ours; texts stay as they are."""
    tx.execute(QUERIES["own_score"], {"user_id": user_id})
    tx.execute(QUERIES["save_documents"], save_parameters(user_id, profile))
    tx.execute(QUERIES["save_score"], {"user_id": user_id, "sync_score": sync_score})


def save_parameters(user_id: UUID, profile: PlayerDecisionProfile) -> dict[str, Any]:
    """The values of a profile's row; a signal without evidence is null, not an empty document."""
    documents: dict[str, Any] = {}
    for column in DOCUMENT_COLUMNS:
        document = profile.documents.get(column)
        documents[column] = None if document is None else json_value(document)
    return {
        "user_id": user_id,
        "games_analyzed": profile.games_analyzed,
        **documents,
        "summary_text": profile.summary_text,
        "agent_context_block": profile.agent_context_block,
        "summary_model_version": profile.summary_model_version,
        "summary_generated_at": profile.summary_generated_at,
    }

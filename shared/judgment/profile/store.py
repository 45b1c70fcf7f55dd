"""Profiles and decisions in Postgres. Every function takes the caller's open transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.db.connection import json_value
from judgment.db.queries import load_queries
from judgment.profile.advance import mark_keys
from judgment.profile.decision import Decision, decision_from_row
from judgment.profile.model import DOCUMENT_COLUMNS, PlayerDecisionProfile
from judgment.profile.shapes import Carried, StoredProfile

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

QUERIES = load_queries("judgment.profile")


def stored_profile(tx: Transaction, user_id: UUID) -> StoredProfile:
    """What is stored of one owner, in one statement; nothing of it is interpreted here."""
    row = tx.one(QUERIES["stored_profile"], {"user_id": user_id}) or {}
    games, stale = row.get("summary") or (None, 0)
    return StoredProfile(
        row.get("profile"), row.get("sync_score"), row.get("score_owner"), games, bool(stale)
    )


def profile_row(tx: Transaction, user_id: UUID) -> str | None:
    """The owner's profile row as JSON text for `service.read_stored`; None where there is none."""
    return tx.value(QUERIES["profile_row"], {"user_id": user_id})


def recent_decisions(tx: Transaction, user_id: UUID, limit: int) -> list[dict[str, Any]]:
    """The latest `limit` decisions, newest first, as rows of labels."""
    return tx.all(QUERIES["recent_decisions"], {"user_id": user_id, "limit": limit})


def decisions(tx: Transaction, user_id: UUID) -> list[Decision]:
    """Every decision of the owner, oldest first."""
    rows = tx.all(QUERIES["decisions_of"], {"user_id": user_id})
    return [decision_from_row(row) for row in rows]


def carried(tx: Transaction, user_id: UUID, decision: Decision, version: int) -> Carried:
    """The stored decision and what its profile is carried forward from, in one statement.

    Raises LookupError where the decision has no row.
    """
    keys = mark_keys(decision)
    asked = {"user_id": user_id, "id": decision.id, "version": version, "keys": keys}
    row = tx.one(QUERIES["carried"], asked)
    if row is None:
        raise LookupError("the decision has no row")
    found: dict[str, str] = row["marks"] or {}
    return Carried(
        decision=decision_from_row(row),
        latest=tuple(row["latest"]),
        owner=row["owner_state"],
        category=row["category_state"],
        marks={key: found.get(key) for key in keys},
        says_when=row["says_when"],
    )


def mark(tx: Transaction, user_id: UUID, key: str) -> str | None:
    """One mark, or None."""
    return tx.value(QUERIES["mark"], {"user_id": user_id, "key": key})


def begin_again(tx: Transaction, user_id: UUID) -> None:
    """Forget all that was kept; take charge of the score of an owner who has none yet."""
    tx.execute(QUERIES["forget_carried"], {"user_id": user_id})
    own_score(tx, user_id)


def own_score(tx: Transaction, user_id: UUID) -> None:
    """Take charge of the score, unless somebody has or a Sync app keeps it (ruling 22)."""
    tx.execute(QUERIES["own_score"], {"user_id": user_id})


def carry(
    tx: Transaction,
    user_id: UUID,
    version: int,
    parts: Mapping[str, str],
    marks: Mapping[str, str],
) -> None:
    """Keep parts (by name) and marks (by key) for the next decision."""
    tx.execute(
        QUERIES["carry"],
        {
            "user_id": user_id,
            "version": version,
            "parts": list(parts),
            "states": list(parts.values()),
            "keys": list(marks),
            "values": list(marks.values()),
        },
    )


def save_progress(
    tx: Transaction,
    user_id: UUID,
    profile: PlayerDecisionProfile,
    sync_score: float,
    *,
    says_when: bool,
) -> None:
    """Write documents and count, and the score where it is ours (ruling 22); never the texts.

    `says_when`: the table has the column that tells when (a Sync app's may not). The owner's row in
    `profiles` must exist.
    """
    parameters = {**save_parameters(user_id, profile), "sync_score": sync_score}
    tx.execute(QUERIES["save_progress"], parameters)
    if says_when:
        tx.execute(QUERIES["touch_profile"], {"user_id": user_id})


def save_parameters(user_id: UUID, profile: PlayerDecisionProfile) -> dict[str, Any]:
    """What is built of a row; a signal without evidence is null, not an empty document."""
    documents: dict[str, Any] = {}
    for column in DOCUMENT_COLUMNS:
        document = profile.documents.get(column)
        documents[column] = None if document is None else json_value(document)
    return {"user_id": user_id, "games_analyzed": profile.games_analyzed, **documents}

"""The statements of `access`; each runs in the transaction it is handed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.db.connection import Transaction, json_value
from judgment.db.queries import load_queries

if TYPE_CHECKING:
    from judgment.access.keys import NewKey

_Q = load_queries("judgment.access")


def agent_access(tx: Transaction) -> bool:
    """Whether all three switches let agents read the transaction's owner (ruling 6)."""
    return tx.value(_Q["agent_access"])


def resolve_key(tx: Transaction, key_hash: str) -> Mapping[str, Any] | None:
    """key_id, user_id, scopes and prefix of the valid key with this SHA-256, or None."""
    return tx.one(_Q["resolve_key"], {"key_hash": key_hash})


def ensure_owner(tx: Transaction, user_id: UUID, issuer: str, subject: str) -> bool:
    """Make the owner's rows where they are absent (ruling 17).

    False where an existing Sync app keeps the people and does not know this one.
    """
    owner = {"user_id": user_id, "issuer": issuer, "subject": subject}
    return tx.value(_Q["ensure_owner"], owner)


def insert_key(tx: Transaction, key: NewKey) -> Mapping[str, Any]:
    """Store a key; its row as the owner sees it."""
    row = tx.one(_Q["insert_key"], asdict(key))
    assert row is not None  # INSERT … RETURNING gives a row or raises
    return row


def list_keys(tx: Transaction, user_id: UUID) -> list[dict[str, Any]]:
    """The owner's keys, newest first."""
    return tx.all(_Q["list_keys"], {"user_id": user_id})


def revoke_key(
    tx: Transaction, user_id: UUID, key_id: UUID, at: datetime
) -> Mapping[str, Any] | None:
    """Mark a key revoked, keeping an earlier mark; None when the owner has no such key."""
    return tx.one(_Q["revoke_key"], {"user_id": user_id, "key_id": key_id, "at": at})


def agent_access_flag(tx: Transaction) -> dict[str, Any] | None:
    """The stored value of the kill switch."""
    return tx.value(_Q["agent_access_flag"])


def set_agent_access_flag(tx: Transaction, value: dict[str, Any]) -> bool:
    """Replace the value of the kill switch; False when its row is gone."""
    return tx.execute(_Q["set_agent_access_flag"], {"value": json_value(value)}) == 1


def set_own_switch(tx: Transaction, user_id: UUID, enabled: bool) -> bool:
    """The owner's own switch; False when the owner has no row."""
    return tx.execute(_Q["set_own_switch"], {"user_id": user_id, "enabled": enabled}) == 1


def database_time(tx: Transaction) -> datetime:
    """The transaction's time, by the clock that stamps the rows."""
    return tx.value(_Q["database_time"])

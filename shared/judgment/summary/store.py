"""The statements of `summary`; each runs in the transaction it is handed."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.db.connection import json_value
from judgment.db.queries import load_queries
from judgment.summary.model import Claim, Finished, Overdue, State

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.profile.composer import Composition

_Q = load_queries("judgment.summary")


def lock_state(tx: Transaction, user_id: UUID) -> State | None:
    """The owner's state, held until the transaction ends; None before their first move."""
    row = tx.one(_Q["lock_state"], {"user_id": user_id})
    return None if row is None else State(**row)


def request(
    tx: Transaction,
    user_id: UUID,
    correlation_id: str,
    *,
    now: datetime,
    window: timedelta,
    lease: timedelta,
    slack: timedelta,
    is_retry: bool = False,
) -> datetime:
    """Count one more move; from when on it may be written up."""
    values = {"user_id": user_id, "correlation_id": correlation_id, "is_retry": is_retry}
    times = {"now": now, "window": window, "lease": lease, "slack": slack}
    return tx.value(_Q["request"], values | times)


def claim(tx: Transaction, user_id: UUID, *, now: datetime, lease: timedelta) -> Claim | None:
    """Take what is due; None where nothing is, or somebody is at it."""
    row = tx.one(_Q["claim"], {"user_id": user_id, "now": now, "lease": lease})
    return None if row is None else Claim(**row)


def next_look(tx: Transaction, user_id: UUID) -> datetime | None:
    """When a claim can succeed; None where nothing is wanted."""
    return tx.value(_Q["next_look"], {"user_id": user_id})


def finish(
    tx: Transaction, user_id: UUID, seq: int, finished: Finished | None, *, now: datetime
) -> bool:
    """Close a claim, with what the texts were written from (None: the last ones stand).

    False when another claim has come since, or the owner is gone.
    """
    key: dict[str, Any] = {"user_id": user_id, "seq": seq}
    if finished is None:
        return tx.execute(_Q["finish_unchanged"], key) == 1
    values = {
        "components": json_value(dict(finished.components)),
        "games_analyzed": finished.games_analyzed,
        "last_failure": finished.last_failure,
        "failures": finished.failures,
        "now": now,
    }
    return tx.execute(_Q["finish"], key | values) == 1


def overdue(
    tx: Transaction,
    *,
    now: datetime,
    window: timedelta,
    lease: timedelta,
    slack: timedelta,
    grace: timedelta,
    limit: int,
) -> list[Overdue]:
    """Arm again what was left behind; those to be woken."""
    times = {"now": now, "window": window, "lease": lease, "slack": slack, "grace": grace}
    rows = tx.all(_Q["overdue"], times | {"limit": limit})
    return [Overdue(**row) for row in rows if row["run_after"] is not None]


def write_texts(
    tx: Transaction, user_id: UUID, texts: Composition, *, version: str, now: datetime
) -> None:
    """Both texts in the owner's profile row, if it is still there."""
    values = {
        "user_id": user_id,
        "summary_text": texts.summary_text,
        "agent_context_block": texts.agent_context_block,
        "version": version,
        "now": now,
    }
    tx.execute(_Q["write_texts"], values)

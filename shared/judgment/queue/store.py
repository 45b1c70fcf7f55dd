"""The statements of `queue`; each runs in the transaction it is handed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.contract.jobs import Event
from judgment.db.connection import json_value
from judgment.db.queries import load_queries

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

_Q = load_queries("judgment.queue")

SENT_EVENTS_DAYS = 7
PROCESSED_DAYS = 35
"""SQS keeps a message at most 14 days, its dead letters 14 more; a week for those who redrive."""
ANSWERS_DAYS = 7


@dataclass(frozen=True)
class Answer:
    """What was answered to an idempotency key; `status` 0 while it is being worked out."""

    body_sha256: str
    status: int
    response: Any


def put_event(tx: Transaction, event: Event) -> None:
    """Add an event to the outbox. Raises UniqueViolated for an id that is there."""
    tx.execute(_Q["put_event"], event.model_dump())


def lock_unsent(
    tx: Transaction, *, grace_seconds: float, limit: int, skip: Collection[UUID] = ()
) -> list[Event]:
    """Unsent events older than the grace, locked until the transaction ends."""
    rows = tx.all(
        _Q["lock_unsent"], {"grace_seconds": grace_seconds, "limit": limit, "skip": list(skip)}
    )
    return [Event(**row) for row in rows]


def mark_sent(tx: Transaction, ids: Collection[UUID]) -> None:
    """These are on the bus."""
    tx.execute(_Q["mark_sent"], {"ids": list(ids)})


def mark_tried(tx: Transaction, ids: Collection[UUID]) -> None:
    """These were tried and are not on the bus."""
    tx.execute(_Q["mark_tried"], {"ids": list(ids)})


def count_unsent(tx: Transaction) -> tuple[int, float]:
    """How many events wait, and for how many seconds the oldest of them has."""
    row = tx.one(_Q["count_unsent"])
    assert row is not None  # an aggregate always gives a row
    return row["waiting"], row["oldest_seconds"]


def note_processed(tx: Transaction, consumer: str, message_id: UUID) -> bool:
    """True the first time; waits for a transaction that noted the same just now."""
    touched = tx.execute(_Q["note_processed"], {"consumer": consumer, "message_id": message_id})
    return touched == 1


def claim_key(tx: Transaction, user_id: UUID, key: str, route: str, body_sha256: str) -> bool:
    """True when the key is new for this owner and route."""
    values = {"user_id": user_id, "key": key, "route": route, "body_sha256": body_sha256}
    return tx.execute(_Q["claim_key"], values) == 1


def answer_of_key(tx: Transaction, user_id: UUID, key: str, route: str) -> Answer | None:
    """What was answered to the key."""
    row = tx.one(_Q["answer_of_key"], {"user_id": user_id, "key": key, "route": route})
    return None if row is None else Answer(**row)


def keep_answer(
    tx: Transaction, user_id: UUID, key: str, route: str, status: int, response: Any
) -> None:
    """Keep the answer to a key claimed in this transaction."""
    values = {"user_id": user_id, "key": key, "route": route, "status": status}
    tx.execute(_Q["keep_answer"], {**values, "response": json_value(response)})


def retire(tx: Transaction) -> dict[str, int]:
    """Delete what is past its time, as judgment_worker; rows deleted by table."""
    return {
        "outbox": tx.execute(_Q["retire_sent"], {"days": SENT_EVENTS_DAYS}),
        "processed": tx.execute(_Q["retire_processed"], {"days": PROCESSED_DAYS}),
        "idempotency_keys": tx.execute(_Q["retire_answers"], {"days": ANSWERS_DAYS}),
    }

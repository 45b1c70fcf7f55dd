"""A message has its effect once, however often it is delivered."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from judgment.queue import store

if TYPE_CHECKING:
    from judgment.db.connection import Transaction


def first_time(tx: Transaction, consumer: str, message_id: UUID) -> bool:
    """True when this consumer has not processed the message; make its effect in the same `tx`.

    Two deliveries at once: the second waits for the first one's transaction and gets False when
    that committed, True when it rolled back.
    """
    return store.note_processed(tx, consumer, message_id)

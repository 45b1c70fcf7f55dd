"""A change and its event commit together; the event is sent after, at least once.

`put` writes the event into the change's own transaction. `publish` sends it once that has
committed; whatever becomes of that (the process dies, the bus is down) the row is still unsent,
and the sweep that runs each minute sends it. Between sending and marking lies a moment in which a
death sends it twice, so consumers note what they have done (`judgment.queue.processed`). There is
no moment in which it is lost. The kill points `outbox.*` let a test die at each of these places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.kit.errors import Unavailable
from judgment.kit.killpoints import reach
from judgment.queue import store
from judgment.queue.bus import BATCH

if TYPE_CHECKING:
    from judgment.contract.jobs import Event
    from judgment.db.connection import Transaction
    from judgment.queue.bus import EventBus

Begin = Callable[..., AbstractContextManager["Transaction"]]
GRACE_SECONDS = 5.0
"""How long the sweep leaves an event to the request that is about to send it."""


@dataclass(frozen=True)
class Sweep:
    """What a sweep did. `waiting` events are left, the oldest of them for `oldest_seconds`."""

    sent: int
    refused: int
    waiting: int
    oldest_seconds: float


def put(tx: Transaction, event: Event) -> None:
    """Keep the event; it exists if and only if this transaction commits."""
    store.put_event(tx, event)
    reach("outbox.before_commit")


def publish(begin: Begin, bus: EventBus, events: Sequence[Event]) -> int:
    """Send events of one owner whose transaction has committed; how many the bus took.

    An outage of the bus or of the database costs the caller nothing but time: the sweep sends
    what is left.
    """
    reach("outbox.after_commit")
    sent = 0
    try:
        for start in range(0, len(events), BATCH):
            accepted = bus.put(events[start : start + BATCH])
            reach("outbox.after_send")
            with begin(events[start].user_id) as tx:
                store.mark_sent(tx, accepted)
            sent += len(accepted)
    except Unavailable:
        return sent
    return sent


def sweep(
    begin: Begin,
    bus: EventBus,
    *,
    grace_seconds: float = GRACE_SECONDS,
    batches: int = 50,
) -> Sweep:
    """Send what is unsent, as judgment_worker; each event is tried once in a sweep.

    Sweeps at the same time share the work. Raises Unavailable when the database is down; a bus
    that is down ends the sweep.
    """
    sent = 0
    refused: set[UUID] = set()
    for _ in range(batches):
        with begin() as tx:
            events = store.lock_unsent(tx, grace_seconds=grace_seconds, limit=BATCH, skip=refused)
            if not events:
                break
            accepted, is_up = _offered(bus, events)
            store.mark_sent(tx, accepted)
            failed = {event.id for event in events} - accepted
            store.mark_tried(tx, failed)
        sent += len(accepted)
        refused |= failed
        if not is_up:
            break
    with begin() as tx:
        waiting, oldest = store.count_unsent(tx)
    return Sweep(sent, len(refused), waiting, oldest)


def _offered(bus: EventBus, events: Sequence[Event]) -> tuple[frozenset[UUID], bool]:
    """What the bus took, and whether it is up."""
    try:
        accepted = bus.put(events)
    except Unavailable:
        return frozenset(), False
    reach("outbox.after_send")
    return accepted, True

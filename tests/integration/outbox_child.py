"""A child process that makes a change with an event, and dies where it is told to.

Arguments: database URL, owner, event id, file that stands for the bus, kill point (or `none`).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from judgment.contract.jobs import Event
from judgment.db.connection import Database
from judgment.kit.killpoints import arm
from judgment.queue import outbox


class FileBus:
    """A bus that outlives its senders: a line per event taken."""

    def __init__(self, path: Path):
        self._path = path

    def put(self, events: Sequence[Event]) -> frozenset[UUID]:
        """See `judgment.queue.bus.EventBus.put`."""
        with self._path.open("a") as file:
            for event in events:
                file.write(f"{event.id}\n")
        return frozenset(event.id for event in events)

    def taken(self) -> list[str]:
        """The ids in the order in which they came."""
        return self._path.read_text().split() if self._path.exists() else []


def main(url: str, owner: str, event_id: str, bus: str, point: str) -> None:
    """Change the owner's profile state, and tell of it."""
    arm(point)
    user_id = UUID(owner)
    event = Event(
        id=UUID(event_id),
        type="profile.changed",
        user_id=user_id,
        subject_id=user_id,
        correlation_id="child",
    )
    database = Database(url)
    with database.transaction(user_id) as tx:
        tx.execute(
            "INSERT INTO judgment.profile_state (user_id, score_owner) VALUES (%s, 'judgment')",
            (user_id,),
        )
        outbox.put(tx, event)
    outbox.publish(database.transaction, FileBus(Path(bus)), [event])
    database.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

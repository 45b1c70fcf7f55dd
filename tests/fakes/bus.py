"""A bus and a queue in memory, held to the same tests as EventBridge and SQS behind their ports."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from uuid import UUID

from judgment.contract.jobs import SOURCE, Event
from judgment.kit.errors import TooLarge, Unavailable
from judgment.queue.bus import BATCH, ENTRY_LIMIT
from judgment.queue.jobs import check_message


class FakeBus:
    """Keeps what it takes. `down` makes it unreachable, `refused` are ids it will not take."""

    def __init__(self) -> None:
        self.taken: list[Event] = []
        self.down = False
        self.refused: set[UUID] = set()
        self.after_taking: Callable[[], None] = lambda: None
        self._turn = threading.Lock()

    def put(self, events: Sequence[Event]) -> frozenset[UUID]:
        """See `judgment.queue.bus.EventBus.put`."""
        if len(events) > BATCH:
            raise ValueError(f"{len(events)} events in one call")
        if sum(len(f"{SOURCE}{e.type}{e.model_dump_json()}".encode()) for e in events) > (
            ENTRY_LIMIT
        ):
            raise TooLarge
        if self.down and events:
            raise Unavailable
        taken = [event for event in events if event.id not in self.refused]
        with self._turn:
            self.taken += taken
        self.after_taking()
        return frozenset(event.id for event in taken)


class FakeQueue:
    """Keeps messages with their delays."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, int]] = []
        self.down = False

    def send(self, body: str, *, delay_seconds: int = 0) -> None:
        """See `judgment.queue.jobs.JobQueue.send`."""
        check_message(body, delay_seconds)
        if self.down:
            raise Unavailable
        self.sent.append((body, delay_seconds))

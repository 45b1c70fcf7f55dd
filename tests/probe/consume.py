"""A queue consumer that notes each event once and chokes on poison until it is cured."""

from __future__ import annotations

import os

from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.entry.opening import opened_on_first_call
from judgment.entry.queue import Message, QueueDoor
from judgment.queue.bus import event_of_message
from judgment.queue.processed import first_time

CONSUMER = "probe"
CURE = "probe-cure"
POISON = "poison"
_CURED = "SELECT 1 FROM judgment.processed WHERE consumer = %(cure)s AND message_id = %(id)s"


def build(database: Database) -> QueueDoor:
    """The door over this database."""

    def consume(message: Message) -> None:
        event = event_of_message(message.body)
        with database.transaction() as tx:
            cured = tx.value(_CURED, {"cure": CURE, "id": event.id})
            if event.correlation_id.startswith(POISON) and not cured:
                raise ValueError("the probe cannot swallow this one")
            first_time(tx, CONSUMER, event.id)

    return QueueDoor(consume, Telemetry("probe_consume"))


handler = opened_on_first_call(
    lambda: build(Database(os.environ["DATABASE_URL"], application_name="probe_consume"))
)

"""A scheduled door that notes each tick."""

from __future__ import annotations

import os

from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.entry.opening import opened_on_first_call
from judgment.entry.schedule import ScheduleDoor
from judgment.kit.ids import new_id
from judgment.queue.processed import first_time

CONSUMER = "probe-tick"


def build(database: Database) -> ScheduleDoor:
    """The door over this database."""

    def note() -> dict[str, int]:
        with database.transaction() as tx:
            first_time(tx, CONSUMER, new_id())
        return {"noted": 1}

    return ScheduleDoor({"probe": note}, Telemetry("probe_tick"))


handler = opened_on_first_call(
    lambda: build(Database(os.environ["DATABASE_URL"], application_name="probe_tick"))
)

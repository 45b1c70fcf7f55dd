"""A door that records events the way every door of the product will: outbox first, then the bus."""

from __future__ import annotations

import json
import os
from typing import Any
from uuid import UUID

from judgment.contract.jobs import Event
from judgment.db.connection import Database
from judgment.kit.ids import new_id
from judgment.queue.bus import EventBridgeBus
from judgment.queue.outbox import publish, put


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """`{"user_id", "correlation_ids": […], "publish": bool}` → the events' ids.

    Without `publish` the events stay in the outbox, as if the process had died after its commit.
    """
    wanted = json.loads(event["body"])
    events = [_event(UUID(wanted["user_id"]), text) for text in wanted["correlation_ids"]]
    database = Database(os.environ["DATABASE_URL"], application_name="probe_emit")
    with database.transaction(UUID(wanted["user_id"])) as tx:
        for one in events:
            put(tx, one)
    sent = 0
    if wanted["publish"]:
        bus = EventBridgeBus.named(os.environ["EVENT_BUS_NAME"])
        sent = publish(database.transaction, bus, events)
    database.close()
    body = {"ids": [str(one.id) for one in events], "sent": sent}
    return {"statusCode": 200, "body": json.dumps(body)}


def _event(user_id: UUID, correlation_id: str) -> Event:
    return Event(
        id=new_id(),
        type="profile.changed",
        user_id=user_id,
        subject_id=user_id,
        correlation_id=correlation_id,
    )

"""Decisions that an existing Sync app made and has already put into the profile itself.

Too late for a snapshot of the profile before, and nothing here guesses one: evaluation counts it
as missing. What is left to do is to ask for a new summary where the profile moved. The profile
itself is the Sync app's and is not touched, and no decision is made up (ruling 24).

A message is known again by its decision's id: the Sync app may send one decision as several
events, in any order and any number of times.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from judgment.contract.jobs import SYNC_SOURCE, Event
from judgment.kit.clock import Clock, utc_now
from judgment.kit.errors import InvalidRequest
from judgment.kit.killpoints import reach
from judgment.queue.bus import event_of_message
from judgment.queue.processed import first_time
from judgment.scenarios import store

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.scenarios.ports import Moved, Summaries

CONSUMER = "decision_intake"
TYPE = "decision.recorded"
VERSION = 1


class DecisionIntake:
    """Takes note of a Sync app's decisions. `begin` opens transactions as `judgment_worker`."""

    def __init__(
        self,
        begin: Callable[[UUID], AbstractContextManager[Transaction]],
        summaries: Summaries,
        clock: Clock = utc_now,
    ):
        self._begin = begin
        self._summaries = summaries
        self._clock = clock

    def take(self, body: str) -> bool:
        """Take note of the decision in a message of the bus; False when that was done before.

        Raises InvalidRequest for anything but a Sync app's decision, ForeignKeyViolated for an
        owner nobody knows, Unavailable when the database is down; nothing is stored then.
        """
        event = decision_of_message(body)
        with self._begin(event.user_id) as tx:
            now = self._clock()
            if not first_time(tx, CONSUMER, event.subject_id):
                return False
            store.add_missing_snapshot(tx, event.user_id, event.subject_id)
            moved = self._asked(tx, event, now)
            reach("intake.before_commit")
        reach("intake.after_commit")
        if moved is not None and moved.became_pending and moved.due_at is not None:
            self._summaries.wake(event.user_id, moved.due_at, event.correlation_id, now)
        return True

    def _asked(self, tx: Transaction, event: Event, now: datetime) -> Moved | None:
        profile = store.stored_profile(tx, event.user_id)
        if profile is None:
            return None
        return self._summaries.request_if_moved(
            tx, event.user_id, profile, event.correlation_id, now
        )


def decision_of_message(body: str) -> Event:
    """The event in a message that the rule for a Sync app's decisions has put into the queue.

    Raises InvalidRequest for another source (ours above all), another type, a later version and
    whatever is no event.
    """
    event = event_of_message(body)
    envelope = cast("dict[str, Any]", json.loads(body))  # read once above, so it is an object
    if envelope.get("source") != SYNC_SOURCE:
        raise InvalidRequest("The event is not a Sync app's.")
    if event.type != TYPE or envelope.get("detail-type") != TYPE:
        raise InvalidRequest("The event tells of something else than a decision.")
    if event.version != VERSION:
        raise InvalidRequest("The event is of a version that is not known here.")
    return event

"""The message that tells a worker to look at an owner: a hint, sent after the commit.

Whoever made a request sends one; `wake_overdue` sends those that were lost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from pydantic import ValidationError

from judgment.contract.jobs import SummaryWakeUp
from judgment.kit.errors import InvalidRequest, Unavailable
from judgment.queue.jobs import DELAY_LIMIT_SECONDS
from judgment.summary import debounce

if TYPE_CHECKING:
    from judgment.kit.clock import Clock
    from judgment.queue.jobs import JobQueue
    from judgment.queue.outbox import Begin


@dataclass(frozen=True)
class Woken:
    """Of so many `overdue` owners, `woken` had their wake-up taken by the queue."""

    overdue: int
    woken: int


WakeOverdue = Callable[[], Woken]


def wake(
    queue: JobQueue, user_id: UUID, due_at: datetime, correlation_id: str, now: datetime
) -> bool:
    """Send the wake-up so that it arrives at `due_at`, or in 15 minutes where that is later.

    False when the queue cannot be reached; the sweep sends what is missing.
    """
    seconds = math.ceil((due_at - now).total_seconds())
    message = SummaryWakeUp(user_id=user_id, correlation_id=correlation_id)
    try:
        queue.send(
            message.model_dump_json(), delay_seconds=min(DELAY_LIMIT_SECONDS, max(0, seconds))
        )
    except Unavailable:
        return False
    return True


def wake_overdue(begin: Begin, queue: JobQueue, clock: Clock, window: timedelta) -> Woken:
    """Arm and wake again those whose summary is wanted and in nobody's hands, as judgment_worker.

    Raises Unavailable when the database is down; a queue that is down leaves them to the next
    sweep.
    """
    now, woken = clock(), 0
    with begin() as tx:
        found = debounce.overdue(tx, now, window)
    for owner in found:
        if not wake(queue, owner.user_id, owner.run_after, owner.correlation_id, now):
            break
        woken += 1
    return Woken(len(found), woken)


def wake_up_of(body: str) -> SummaryWakeUp:
    """The wake-up in a message. Raises InvalidRequest: only the dead letters can take it."""
    try:
        return SummaryWakeUp.model_validate_json(body)
    except ValidationError as error:
        raise InvalidRequest("The message is no wake-up of ours.") from error

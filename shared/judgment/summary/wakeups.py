"""The message that tells a worker to look at an owner: a hint, sent after the commit."""

from __future__ import annotations

import math
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.contract.jobs import SummaryWakeUp
from judgment.kit.errors import Unavailable
from judgment.queue.jobs import DELAY_LIMIT_SECONDS

if TYPE_CHECKING:
    from judgment.queue.jobs import JobQueue


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

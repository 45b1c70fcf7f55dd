"""One call of `judgment.summary.regenerate` per wake-up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.summary_regen.wiring import wire
from judgment.entry.observability import SUMMARY_FELL_BACK, SUMMARY_WRITTEN
from judgment.entry.opening import opened_on_first_call
from judgment.entry.queue import Message, QueueDoor
from judgment.kit.clock import Clock, utc_now
from judgment.summary.wakeups import wake, wake_up_of

if TYPE_CHECKING:
    from judgment.entry.observability import Telemetry
    from judgment.queue.jobs import JobQueue
    from judgment.summary.regenerate import Regeneration


def build(
    regeneration: Regeneration, queue: JobQueue, telemetry: Telemetry, clock: Clock = utc_now
) -> QueueDoor:
    """The door over these parts."""

    def consume(message: Message) -> None:
        wanted = wake_up_of(message.body)
        done = regeneration.run(wanted.user_id, message.deadline)
        if done.look_at is not None:
            wake(queue, wanted.user_id, done.look_at, wanted.correlation_id, clock())
        if done.ending == "written":
            telemetry.count(SUMMARY_WRITTEN)
        if done.failure is not None:
            telemetry.count(SUMMARY_FELL_BACK)
        telemetry.info(
            "summary",
            correlation_id=wanted.correlation_id,
            message_id=message.id,
            ending=done.ending,
            version=done.version,
            failure=done.failure,
            complaints=done.complaints,
            calls=done.calls,
        )

    return QueueDoor(consume, telemetry)


handler = opened_on_first_call(lambda: build(*wire()))

"""One call of `judgment.scenarios.intake` per message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.decision_intake.wiring import wire
from judgment.entry.opening import opened_on_first_call
from judgment.entry.queue import Message, QueueDoor

if TYPE_CHECKING:
    from judgment.entry.observability import Telemetry
    from judgment.scenarios.intake import DecisionIntake


def build(intake: DecisionIntake, telemetry: Telemetry) -> QueueDoor:
    """The door over these parts."""

    def consume(message: Message) -> None:
        is_new = intake.take(message.body)
        telemetry.info("decision", message_id=message.id, is_new=is_new)

    return QueueDoor(consume, telemetry)


handler = opened_on_first_call(lambda: build(*wire()))

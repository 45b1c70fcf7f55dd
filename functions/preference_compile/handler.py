"""One call of `judgment.preferences.recompiling` per message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.preference_compile.wiring import wire
from judgment.entry.opening import opened_on_first_call
from judgment.entry.queue import Message, QueueDoor

if TYPE_CHECKING:
    from judgment.entry.observability import Telemetry
    from judgment.preferences.recompiling import Recompiling


def build(recompiling: Recompiling, telemetry: Telemetry) -> QueueDoor:
    """The door over these parts."""

    def consume(message: Message) -> None:
        outcome = recompiling.take(message.body)
        telemetry.info("preferences", message_id=message.id, outcome=outcome)

    return QueueDoor(consume, telemetry)


handler = opened_on_first_call(lambda: build(*wire()))

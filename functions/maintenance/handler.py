"""Two tasks over `judgment.queue`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from functions.maintenance.wiring import wire
from judgment.entry.observability import OUTBOX_WAITING, Telemetry
from judgment.entry.opening import opened_on_first_call
from judgment.entry.schedule import ScheduleDoor
from judgment.queue.outbox import sweep
from judgment.queue.store import retire

if TYPE_CHECKING:
    from judgment.queue.bus import EventBus
    from judgment.queue.outbox import Begin


def build(begin: Begin, bus: EventBus, telemetry: Telemetry) -> ScheduleDoor:
    """The door over these parts."""

    def sweep_outbox() -> Mapping[str, int]:
        swept = sweep(begin, bus)
        if swept.waiting:
            telemetry.count(OUTBOX_WAITING, swept.waiting)
        return {
            "sent": swept.sent,
            "refused": swept.refused,
            "waiting": swept.waiting,
            "oldest_seconds": int(swept.oldest_seconds),
        }

    def retention() -> Mapping[str, int]:
        with begin() as tx:
            return retire(tx)

    return ScheduleDoor({"sweep": sweep_outbox, "retention": retention}, telemetry)


handler = opened_on_first_call(lambda: build(*wire()))

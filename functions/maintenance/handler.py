"""Two tasks: what nobody has in hand is swept, what is past its time is deleted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from functions.maintenance.wiring import wire
from judgment.entry.observability import OUTBOX_WAITING, SUMMARY_OVERDUE, Telemetry
from judgment.entry.opening import opened_on_first_call
from judgment.entry.schedule import ScheduleDoor
from judgment.memory.transfer import store as imports
from judgment.queue import store as queue
from judgment.queue.outbox import sweep

if TYPE_CHECKING:
    from judgment.queue.bus import EventBus
    from judgment.queue.outbox import Begin
    from judgment.summary.wakeups import WakeOverdue


def build(
    begin: Begin, bus: EventBus, wake_overdue: WakeOverdue, telemetry: Telemetry
) -> ScheduleDoor:
    """The door over these parts."""

    def sweep_all() -> Mapping[str, int]:
        swept = sweep(begin, bus)
        summaries = wake_overdue()
        if summaries.overdue:
            telemetry.count(SUMMARY_OVERDUE, summaries.overdue)
        if swept.waiting:
            telemetry.count(OUTBOX_WAITING, swept.waiting)
        return {
            "sent": swept.sent,
            "refused": swept.refused,
            "waiting": swept.waiting,
            "oldest_seconds": int(swept.oldest_seconds),
            "overdue": summaries.overdue,
            "woken": summaries.woken,
        }

    def retention() -> Mapping[str, int]:
        with begin() as tx:
            return {**queue.retire(tx), **imports.retire(tx)}

    return ScheduleDoor({"sweep": sweep_all, "retention": retention}, telemetry)


handler = opened_on_first_call(lambda: build(*wire()))

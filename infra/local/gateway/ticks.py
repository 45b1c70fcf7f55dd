"""EventBridge Scheduler's rate schedules: a tick at the start, then one each period."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from infra.local.gateway.invoking import InvocationFailed

if TYPE_CHECKING:
    from infra.catalogue import Schedule

Invoke = Callable[[Any], Awaitable[Any]]
Sleep = Callable[[float], Awaitable[None]]


async def tick(schedule: Schedule, invoke: Invoke, sleep: Sleep = asyncio.sleep) -> None:
    """Invoke the schedule's door until cancelled. A failed tick is logged; the next one comes."""
    while True:
        try:
            await invoke({"task": schedule.task})
        except InvocationFailed as failure:
            print(f"[ERROR] schedule {schedule.name}: {failure}", flush=True)
        await sleep(schedule.every_minutes * 60)

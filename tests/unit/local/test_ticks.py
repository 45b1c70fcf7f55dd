"""Schedules tick at the start and then once a period, whatever a tick does."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infra.catalogue import CATALOGUE, Schedule
from infra.local.gateway.invoking import FunctionError
from infra.local.gateway.ticks import tick


class _EndOfTest(Exception):
    pass


def _play(schedule: Schedule, ticks: int, failing: int | None = None) -> list[Any]:
    """What happened in so many periods: invocations and pauses, in order."""
    seen: list[Any] = []

    async def invoke(event: dict[str, str]) -> Any:
        seen.append(event)
        if failing == len([one for one in seen if isinstance(one, dict)]):
            raise FunctionError("ValueError", "this tick fails")

    async def sleep(seconds: float) -> None:
        seen.append(seconds)
        if seen.count(seconds) == ticks:
            raise _EndOfTest

    with pytest.raises(_EndOfTest):
        asyncio.run(tick(schedule, invoke, sleep))
    return seen


@pytest.mark.promise("P1-9", "R-25")
@pytest.mark.parametrize("schedule", CATALOGUE.schedules, ids=lambda schedule: schedule.name)
def test_every_schedule_ticks_its_task_each_period(schedule: Schedule) -> None:
    period = schedule.every_minutes * 60
    assert _play(schedule, 3) == [{"task": schedule.task}, period] * 3


def test_a_failed_tick_does_not_stop_the_schedule() -> None:
    schedule = Schedule("probe", "door", 1, "work")
    assert _play(schedule, 3, failing=2) == [{"task": "work"}, 60] * 3

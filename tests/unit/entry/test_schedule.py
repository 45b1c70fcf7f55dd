"""A tick runs the task it names."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from judgment.entry.observability import Telemetry
from judgment.entry.schedule import ScheduleDoor


def test_a_tick_runs_its_task_and_tells_what_it_counted():
    door = ScheduleDoor({"sweep": lambda: {"sent": 3}}, Telemetry("probe"))
    assert door({"task": "sweep"}, None) == {"task": "sweep", "sent": 3}


def test_a_failing_task_fails_the_invocation(capsys: pytest.CaptureFixture[str]):
    def fail() -> Mapping[str, int]:
        raise ConnectionError("bus")

    with pytest.raises(ConnectionError):
        ScheduleDoor({"sweep": fail}, Telemetry("probe"))({"task": "sweep"}, None)
    assert '"TaskFailed":[1.0]' in capsys.readouterr().out


@pytest.mark.parametrize("event", [{}, {"task": "drop"}, {"task": ["sweep"]}, {"task": None}])
def test_an_unknown_task_is_refused(event: dict[str, object]):
    with pytest.raises(ValueError, match="sweep"):
        ScheduleDoor({"sweep": dict}, Telemetry("probe"))(event, None)

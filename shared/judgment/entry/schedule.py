"""A tick of the schedule as a handler: `{"task": name}` runs that task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from judgment.entry import event as read
from judgment.entry import observability as seen

if TYPE_CHECKING:
    from judgment.entry.observability import Telemetry

Task = Callable[[], Mapping[str, int]]


class ScheduleDoor:
    """The handler of a scheduled door. A task returns what it counted, for the log."""

    def __init__(self, tasks: Mapping[str, Task], telemetry: Telemetry):
        self._tasks = tasks
        self._telemetry = telemetry

    def __call__(self, event: read.Event, context: Any) -> dict[str, Any]:
        """Run the task and return its counts.

        What a task raises is the invocation's error, so that the alarm on errors sees it. Raises
        ValueError for a task that this door does not know.
        """
        name = event.get("task")
        if not isinstance(name, str) or name not in self._tasks:
            raise ValueError(f"no such task; this door knows {sorted(self._tasks)}")
        try:
            counts = dict(self._tasks[name]())
            self._telemetry.info("task", task=name, **counts)
        except Exception as error:  # whatever a task raises is counted before Lambda sees it
            self._telemetry.count(seen.TASK_FAILED)
            self._telemetry.failure(seen.TASK_FAILED, error, task=name)
            raise
        finally:
            self._telemetry.flush()
        return {"task": name, **counts}

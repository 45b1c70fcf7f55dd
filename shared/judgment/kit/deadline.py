"""How long is left before this invocation is cut off, as a value that is passed in."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Deadline:
    """`remaining()` is the number of seconds left; it may be negative."""

    remaining: Callable[[], float]

    @classmethod
    def after(cls, seconds: float, monotonic: Callable[[], float] = time.monotonic) -> Deadline:
        """The deadline so many seconds from now."""
        end = monotonic() + seconds
        return cls(lambda: end - monotonic())

    @classmethod
    def of_lambda(cls, context: object, otherwise_seconds: float = 60.0) -> Deadline:
        """The deadline of a Lambda invocation, by its context; `otherwise_seconds` without one."""
        milliseconds = getattr(context, "get_remaining_time_in_millis", None)
        if milliseconds is None:
            return cls.after(otherwise_seconds)
        return cls(lambda: milliseconds() / 1000)

    def less(self, seconds: float) -> Deadline:
        """The same deadline, so many seconds earlier: time kept for what comes after."""
        return Deadline(lambda: self.remaining() - seconds)

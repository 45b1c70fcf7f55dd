"""Waiting for something outside this process that announces nothing."""

from __future__ import annotations

import time
from collections.abc import Callable


def wait_for(condition: Callable[[], object], seconds: float, every_seconds: float = 0.02) -> bool:
    """Whether the condition came true in time; it is asked again and again."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(every_seconds)
    return True

"""Named places where a test may kill the process, to prove that nothing is lost there.

Production code calls `reach(name)`; it costs a set lookup. A child process of a test calls `arm`
before it does its work. There is no environment variable, so that nothing can arm a deployment.
"""

from __future__ import annotations

import os
import signal

_armed: set[str] = set()


def arm(*names: str) -> None:
    """From now on this process dies by SIGKILL when it reaches one of these points."""
    _armed.update(names)


def reach(name: str) -> None:
    """Mark a point between two effects; does nothing unless a test armed it."""
    if name in _armed:
        os.kill(os.getpid(), signal.SIGKILL)

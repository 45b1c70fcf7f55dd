"""One supervisor per state folder: a file lock that the kernel frees when its holder dies."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
from collections.abc import Iterator
from pathlib import Path

from infra.local.waiting import wait_for


class AlreadyRunning(RuntimeError):
    """Another supervisor serves this state folder."""


@contextlib.contextmanager
def held(path: Path) -> Iterator[None]:
    """Hold the lock and show our process id in it. Raises AlreadyRunning."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(f"a stack is already running here ({path})") from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def is_held(path: Path) -> bool:
    """Whether a supervisor is alive."""
    if not path.exists():
        return False
    with path.open("r") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False


def end_holder(path: Path) -> bool:
    """Ask the supervisor to stop, then insist; False when there was none."""
    if not is_held(path):
        return False
    pid = int(path.read_text())
    for number, patience in ((signal.SIGTERM, 20.0), (signal.SIGKILL, 5.0)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        if wait_for(lambda: not is_held(path), patience):
            return True
    return True

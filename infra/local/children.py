"""Child processes that never outlive the one who started them."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from infra.local.waiting import wait_for

_PR_SET_PDEATHSIG = 1
_SAID_BYTES = 2_000


class ChildFailed(RuntimeError):
    """A part did not start or ended by itself; the message ends with its last words."""


def die_with_parent(by: signal.Signals = signal.SIGKILL) -> None:
    """On Linux: get that signal when the thread that started this process ends.

    Hence children are started from main threads only. Elsewhere it does nothing; there the
    gateway watches its parent, and the next `up` ends what a killed one left.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, by)


class Child:
    """One long-running process with its own session, a given environment and a log file."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        environ: Mapping[str, str],
        log: Path,
        folder: Path,
        stop_seconds: float = 5.0,
    ):
        self.name = name
        self.log = log
        self._command = command
        self._environ = environ
        self._folder = folder
        self._stop_seconds = stop_seconds
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        return self._process.pid if self._process and self._process.poll() is None else None

    def start(self) -> None:
        """Start it. Call from the main thread."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                list(self._command),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self._folder,
                env=dict(self._environ),
                start_new_session=True,
                preexec_fn=die_with_parent,
            )

    def ensure_running(self) -> None:
        """Raises ChildFailed with the end of its log when it has ended."""
        if self.pid is None:
            code = self._process.returncode if self._process else None
            raise ChildFailed(f"{self.name} ended with {code}:\n{last_words(self.log)}")

    def wait(self, seconds: float) -> None:
        """Until it ends by itself. Raises subprocess.TimeoutExpired."""
        if self._process:
            self._process.wait(seconds)

    def stop(self) -> None:
        """Ask, wait, insist. Safe to call twice."""
        if self._process is None or self.pid is None:
            return
        self._process.terminate()
        try:
            self._process.wait(self._stop_seconds)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def last_words(log: Path) -> str:
    """The end of a log file, or a sentence saying that there is none."""
    try:
        return log.read_bytes()[-_SAID_BYTES:].decode(errors="replace")
    except FileNotFoundError:
        return "(it wrote no log)"


def end_leftover(pid: int, mark: str) -> None:
    """Kill a process of an earlier run, if that id still is one whose command line holds `mark`."""
    command = ["ps", "-o", "command=", "-p", str(pid)]
    shown = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    if mark not in shown:
        return
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not Path(f"/proc/{pid}").exists(), 2.0)

"""Where an agent client runs: programs from hashed lists, a home of its own, a bare environment."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from infra.checkout import ROOT
from infra.node import NODE
from tests.bench.peers.environments import NodeEnvironment, PythonEnvironment

LOCKS = Path(__file__).parent
INSTALLED = ROOT / ".local" / "agents"
SECONDS = 180.0

CLIENTS = NodeEnvironment("clients", LOCKS, INSTALLED)
MORE_CLIENTS = NodeEnvironment(
    "more-clients",
    LOCKS,
    INSTALLED,
    ("node_modules/@anthropic-ai/claude-code/install.cjs",),
)
HERMES = PythonEnvironment("hermes", locks=LOCKS, home=INSTALLED)


def programs(environment: NodeEnvironment | PythonEnvironment) -> Path:
    """The folder of the environment's commands, installed once for all pytest processes.

    Raises PeerUnavailable when the registry cannot be reached.
    """
    INSTALLED.mkdir(parents=True, exist_ok=True)
    with (INSTALLED / f"{environment.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        folder = environment.install()
    if isinstance(environment, NodeEnvironment):
        return folder / "node_modules" / ".bin"
    return folder


@dataclass
class Home:
    """A new user's home, with one set of programs; nothing of this machine's user is seen."""

    folder: Path
    programs: Path
    settings: dict[str, str] = field(default_factory=dict[str, str])

    def __post_init__(self) -> None:
        """Make the home and a working folder in it."""
        self.work.mkdir(parents=True, exist_ok=True)
        (self.folder / "tmp").mkdir(exist_ok=True)

    @property
    def work(self) -> Path:
        """Where commands run."""
        return self.folder / "work"

    @property
    def environ(self) -> Mapping[str, str]:
        """The whole environment of a command."""
        node = NODE.parent
        return {
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder / "tmp"),
            "PATH": os.pathsep.join([str(self.programs), str(node), "/usr/bin", "/bin"]),
            "LANG": "C.UTF-8",
            **self.settings,
        }

    def run(self, *command: str) -> str:
        """Run a command to its end and return what it wrote; it must succeed.

        What it leaves running ends with it.
        """
        process = subprocess.Popen(
            command,
            cwd=self.work,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            written, complaints = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            written, complaints = process.communicate()
            complaints += f"\n(killed after {SECONDS:.0f} s)"
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        assert process.returncode == 0, f"{command}: {written[-2000:]}\n{complaints[-2000:]}"
        return written

    def paste(self, lines: str) -> str:
        """Run lines as a person would paste them into a shell."""
        return self.run("/bin/sh", "-ec", lines)

    def remove(self) -> None:
        """Forget the home."""
        shutil.rmtree(self.folder, ignore_errors=True)

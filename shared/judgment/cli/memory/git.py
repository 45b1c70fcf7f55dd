"""The `git` program, run so that nothing a repository holds is run or reached by it.

No hook, filter, monitor, signature program or remote of a repository is used, and no setting of
this machine. Only plumbing commands are called, because porcelain obeys more settings.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import IO

from judgment.kit.errors import Unavailable

_SAFE = (
    "--no-optional-locks",
    *("-c", "core.fsmonitor="),
    *("-c", f"core.hooksPath={os.devnull}"),
)


class Git:
    """The program over the repository in one `.git` folder."""

    def __init__(self, program: str, repository: Path):
        self._line = [program, *_SAFE, f"--git-dir={repository}"]

    def started(
        self, *words: str, stdin: int | IO[bytes] = subprocess.DEVNULL, stderr: int | IO[bytes]
    ) -> subprocess.Popen[bytes]:
        """The command, running; its output is a pipe."""
        return subprocess.Popen(  # noqa: S603  (the words are ours)
            [*self._line, *words],
            env=_environment(),
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )

    def output(self, *words: str, missing: bytes | None = None) -> bytes:
        """What a command prints. Raises Unavailable when it fails, unless it fails without a word
        and `missing` is given, which is then the answer."""
        with self.started(*words, stderr=subprocess.PIPE) as process:
            stdout, stderr = process.communicate()
        if process.returncode and missing is not None and not stderr.strip():
            return missing
        if process.returncode:
            raise failed(words[0], stderr)
        return stdout


def found() -> str | None:
    """Where git is on this machine, None without it."""
    return shutil.which("git")


def failed(what: str, stderr: bytes) -> Unavailable:
    """A failure of git in one sentence: the last line that it said."""
    said = stderr.decode(errors="replace").strip().splitlines()
    return Unavailable(f"git {what} failed: {said[-1] if said else 'it said nothing'}")


def _environment() -> dict[str, str]:
    """This process's environment without anything that steers git."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {
        "GIT_ALLOW_PROTOCOL": "none",  # wins over what a repository allows itself
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "LC_ALL": "C",
    }

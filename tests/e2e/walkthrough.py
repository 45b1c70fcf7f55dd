"""A page whose console blocks are commands with what they printed: run again, or written again.

`python -m tests.e2e.walkthrough` runs docs/walkthrough.md and records what its commands print now.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from infra.checkout import ROOT

PAGE = ROOT / "docs/walkthrough.md"
BLOCK = re.compile(r"^(`{3,})console\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (?:.*\\\n)*.*\n", re.MULTILINE)

_CHANGES = (
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b"), "<id>"),
    (re.compile(r"\b\d{4}-\d\d-\d\dT[\d:.]+(?:Z|\+00:00)"), "<time>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d\b"), "<day>"),
    (re.compile(r"\b[0-9a-f]{12,64}\b"), "<digest>"),
    (re.compile(r"(-?\d+\.\d\d)\d+"), r"\1"),
)
"""What differs from run to run: ids, times, digests, and decimals that a moment of decay moves."""


def settled(text: str) -> str:
    """The text with everything that differs from run to run replaced."""
    for pattern, word in _CHANGES:
        text = pattern.sub(word, text)
    return text


def recorded(page: str, home: Path) -> str:
    """The page with what its commands print now, run in order with `home` as HOME and folder."""

    def run(block: re.Match[str]) -> str:
        parts = [f"{command}{_printed(command[2:], home)}" for command in COMMAND.findall(block[2])]
        return f"{block[1]}console\n{''.join(parts)}{block[1]}"

    return BLOCK.sub(run, page)


def _printed(command: str, home: Path) -> str:
    """What a shell shows of one command, in the order in which it is said."""
    programs = str(Path(sys.executable).parent)
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=120,
        env={
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(home),
            "TZ": "UTC",
            "COLUMNS": "100",
        },
    )
    shown = done.stdout.replace(str(home), "~").replace(programs, "~/.local/bin")
    if shown and not shown.endswith("\n"):
        shown += "\n"
    return shown if done.returncode == 0 else f"{shown}(exit {done.returncode})\n"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        PAGE.write_text(recorded(PAGE.read_text(encoding="utf-8"), Path(folder)), encoding="utf-8")

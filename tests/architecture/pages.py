"""The Markdown of the repository as the docs tests read it."""

from __future__ import annotations

import re
from pathlib import Path

from tests.architecture.source import ROOT, tracked

LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<to>[^)\s]+)\)")
FENCE = re.compile(r"^ *```(?P<kind>\w*)[^\n]*\n(?P<body>.*?)^ *```", re.DOTALL | re.MULTILINE)
CODE = re.compile(r"`([^`\n]+)`")


def pages() -> list[Path]:
    """Every Markdown page people read: not the promise tables, not fixtures."""
    return [ROOT / p for p in tracked() if p.endswith(".md") and not p.startswith("tests/")]


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return FENCE.sub("", page.read_text(encoding="utf-8"))


def rows(text: str) -> list[list[str]]:
    """The cells of every table row of a page, headings and rules left out."""
    found: list[list[str]] = []
    lines = text.splitlines()
    for number, line in enumerate(lines):
        below = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith("|") and not re.match(r"\| *-", line) and not re.match(r"\| *-", below):
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            found.append([cell.strip().replace("\\|", "|") for cell in cells])
    return found

"""Stores in folders for tests: statements, a clock that is set, and what lies in the folder."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from judgment.preferences.local.store import LocalStore

NOW = datetime(2026, 6, 10, 12, tzinfo=UTC)


def statement(key: str, value: object = True, **more: Any) -> dict[str, Any]:
    """A payload as an agent sends it."""
    return {
        "key": key,
        "value": value,
        "strength": 0.8,
        "observed_at": "2026-06-01T12:00:00Z",
        "source": {"platform": "claude-code", "session": "s"},
        **more,
    }


class Clock:
    """A clock that stands until it is set."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now


def opened(folder: Path, clock: Clock | None = None) -> LocalStore:
    """The store in `folder/prefs`."""
    return LocalStore(folder / "prefs", clock or Clock())


def states(root: Path) -> dict[str, tuple[int, int, int]]:
    """Inode, time of change and size of each file below a folder."""
    found = {p.relative_to(root).as_posix(): p.stat() for p in root.rglob("*") if p.is_file()}
    return {name: (s.st_ino, s.st_mtime_ns, s.st_size) for name, s in found.items()}


def lines(path: Path) -> list[dict[str, Any]]:
    """The records of a stream."""
    return [json.loads(line) for line in path.read_bytes().splitlines()]

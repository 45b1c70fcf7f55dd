"""A file of JSON lines that only grows. What a write that died left at its end is never read.

A last line without its line feed counts if it is whole JSON (an editor may have dropped the line
feed), else it is the rest of a write that nobody was told of, and the next append cuts it off.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from judgment.kit.files import append_private, read_private
from judgment.kit.hashing import canonical_json


@dataclass(frozen=True, slots=True)
class Lines:
    """What a stream holds: `whole` lines as bytes, and `torn`, what stands behind the last one."""

    whole: bytes
    torn: bytes

    def __iter__(self) -> Iterator[bytes]:
        return (line for line in self.whole.split(b"\n") if line and not line.isspace())

    def backwards(self) -> Iterator[bytes]:
        """The lines, last first, without splitting what is not asked for."""
        end = len(self.whole)
        while end > 0:
            start = self.whole.rfind(b"\n", 0, end) + 1
            if (line := self.whole[start:end]) and not line.isspace():
                yield line
            end = start - 1


@dataclass(frozen=True, slots=True)
class Stream:
    """The stream at a path."""

    path: Path

    def read(self) -> Lines:
        """All that is kept; nothing where there is no file. Raises Unavailable."""
        data = read_private(self.path) or b""
        end = data.rfind(b"\n") + 1
        if end < len(data) and loaded(data[end:]) is not None:
            end = len(data)
        return Lines(data[:end], data[end:])

    def append(self, records: Sequence[dict[str, Any]], behind: Lines) -> None:
        """Put records behind what was just read, synced. The caller holds the lock.

        All of them are kept, or a refusal is raised and none is.
        """
        text = "".join(f"{canonical_json(record)}\n" for record in records).encode()
        if behind.whole and not behind.whole.endswith(b"\n"):
            text = b"\n" + text
        append_private(self.path, text, keep=len(behind.whole))


def loaded(line: bytes) -> dict[str, Any] | None:
    """The object in a line, or None where there is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None

"""Memories on their way: lines made and read by hand, and sent as a client sends them."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from judgment.contract.memory import ImportOrder, MemoryImported
from judgment.kit.hashing import sha256_hex
from judgment.memory.transfer.lines import (
    Blob,
    Committed,
    FileLine,
    blob_lines,
    commit_lines,
    end_line,
    file_line,
    head_line,
    joined,
    parsed,
)

if TYPE_CHECKING:
    from judgment.memory.transfer.exports import Exports
    from judgment.memory.transfer.imports import Imports

AT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
Files = Mapping[str, bytes]


def commit_id(number: int | str) -> str:
    """Some commit's name."""
    return hashlib.sha1(f"commit {number}".encode(), usedforsecurity=False).hexdigest()


def memory(files: Files, *commits: tuple[str, Mapping[str, bytes | None]]) -> list[str]:
    """The lines of a memory: commits, each a name and what it did, and the files in the end."""
    lines = [head_line(AT)]
    sent: set[str] = set()

    def bring(contents: Iterable[bytes | None]) -> None:
        for content in contents:
            if content is not None and sha256_hex(content) not in sent:
                sent.add(sha256_hex(content))
                lines.extend(blob_lines(sha256_hex(content), content))

    for name, changes in commits:
        bring(changes.values())
        done = {p: None if c is None else sha256_hex(c) for p, c in changes.items()}
        given = Committed(commit_id(name), f"{name} <{name}@example.org>", f"{name}\n", AT, done)
        lines.extend(commit_lines(given))
    bring(files.values())
    lines.extend(file_line(path, sha256_hex(content)) for path, content in files.items())
    return [*lines, end_line()]


def send(
    imports: Imports,
    who: uuid.UUID,
    lines: Sequence[str],
    *,
    conflicts: Literal["refuse", "replace"] = "refuse",
    import_id: uuid.UUID | None = None,
    part_bytes: int = 1_000,
) -> MemoryImported:
    """Have these lines imported, in parts of that size."""
    whole = "".join(f"{line}\n" for line in lines).encode()
    size = max(part_bytes, len(whole) // 400)
    parts = [whole[start : start + size] for start in range(0, len(whole), size)]
    import_id = import_id or uuid.uuid4()
    for number, part in enumerate(parts, 1):
        imports.part(who, import_id, number, part)
    return imports.carry_out(who, import_id, order(whole, len(parts), conflicts))


def order(
    whole: bytes, parts: int, conflicts: Literal["refuse", "replace"] = "refuse"
) -> ImportOrder:
    """What has the parts of `whole` carried out."""
    return ImportOrder(parts=parts, sha256=sha256_hex(whole), conflicts=conflicts)


def pages(exports: Exports, who: uuid.UUID) -> list[str]:
    """Every page of an export."""
    found = [exports.page(who, None)]
    while (last := json.loads(found[-1].splitlines()[-1]))["type"] == "next":
        found.append(exports.page(who, last["cursor"]))
    return found


class Seen:
    """What an export says."""

    def __init__(self, text: Iterable[str]):
        self.lines = list(
            joined(
                parsed(line.encode())
                for page in text
                for line in page.split("\n")
                if line and '"type":"next"' not in line
            )
        )
        self.blobs = {one.sha256: one.data for one in self.lines if isinstance(one, Blob)}
        self.commits = [one for one in self.lines if isinstance(one, Committed)]
        self.named = [one for one in self.lines if isinstance(one, FileLine)]

    @property
    def files(self) -> dict[str, bytes]:
        """Path to bytes."""
        return {one.path: self.blobs[one.sha256] for one in self.named}

    @property
    def history(self) -> list[tuple[str, dict[str, bytes | None]]]:
        """Each commit's message and what it did."""
        return [
            (one.message, {p: None if s is None else self.blobs[s] for p, s in one.changes.items()})
            for one in self.commits
        ]


def raw(**line: Any) -> str:
    """A line as somebody else would write it."""
    return json.dumps(line)

"""An owner's memory leaving and arriving whole (ruling 33): pages of lines out, parts in.

Both carry the same lines of JSON, so that what one deployment exports another takes.
"""

from __future__ import annotations

from typing import Literal
from uuid import UUID

from pydantic import Field

from judgment.contract.wire import RequestModel, ResponseModel

PART_BYTES = 2 * 1024 * 1024
"""Bytes of an import that travel in one call, before base64."""
MOST_PARTS = 500


class MemoryExportQuery(RequestModel):
    """`cursor`: where the last page said to go on; absent for the first."""

    cursor: str | None = Field(default=None, min_length=1, max_length=500)


class MemoryLine(ResponseModel):
    """One line of an export. `end` alone comes last, or a `next` cursor.

    blob: `sha256`, `data` (base64). commit: `id`, `author`, `message`, `at`, and `changes`, path to
    digest, null where the file was deleted. file: `path`, `sha256` as of the snapshot. A large
    content, and a commit of many changes, come as several lines of one `sha256` or `id`.
    """

    type: Literal["memory", "blob", "commit", "file", "next", "end"]
    sha256: str | None = None
    data: str | None = None
    id: str | None = None
    author: str | None = None
    message: str | None = None
    at: str | None = None
    changes: dict[str, str | None] | None = None
    path: str | None = None
    cursor: str | None = None


class ImportPart(RequestModel):
    """A piece of an import's lines, base64; pieces are joined in their order."""

    data: str = Field(min_length=4, max_length=PART_BYTES * 4 // 3 + 8)


class ImportOrder(RequestModel):
    """Carry the import out: all of it or nothing. `sha256` is of the joined lines.

    Where a file of the owner's differs from the import's, `conflicts` says whether to refuse or to
    take the import's; what the starter pack put there and nobody changed is no conflict.
    """

    parts: int = Field(ge=1, le=MOST_PARTS)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    conflicts: Literal["refuse", "replace"] = "refuse"


class MemoryImported(ResponseModel):
    """What an import brought; what was there already is not counted again."""

    import_id: UUID
    files: int
    commits: int
    conversations: int
    kept: int

"""The plain values of a memory: files, commits, failures, and what a tool is.

Failure codes are the reference's, and `conflict`, which is ours: the file is not what the caller
saw. A recoverable failure is for the model to read and do better.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

FailureCode = Literal[
    "not_found",
    "path_invalid",
    "reserved_path",
    "invalid_input",
    "conflict",
    "permission_denied",
    "execution_failed",
]
Origin = Literal["starter", "tool", "owner", "import"]

ABSENT = None
"""The digest of a file that is not there."""


class MemoryFailure(Exception):
    """What was asked of the memory is not done, and nothing has changed."""

    def __init__(self, code: FailureCode, message: str, *, recoverable: bool = True):
        self.code: FailureCode = code
        self.message = message
        self.recoverable = recoverable
        super().__init__(f"{code}: {message}")

    def output(self) -> dict[str, Any]:
        """The failure as a tool's output."""
        return failure_output(self.code, self.message, recoverable=self.recoverable)


def failure_output(code: str, message: str, *, recoverable: bool = True) -> dict[str, Any]:
    """What a tool gives that was not carried out: `{code, message, recoverable}`."""
    return {"code": code, "message": message, "recoverable": recoverable}


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file without its content. `revision` is the commit that made it what it is."""

    path: str
    bytes: int
    sha256: str
    revision: int
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file as it is now."""

    path: str
    content: bytes = field(repr=False)
    sha256: str
    revision: int
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Change:
    """New bytes of a file, or None to delete it. `path` has passed `paths.contained`."""

    path: str
    content: bytes | None = field(repr=False)


@dataclass(frozen=True, slots=True)
class Commit:
    """One change of a memory. `id` is 40 hex digits; `at` is when it was made."""

    revision: int
    id: str
    origin: Origin
    author: str
    message: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Version:
    """What a commit made of one file; `sha256` is None where it deleted it."""

    commit: Commit
    path: str
    sha256: str | None


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as a model is offered it. `parameters` is a JSON Schema; `writes`: needs approval."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    writes: bool


class View(Protocol):
    """Files that are made from rows of another idea: readable by their path, written by nobody."""

    def paths(self, tx: Transaction, user_id: UUID) -> Sequence[str]:
        """The paths it shows, sorted."""
        ...

    def read(self, tx: Transaction, user_id: UUID, path: str) -> bytes | None:
        """One of them, None for a path that it does not show."""
        ...

"""What owners write in their memory with their own hands: whole files, and they always win.

No digest is asked for and no approval. A model that read the file before is told, when it writes,
that it has changed since.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.contract.conversations import AgentText, FileContent
from judgment.conversation import pages, store
from judgment.kit.clock import Clock, utc_now
from judgment.kit.errors import Conflict, InvalidRequest, NotFound, Refusal
from judgment.memory import files
from judgment.memory.model import Change, MemoryFailure
from judgment.memory.paths import OWNER_PROFILE_FILE, contained

if TYPE_CHECKING:
    from datetime import datetime

    from judgment.conversation.recording import Begin
    from judgment.db.connection import Transaction

OWNER = "Owner <owner@judgment.invalid>"
AGENT = "AGENT.md"
OVERLAY = "AGENT-user.md"
NO_FILE = "File not found"
NO_PAGE = "Project not found"
NOT_TEXT = "The file is not text in UTF-8."


class OwnerEdits:
    """An owner's files, read and written whole."""

    def __init__(self, begin: Begin, clock: Clock = utc_now):
        self._begin = begin
        self._clock = clock

    def read(self, user_id: UUID, project_id: str, path: str) -> FileContent:
        """A file of a page. Raises NotFound, and InvalidRequest for a path that is not below it."""
        page = pages.canonical_id(project_id)
        with self._begin(user_id) as tx, as_refusals():
            pages.ensure(tx, user_id, self._clock())
            _known(tx, user_id, page)
            wanted = _below(page, path)
            return FileContent(path=wanted, content=_text(tx, user_id, wanted))

    def write(self, user_id: UUID, project_id: str, path: str, content: str) -> FileContent:
        """Write a file of a page. Raises as `read` does."""
        page = pages.canonical_id(project_id)
        now = self._clock()
        with self._begin(user_id) as tx, as_refusals():
            pages.ensure(tx, user_id, now)
            _known(tx, user_id, page)
            wanted = _below(page, path)
            write(tx, user_id, wanted, content, f"Update {wanted} via UI", now)
            _known(tx, user_id, page)  # it may have been deleted until the write took its turn
        return FileContent(path=wanted, content=content)

    def profile(self, user_id: UUID) -> FileContent:
        """The owner profile file. Raises NotFound."""
        with self._begin(user_id) as tx, as_refusals():
            pages.ensure(tx, user_id, self._clock())
            return FileContent(
                path=OWNER_PROFILE_FILE, content=_text(tx, user_id, OWNER_PROFILE_FILE)
            )

    def write_profile(self, user_id: UUID, content: str) -> FileContent:
        """Write it."""
        now = self._clock()
        with self._begin(user_id) as tx, as_refusals():
            pages.ensure(tx, user_id, now)
            write(tx, user_id, OWNER_PROFILE_FILE, content, "Update owner profile via UI", now)
        return FileContent(path=OWNER_PROFILE_FILE, content=content)

    def agent(self, user_id: UUID) -> AgentText:
        """The root instructions and the owner's overlay on them, each None where there is none."""
        with self._begin(user_id) as tx, as_refusals():
            pages.ensure(tx, user_id, self._clock())
            return _agent(tx, user_id)

    def write_overlay(self, user_id: UUID, content: str) -> AgentText:
        """Write the overlay; empty removes it."""
        now = self._clock()
        with self._begin(user_id) as tx, as_refusals():
            pages.ensure(tx, user_id, now)
            write(tx, user_id, OVERLAY, content or None, f"Update {OVERLAY} via UI", now)
            return _agent(tx, user_id)


def write(
    tx: Transaction, user_id: UUID, path: str, content: str | None, message: str, at: datetime
) -> None:
    """The owner's hand on one file, None to delete it; what is there already makes no commit.

    Raises MemoryFailure where a file and a folder would have one name.
    """
    change = Change(path, None if content is None else content.encode())
    if content is None and files.digest(tx, user_id, path) is None:
        return
    files.commit(tx, user_id, [change], origin="owner", author=OWNER, message=message, at=at)


@contextmanager
def as_refusals() -> Generator[None]:
    """A memory's failures as what the door answers."""
    try:
        yield
    except MemoryFailure as failure:
        raise _refusal(failure) from failure


def _refusal(failure: MemoryFailure) -> Refusal:
    match failure.code:
        case "not_found":
            return NotFound(NO_FILE)
        case "conflict":
            return Conflict(failure.message)
        case "path_invalid" | "reserved_path" | "invalid_input":
            return InvalidRequest(failure.message)
        case _:
            return Refusal()


def _known(tx: Transaction, user_id: UUID, project_id: str) -> None:
    if store.project(tx, user_id, project_id) is None:
        raise NotFound(NO_PAGE)


def _below(project_id: str, path: str) -> str:
    wanted = contained(path)
    if not wanted.startswith(f"{pages.folder_of(project_id)}/"):
        raise InvalidRequest(f"The path is not below {pages.folder_of(project_id)}/.")
    return wanted


def _text(tx: Transaction, user_id: UUID, path: str) -> str:
    try:
        return files.read(tx, user_id, path).content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidRequest(NOT_TEXT) from error


def _agent(tx: Transaction, user_id: UUID) -> AgentText:
    base, overlay = (
        _text(tx, user_id, path) if files.digest(tx, user_id, path) is not None else None
        for path in (AGENT, OVERLAY)
    )
    return AgentText(base_content=base, overlay_content=overlay)

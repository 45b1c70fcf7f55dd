"""Reading and changing an owner's files, in the transaction of whoever asks.

A change is one commit. It holds the owner's row while it compares what it rests on, so that of two
writers one comes second and is told; what the database then enforces is that no version ever
changes and no file differs from its version.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.kit.hashing import digest as digest_of
from judgment.kit.hashing import sha256_hex
from judgment.memory import store
from judgment.memory.edits import is_storable
from judgment.memory.model import Change, Commit, FileEntry, MemoryFailure, StoredFile, Version
from judgment.memory.paths import Neighbours, folded

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.memory.model import Origin

Digests = Mapping[str, str | None]


def read(tx: Transaction, user_id: UUID, path: str) -> StoredFile:
    """A file. Raises MemoryFailure `not_found`."""
    found = store.file(tx, user_id, path)
    if found is None:
        raise MemoryFailure("not_found", f"There is no file {path}.")
    return found


def digest(tx: Transaction, user_id: UUID, path: str) -> str | None:
    """The file's SHA-256 (hex), None where there is no such file."""
    return store.digests(tx, user_id, [path]).get(path)


def entries(tx: Transaction, user_id: UUID, folder: str = "") -> list[FileEntry]:
    """Every file below a folder, by path; without one, of the whole memory."""
    return store.entries(tx, user_id, folder)


def commit(
    tx: Transaction,
    user_id: UUID,
    changes: Sequence[Change],
    *,
    origin: Origin,
    author: str,
    message: str,
    at: datetime,
    expected: Digests | None = None,
) -> Commit | None:
    """Make the changes one commit; None, and nothing is written, where nothing differs.

    Of several changes of one file the last counts. `expected`: path to digest (None: absent) of
    the files that this rests on. Raises MemoryFailure `conflict` where one of them is another by
    now, `path_invalid` where a new file could not stand beside the others on every file system,
    `invalid_input` for an author or a message that is no text; then nothing has changed.
    """
    if not is_storable(author + message):
        raise MemoryFailure("invalid_input", "A commit's author and message are text.")
    revision = hold(tx, user_id)
    contents = {change.path: change.content for change in changes}
    made = {path: None if one is None else sha256_hex(one) for path, one in contents.items()}
    now = store.digests(tx, user_id, {*made, *(expected or {})})
    for path, wanted in (expected or {}).items():
        if now.get(path) != wanted:
            raise conflict(path)
    made = {path: one for path, one in made.items() if now.get(path) != one}
    if not made:
        return None
    gone = [path for path, one in made.items() if one is None]
    _refuse_clashes(tx, user_id, [path for path in made if path not in now], gone)
    told = [str(user_id), revision + 1, sorted(made.items()), author, message, at.isoformat()]
    done = Commit(revision + 1, digest_of(told)[:40], origin, author, message, at)
    written = {path: one for path, one in contents.items() if one is not None and path in made}
    store.add_blobs(tx, user_id, {sha256_hex(one): one for one in written.values()})
    store.add_commit(tx, user_id, done)
    store.add_revisions(tx, user_id, done.revision, made)
    store.drop_files(tx, user_id, gone)
    store.put_files(
        tx,
        user_id,
        (
            {
                "path": path,
                "folded": folded(path),
                "revision": done.revision,
                "sha256": made[path],
                "bytes": len(content),
                "at": at,
            }
            for path, content in written.items()
        ),
    )
    return done


def hold(tx: Transaction, user_id: UUID) -> int:
    """The memory's revision; until the transaction ends nobody else changes the memory."""
    return store.hold_state(tx, user_id)


def conflict(path: str) -> MemoryFailure:
    """What a caller is told whose file is another by now."""
    return MemoryFailure("conflict", f"{path} has changed since it was read; read it again.")


def neighbours(tx: Transaction, user_id: UUID, paths: Collection[str]) -> Neighbours:
    """What is there and could stand in the way of new files at `paths`."""
    names = {folded(path) for path in paths}
    tops = {name.split("/")[0] for name in names}
    return Neighbours(store.relatives(tx, user_id, tops))


def history(tx: Transaction, user_id: UUID, path: str, limit: int = 100) -> list[Version]:
    """What was made of a file, or of the files below a folder, the newest first."""
    return store.history(tx, user_id, path, limit)


def version(tx: Transaction, user_id: UUID, path: str, commit_id: str) -> Version:
    """What one commit made of a file. `commit_id` may be its first digits.

    Raises MemoryFailure `not_found`, and `invalid_input` where several begin so.
    """
    found = store.versions(tx, user_id, path, commit_id)
    if not found:
        raise MemoryFailure("not_found", f"No commit of that id touched {path}.")
    if len(found) > 1:
        raise MemoryFailure("invalid_input", "commit: several begin so; give all 40 digits.")
    return found[0]


def content_at(tx: Transaction, user_id: UUID, path: str, revision: int) -> bytes | None:
    """What a file held once that revision was made, None where it was not there."""
    return store.content_at(tx, user_id, path, revision)


def _refuse_clashes(
    tx: Transaction, user_id: UUID, new: Collection[str], gone: Collection[str]
) -> None:
    if not new:
        return
    there = neighbours(tx, user_id, new)
    for path in gone:
        there.drop(path)
    for path in new:
        refuse_beside(path, there)
        there.add(path)


def refuse_beside(path: str, there: Neighbours) -> None:
    """Raises MemoryFailure `path_invalid` where a file at `path` could not stand beside them."""
    other = there.clash(path)
    if other is not None:
        raise MemoryFailure("path_invalid", f"{path} cannot be beside {other}, which is there.")

"""Reading and changing an owner's files, in the transaction of whoever asks.

A change is one commit. It holds the owner's row while it compares what it rests on, so that of two
writers one comes second and is told; what the database then enforces is that no version ever
changes and no file differs from its version.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.kit.hashing import digest as digest_of
from judgment.kit.hashing import sha256_hex
from judgment.memory import store
from judgment.memory.model import Change, Commit, FileEntry, MemoryFailure, StoredFile, Version
from judgment.memory.paths import clash, folded

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

    `expected`: path to digest (None: absent) of the files that this rests on. Raises MemoryFailure
    `conflict` where one of them is another by now, `path_invalid` where a new file could not stand
    beside the others on every file system; then nothing has changed.
    """
    revision = store.hold_state(tx, user_id)
    made = {change.path: _digest(change) for change in changes}
    now = store.digests(tx, user_id, {*made, *(expected or {})})
    for path, wanted in (expected or {}).items():
        if now.get(path) != wanted:
            raise MemoryFailure("conflict", f"{path} has changed since it was read; read it again.")
    made = {path: one for path, one in made.items() if now.get(path) != one}
    if not made:
        return None
    _refuse_clashes(tx, user_id, made, now)
    written = {c.path: c.content for c in changes if c.content is not None and c.path in made}
    done = Commit(revision + 1, _identity(user_id, revision + 1, made), origin, author, message, at)
    store.add_blobs(tx, user_id, {sha256_hex(one): one for one in written.values()})
    store.add_commit(tx, user_id, done)
    store.add_revisions(tx, user_id, done.revision, made)
    store.drop_files(tx, user_id, [path for path, one in made.items() if one is None])
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


def history(tx: Transaction, user_id: UUID, path: str, limit: int = 100) -> list[Version]:
    """What was made of a file, or of the files below a folder, the newest first."""
    return store.history(tx, user_id, path, limit, below=True)


def version(tx: Transaction, user_id: UUID, path: str, commit_id: str) -> Version:
    """What one commit made of a file. Raises MemoryFailure `not_found`."""
    found = store.version(tx, user_id, path, commit_id)
    if found is None:
        raise MemoryFailure("not_found", f"No commit of that id touched {path}.")
    return found


def content_before(tx: Transaction, user_id: UUID, one: Version) -> bytes | None:
    """What the file held before that version, None where it was not there."""
    return store.content_before(tx, user_id, one.path, one.commit.revision)


def _digest(change: Change) -> str | None:
    return None if change.content is None else sha256_hex(change.content)


def _identity(user_id: UUID, revision: int, made: Digests) -> str:
    """40 hex digits that no other commit of the owner has: the revision is in them."""
    told = digest_of([str(user_id), revision, sorted(made.items())])
    return hashlib.sha1(told.encode(), usedforsecurity=False).hexdigest()


def _refuse_clashes(tx: Transaction, user_id: UUID, made: Digests, now: Digests) -> None:
    new = [path for path, one in made.items() if one is not None and path not in now]
    if not new:
        return
    names = {folded(path) for path in new}
    tops = {name.split("/")[0] for name in names}
    gone = {path for path, one in made.items() if one is None}
    there = {path for path in store.relatives(tx, user_id, names, tops) if path not in gone}
    for path in new:
        other = clash(path, there)
        if other is not None:
            raise MemoryFailure("path_invalid", f"{path} cannot stand beside {other}.")
        there.add(path)

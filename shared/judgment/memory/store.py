"""The statements of a memory; each runs in the transaction it is handed."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.db.queries import load_queries
from judgment.memory.model import Commit, FileEntry, StoredFile, Version

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

_Q = load_queries("judgment.memory")


def hold_state(tx: Transaction, user_id: UUID) -> int:
    """The memory's revision; its row is made where it is absent and locked until the end."""
    row = tx.one(_Q["hold_state"], {"user_id": user_id})
    if row is None:
        tx.execute(_Q["make_state"], {"user_id": user_id})
        row = tx.one(_Q["hold_state"], {"user_id": user_id})
    assert row is not None  # it was made above, or by a transaction that has committed
    return row["revision"]


def seeded(tx: Transaction, user_id: UUID) -> bool:
    """Whether the starter pack was ever laid down."""
    return bool(tx.value(_Q["seeded"], {"user_id": user_id}))


def mark_seeded(tx: Transaction, user_id: UUID, at: datetime) -> None:
    """It is laid down; the caller holds the owner's row."""
    tx.execute(_Q["mark_seeded"], {"user_id": user_id, "at": at})


def file(tx: Transaction, user_id: UUID, path: str) -> StoredFile | None:
    """A file with its content."""
    row = tx.one(_Q["file"], {"user_id": user_id, "path": path})
    if row is None:
        return None
    content = bytes(row["content"])
    return StoredFile(row["path"], content, row["sha256"], row["revision"], row["updated_at"])


def digests(tx: Transaction, user_id: UUID, paths: Collection[str]) -> dict[str, str]:
    """The digests of those of the files that are there."""
    rows = tx.all(_Q["digests"], {"user_id": user_id, "paths": list(paths)})
    return {row["path"]: row["sha256"] for row in rows}


def entries(tx: Transaction, user_id: UUID, folder: str) -> list[FileEntry]:
    """Every file below the folder, by path; an empty folder is the root."""
    rows = tx.all(_Q["entries"], {"user_id": user_id, "folder": folder})
    return [FileEntry(**row) for row in rows]


def relatives(tx: Transaction, user_id: UUID, tops: Collection[str]) -> list[str]:
    """Files that are one of these folded first names, or below it."""
    return [row["path"] for row in tx.all(_Q["relatives"], {"user_id": user_id, "tops": [*tops]})]


def contents(tx: Transaction, user_id: UUID, paths: Sequence[str]) -> dict[str, bytes]:
    """The contents of those of the files that are there."""
    rows = tx.all(_Q["contents"], {"user_id": user_id, "paths": list(paths)})
    return {row["path"]: bytes(row["content"]) for row in rows}


def add_blobs(tx: Transaction, user_id: UUID, blobs: Mapping[str, bytes]) -> None:
    """Contents by digest; those that are known are left."""
    rows = [{"user_id": user_id, "sha256": d, "content": c} for d, c in blobs.items()]
    tx.many(_Q["add_blob"], rows)


def add_commit(tx: Transaction, user_id: UUID, commit: Commit) -> None:
    """The next commit; the caller holds the owner's row."""
    tx.execute(_Q["add_commit"], {**asdict(commit), "user_id": user_id})
    tx.execute(_Q["set_revision"], {"user_id": user_id, "revision": commit.revision})


def add_revisions(
    tx: Transaction, user_id: UUID, revision: int, made: Mapping[str, str | None]
) -> None:
    """What the commit made of each file: path to digest, None for deleted."""
    rows = [
        {"user_id": user_id, "revision": revision, "path": path, "sha256": sha256}
        for path, sha256 in made.items()
    ]
    tx.many(_Q["add_revision"], rows)


def put_files(tx: Transaction, user_id: UUID, rows: Iterable[Mapping[str, Any]]) -> None:
    """Files as they are from now on: path, folded, revision, sha256, bytes, at."""
    tx.many(_Q["put_file"], [{**row, "user_id": user_id} for row in rows])


def drop_files(tx: Transaction, user_id: UUID, paths: Iterable[str]) -> None:
    """Files that are no more."""
    tx.many(_Q["drop_file"], [{"user_id": user_id, "path": path} for path in paths])


def history(tx: Transaction, user_id: UUID, path: str, limit: int) -> list[Version]:
    """What was made of a file, and of all below a folder, the newest first."""
    given = {"user_id": user_id, "path": path, "limit": limit}
    return [_version(row) for row in tx.all(_Q["history"], given)]


def history_length(tx: Transaction, user_id: UUID, path: str) -> int:
    """How many versions that is."""
    return tx.value(_Q["history_length"], {"user_id": user_id, "path": path})


def versions(tx: Transaction, user_id: UUID, path: str, commit_id: str) -> list[Version]:
    """What the commit whose id begins so made of a file; two where several begin so."""
    given = {"user_id": user_id, "path": path, "id": commit_id}
    return [_version(row) for row in tx.all(_Q["versions"], given)]


def content_at(tx: Transaction, user_id: UUID, path: str, revision: int) -> bytes | None:
    """A file's content as of a revision, None where it was not there."""
    given = {"user_id": user_id, "path": path, "revision": revision}
    content = tx.value(_Q["content_at"], given)
    return None if content is None else bytes(content)


def _version(row: Mapping[str, Any]) -> Version:
    commit = Commit(
        revision=row["revision"],
        id=row["id"],
        origin=row["origin"],
        author=row["author"],
        message=row["message"],
        at=row["committed_at"],
    )
    return Version(commit, row["path"], row["sha256"])

"""The statements of exports and imports; each runs in the transaction it is handed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.db.queries import load_queries
from judgment.memory.transfer.lines import Committed

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

_Q = load_queries("judgment.memory.transfer")

STAGED_DAYS = 1


@dataclass(frozen=True, slots=True)
class Use:
    """A content that `revision` is the first to use."""

    revision: int
    sha256: str
    bytes: int


@dataclass(frozen=True, slots=True)
class Stand:
    """The version that a file stands for."""

    path: str
    folded: str
    sha256: str
    revision: int


def snapshot(tx: Transaction, user_id: UUID) -> tuple[int, datetime]:
    """The revision that the memory has come to, and the database's time."""
    row = tx.one(_Q["snapshot"], {"user_id": user_id})
    assert row is not None  # a SELECT without FROM always gives a row
    return row["revision"], row["at"]


def commits(tx: Transaction, user_id: UUID, first: int, last: int) -> list[tuple[int, Committed]]:
    """The commits of revisions `first` to `last`, with what they did."""
    values = {"user_id": user_id, "first": first, "last": last}
    changes: dict[int, dict[str, str | None]] = {}
    for row in tx.all(_Q["changes"], values):
        changes.setdefault(row["revision"], {})[row["path"]] = row["sha256"]
    return [
        (
            row["revision"],
            Committed(
                row["id"],
                row["author"],
                row["message"],
                row["committed_at"],
                changes.get(row["revision"], {}),
            ),
        )
        for row in tx.all(_Q["commits"], values)
    ]


def first_uses(tx: Transaction, user_id: UUID, first: int, last: int) -> list[Use]:
    """Contents that were not in the memory before these revisions, in order."""
    values = {"user_id": user_id, "first": first, "last": last}
    return [Use(**row) for row in tx.all(_Q["first_uses"], values)]


def contents(tx: Transaction, user_id: UUID, digests: Collection[str]) -> dict[str, bytes]:
    """Contents by digest; what is not there is left out."""
    rows = tx.all(_Q["contents"], {"user_id": user_id, "digests": list(digests)})
    return {row["sha256"]: row["content"] for row in rows}


def files_at(
    tx: Transaction, user_id: UUID, revision: int, place: int, limit: int
) -> list[tuple[str, str]]:
    """Paths and digests as of a revision, from the `place`th on."""
    values = {"user_id": user_id, "revision": revision, "place": place, "limit": limit}
    return [(row["path"], row["sha256"]) for row in tx.all(_Q["files_at"], values)]


def file_at(tx: Transaction, user_id: UUID, revision: int, path: str) -> str | None:
    """A file's digest as of a revision, None where it was not there."""
    return tx.value(_Q["file_at"], {"user_id": user_id, "revision": revision, "path": path})


def keep_part(tx: Transaction, user_id: UUID, import_id: UUID, part: int, content: bytes) -> None:
    """Put a part by; the same again replaces it."""
    values = {"user_id": user_id, "import_id": import_id, "part": part, "content": content}
    tx.execute(_Q["keep_part"], values)


def drop_others(tx: Transaction, user_id: UUID, import_id: UUID) -> None:
    """Forget the owner's other imports."""
    tx.execute(_Q["drop_others"], {"user_id": user_id, "import_id": import_id})


def staged_bytes(tx: Transaction, user_id: UUID, import_id: UUID) -> int:
    """The size of an import's parts together."""
    return tx.value(_Q["staged_bytes"], {"user_id": user_id, "import_id": import_id})


def part(tx: Transaction, user_id: UUID, import_id: UUID, number: int) -> bytes | None:
    """A part that was put by."""
    return tx.value(_Q["part"], {"user_id": user_id, "import_id": import_id, "part": number})


def drop_parts(tx: Transaction, user_id: UUID, import_id: UUID) -> None:
    """Forget an import's parts."""
    tx.execute(_Q["drop_parts"], {"user_id": user_id, "import_id": import_id})


def lock_memory(tx: Transaction, user_id: UUID) -> int:
    """Hold the owner's memory, made where there is none, to the transaction's end; its revision."""
    tx.execute(_Q["begin_memory"], {"user_id": user_id})
    return tx.value(_Q["lock_memory"], {"user_id": user_id})


def set_revision(tx: Transaction, user_id: UUID, revision: int) -> None:
    """The memory has come to this revision."""
    tx.execute(_Q["set_revision"], {"user_id": user_id, "revision": revision})


def current_files(tx: Transaction, user_id: UUID) -> dict[str, Stand]:
    """Every file as it is now, by path."""
    return {row["path"]: Stand(**row) for row in tx.all(_Q["current_files"], {"user_id": user_id})}


def known_commits(tx: Transaction, user_id: UUID, ids: Sequence[str]) -> set[str]:
    """Those of the ids that are in the history."""
    rows = tx.all(_Q["known_commits"], {"user_id": user_id, "ids": list(ids)})
    return {row["id"] for row in rows}


def add_blobs(tx: Transaction, user_id: UUID, blobs: Mapping[str, bytes]) -> None:
    """Keep contents by digest; what is there already is let be."""
    values = {"user_id": user_id, "digests": list(blobs), "contents": list(blobs.values())}
    tx.execute(_Q["add_blobs"], values)


def add_commits(tx: Transaction, user_id: UUID, numbered: Sequence[tuple[int, Committed]]) -> None:
    """Append commits with the revisions they are given, and what they did."""
    values = {
        "user_id": user_id,
        "revisions": [revision for revision, _ in numbered],
        "ids": [commit.id for _, commit in numbered],
        "authors": [commit.author for _, commit in numbered],
        "messages": [commit.message for _, commit in numbered],
        "times": [commit.at for _, commit in numbered],
    }
    tx.execute(_Q["add_commits"], values)
    done = [
        (path, revision, sha256)
        for revision, commit in numbered
        for path, sha256 in commit.changes.items()
    ]
    values = {
        "user_id": user_id,
        "paths": [path for path, _, _ in done],
        "revisions": [revision for _, revision, _ in done],
        "digests": [sha256 for _, _, sha256 in done],
    }
    tx.execute(_Q["add_revisions"], values)


def set_files(tx: Transaction, user_id: UUID, stands: Sequence[Stand]) -> None:
    """Let files stand for these versions, whose commits are there."""
    values = {
        "user_id": user_id,
        "paths": [stand.path for stand in stands],
        "folded": [stand.folded for stand in stands],
        "revisions": [stand.revision for stand in stands],
        "digests": [stand.sha256 for stand in stands],
    }
    tx.execute(_Q["set_files"], values)


def drop_files(tx: Transaction, user_id: UUID, paths: Collection[str]) -> None:
    """These files are no more."""
    tx.execute(_Q["drop_files"], {"user_id": user_id, "paths": list(paths)})


def retire(tx: Transaction) -> dict[str, int]:
    """Delete, as judgment_worker, what imports have left behind; rows deleted by table."""
    return {"memory_imports": tx.execute(_Q["retire_parts"], {"days": STAGED_DAYS})}

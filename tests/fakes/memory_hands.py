"""Hands on an owner's memory: a model's, by the tools of one turn, and the owner's own."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from judgment.memory import files
from judgment.memory.model import Change, MemoryFailure
from judgment.memory.tools import MemoryTools, Prepared
from tests.fakes.people import make_owner
from tests.fakes.rounds import rows

if TYPE_CHECKING:
    from judgment.db.connection import Database, Transaction
    from judgment.memory.model import Commit
    from tests.databases import TestDatabase

ROLE = "judgment_process"
OWNER = "Owner <owner@judgment.invalid>"
NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
EXPORT = "/api/v1/memory/export?cursor=abc"


class Rendered:
    """A view of fixed texts."""

    def __init__(self, texts: Mapping[str, bytes]):
        self._texts = texts

    def paths(self, tx: Transaction, user_id: uuid.UUID) -> Sequence[str]:
        """Its paths."""
        return sorted(self._texts)

    def read(self, tx: Transaction, user_id: uuid.UUID, path: str) -> bytes | None:
        """One of them."""
        return self._texts.get(path)


class Hand:
    """One turn's tools over one owner's memory, on a connection that hands may share."""

    def __init__(self, memory: Database, who: uuid.UUID, views: Mapping[str, bytes] | None = None):
        self.memory = memory
        self.who = who
        self.tools = MemoryTools([Rendered(views or {})], lambda: NOW, lambda tx, user: EXPORT)
        self.seen: dict[str, str | None] = {}

    @classmethod
    def of_somebody(cls, database: TestDatabase, memory: Database) -> Hand:
        """With a new owner."""
        return cls(memory, make_owner(database))

    def begin(self) -> AbstractContextManager[Transaction]:
        """A transaction of the owner's."""
        return self.memory.transaction(self.who)

    def another(self) -> Hand:
        """Another turn of the same owner, which has seen nothing."""
        return Hand(self.memory, self.who)

    def prepare(self, name: str, **arguments: Any) -> Prepared:
        """A call as the turn prepares it."""
        with self.begin() as tx:
            return self.tools.prepare(tx, self.who, name, arguments, self.seen)

    def run(self, prepared: Prepared, expected: Mapping[str, str | None] | None = None) -> Any:
        """Carry it out; the turn has then seen what there is to see."""
        with self.begin() as tx:
            ran = self.tools.run(tx, self.who, prepared, expected)
        self.seen.update(ran.seen)
        return ran.output

    def call(self, name: str, **arguments: Any) -> Any:
        """A call that nobody is asked about, in one transaction; its output."""
        with self.begin() as tx:
            prepared = self.tools.prepare(tx, self.who, name, arguments, self.seen)
            ran = self.tools.run(tx, self.who, prepared)
        self.seen.update(ran.seen)
        return ran.output

    def refusal(self, name: str, **arguments: Any) -> str:
        """The code that a call is refused with. It leaves the memory as it was."""
        before = self.state()
        with pytest.raises(MemoryFailure) as refused:
            self.call(name, **arguments)
        assert self.state() == before, "a refused call changed something"
        assert refused.value.recoverable
        return refused.value.code

    def write(self, path: str, content: str) -> Any:
        """A whole file, by the model."""
        return self.call("memory_write", path=path, content=content)

    def keep(self, contents: Mapping[str, bytes | None], message: str = "Mine") -> Commit | None:
        """Files, by the owner's own hand; None deletes."""
        changes = [Change(path, content) for path, content in contents.items()]
        with self.begin() as tx:
            return files.commit(
                tx, self.who, changes, origin="owner", author=OWNER, message=message, at=NOW
            )

    def held(self) -> dict[str, bytes]:
        """Every file."""
        with self.begin() as tx:
            paths = [entry.path for entry in files.entries(tx, self.who)]
            return {path: files.read(tx, self.who, path).content for path in paths}

    def state(self) -> tuple[dict[str, bytes], list[str]]:
        """Every file, and the messages of the commits in their order."""
        with self.begin() as tx:
            told = tx.all(
                "SELECT message FROM judgment.memory_commits WHERE user_id = %(u)s"
                " ORDER BY revision",
                {"u": self.who},
            )
        return self.held(), [row["message"] for row in told]


def assert_whole(database: TestDatabase, who: uuid.UUID) -> None:
    """Commits have no gaps, none is empty, and replayed in order they give the files of now."""
    revisions = rows(
        database,
        "SELECT revision FROM judgment.memory_commits WHERE user_id = %s ORDER BY revision",
        who,
    )
    reached = rows(database, "SELECT revision FROM judgment.memory_state WHERE user_id = %s", who)
    assert [one for (one,) in revisions] == list(range(1, len(revisions) + 1))
    assert reached == ([(len(revisions),)] if revisions else reached)
    steps = rows(
        database,
        "SELECT path, revision, sha256 FROM judgment.memory_revisions WHERE user_id = %s"
        " ORDER BY revision",
        who,
    )
    assert {revision for _, revision, _ in steps} == {one for (one,) in revisions}
    replayed: dict[str, tuple[int, str]] = {}
    for path, revision, sha256 in steps:
        assert replayed.get(path, (0, None))[1] != sha256, "a version that changed nothing"
        if sha256 is None:
            del replayed[path]
        else:
            replayed[path] = (revision, sha256)
    now = rows(
        database,
        "SELECT path, revision, sha256, encode(sha256(b.content), 'hex'), bytes,"
        " octet_length(b.content) FROM judgment.memory_files"
        " JOIN judgment.memory_blobs b USING (user_id, sha256) WHERE user_id = %s",
        who,
    )
    assert {path: (revision, sha256) for path, revision, sha256, *_ in now} == replayed
    for _, _, sha256, real, size, length in now:
        assert (sha256, size) == (real, length)

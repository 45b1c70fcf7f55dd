"""An import's history, appended to an owner's, and the files brought to where it ends.

Whatever was current before, the history followed to its end gives the files that are current then:
where it would not, a last commit says what differs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.kit.errors import InvalidRequest
from judgment.kit.hashing import canonical_json
from judgment.memory.paths import folded
from judgment.memory.transfer import store
from judgment.memory.transfer.lines import Blob, Committed
from judgment.memory.transfer.names import arriving

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

BATCH_BYTES = 4 * 1024 * 1024
BATCH_ROWS = 1_000
AUTHOR = "Judgment <judgment@judgment.invalid>"
MESSAGE = "Import of memory root"


class Replay:
    """The import while it is carried out; the caller holds the owner's memory at `revision`."""

    def __init__(self, tx: Transaction, user_id: UUID, revision: int):
        self._tx = tx
        self._owner = user_id
        self._revision = revision
        self._brought: set[str] = set()
        self._blobs: dict[str, bytes] = {}
        self._size = 0
        self._waiting: list[Committed] = []
        self._reached: dict[str, tuple[str | None, int]] = {}
        self.appended = 0

    def bring(self, blob: Blob) -> None:
        """Keep a content."""
        self._brought.add(blob.sha256)
        self._blobs[blob.sha256] = blob.data
        self._size += len(blob.data)
        if self._size > BATCH_BYTES or len(self._blobs) >= BATCH_ROWS:
            self._flush_blobs()

    def require(self, sha256: str) -> None:
        """Raises InvalidRequest unless the import has brought this content."""
        if sha256 not in self._brought:
            raise InvalidRequest("The import names a content that it does not bring before.")

    def append(self, commit: Committed) -> None:
        """Append a commit, unless one of its id is there. Raises InvalidRequest."""
        for path, sha256 in commit.changes.items():
            arriving(path)
            if sha256 is not None:
                self.require(sha256)
        self._waiting.append(commit)
        if len(self._waiting) >= BATCH_ROWS:
            self._flush()

    def settle(
        self,
        current: Mapping[str, store.Stand],
        final: Mapping[str, str],
        leaving: Collection[str],
        at: datetime,
    ) -> int:
        """Bring the files to `final` and those of `current` that stay; how many of `final` changed.

        `leaving` are paths of `current` that make way.
        """
        self._flush()
        target = {path: s.sha256 for path, s in current.items() if path not in leaving}
        target |= final
        reached = {path: (s.sha256, s.revision) for path, s in current.items()} | self._reached
        changes: dict[str, str | None] = {
            path: sha256
            for path, sha256 in target.items()
            if reached.get(path, ("", 0))[0] != sha256
        }
        changes |= {
            path: None for path, (sha256, _) in reached.items() if sha256 and path not in target
        }
        if changes:
            self._waiting.append(self._closing(changes, at))
            self._flush()
            reached |= self._reached
        store.set_revision(self._tx, self._owner, self._revision)
        store.drop_files(self._tx, self._owner, current.keys() - target.keys())
        stands = (
            store.Stand(path, folded(path), sha256, reached[path][1])
            for path, sha256 in target.items()
        )
        store.set_files(
            self._tx, self._owner, [stand for stand in stands if current.get(stand.path) != stand]
        )
        return sum(path not in current or current[path].sha256 != final[path] for path in final)

    def contents(self, files: Mapping[str, str]) -> Mapping[str, bytes]:
        """What these files, path to digest, hold; read one by one when asked for."""
        return _Contents(self._tx, self._owner, files)

    def _closing(self, changes: Mapping[str, str | None], at: datetime) -> Committed:
        said = canonical_json([str(self._owner), self._revision, dict(changes), at.isoformat()])
        name = hashlib.sha1(said.encode(), usedforsecurity=False).hexdigest()
        return Committed(name, AUTHOR, MESSAGE, at, changes)

    def _flush(self) -> None:
        self._flush_blobs()
        waiting = {commit.id: commit for commit in self._waiting}
        known = store.known_commits(self._tx, self._owner, list(waiting))
        numbered: list[tuple[int, Committed]] = []
        for commit in waiting.values():
            if commit.id in known:
                continue
            self._revision += 1
            numbered.append((self._revision, commit))
            for path, sha256 in commit.changes.items():
                self._reached[path] = (sha256, self._revision)
        if numbered:
            store.add_commits(self._tx, self._owner, numbered)
        self.appended += len(numbered)
        self._waiting = []

    def _flush_blobs(self) -> None:
        if self._blobs:
            store.add_blobs(self._tx, self._owner, self._blobs)
        self._blobs, self._size = {}, 0


class _Contents(Mapping[str, bytes]):
    """Contents of files by path."""

    def __init__(self, tx: Transaction, user_id: UUID, files: Mapping[str, str]):
        self._tx = tx
        self._owner = user_id
        self._files = files

    def __getitem__(self, path: str) -> bytes:
        sha256 = self._files[path]
        return store.contents(self._tx, self._owner, [sha256])[sha256]

    def __iter__(self) -> Iterator[str]:
        return iter(self._files)

    def __len__(self) -> int:
        return len(self._files)

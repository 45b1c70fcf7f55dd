"""An owner's memory as pages of lines, all of one revision.

What is appended after the first page was asked for is not in the others: history is never changed,
so a page needs only the revision and how far it came. Files that are made from rows (views) are
shown as they are when their page is asked for; where the memory holds a file at a view's path that
says the same, its own bytes are shown, so that what came in goes out byte for byte.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode
from uuid import UUID

from judgment.kit.clock import isoformat
from judgment.kit.errors import InvalidRequest
from judgment.kit.hashing import sha256_hex
from judgment.memory.transfer import lines, store

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.memory.model import View

PAGE_BYTES = 4_000_000
PATH = "/api/v1/memory/export"
COMMITS_PER_STATEMENT = 100
FILES_PER_STATEMENT = 2_000
CONTENTS_BYTES = 4 * 1024 * 1024

Begin = Callable[[UUID], AbstractContextManager["Transaction"]]
Same = Callable[[str, bytes, bytes], bool]
"""Whether a stored file and a view of the same path say the same: path, stored, rendered."""


@dataclass(frozen=True, slots=True)
class Place:
    """What the next line is, of the snapshot at `revision`.

    history: line `line` of the commit `number`. files: file `number`. views: line `line` of the
    view `path`, if it still has this `digest`, else its first.
    """

    revision: int
    at: datetime
    stage: str = "head"
    number: int = 0
    line: int = 0
    path: str = ""
    digest: str = ""

    def cursor(self) -> str:
        """Opaque to the client; nothing in it needs to be believed, row policies do the rest."""
        raw = [self.revision, isoformat(self.at), self.stage, self.number, self.line]
        text = json.dumps([*raw, self.path, self.digest], ensure_ascii=False, separators=(",", ":"))
        return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


Placed = tuple[Place, str]


class Exports:
    """Pages of a memory. `views` in any order; `same` compares a stored file with a view."""

    def __init__(
        self, begin: Begin, views: Sequence[View], same: Same, page_bytes: int = PAGE_BYTES
    ):
        self._begin = begin
        self._views = views
        self._same = same
        self._page_bytes = page_bytes

    def path(self, tx: Transaction, user_id: UUID) -> str:
        """Where the memory as it is now is fetched, history and all."""
        revision, at = store.snapshot(tx, user_id)
        return f"{PATH}?{urlencode({'cursor': Place(revision, at).cursor()})}"

    def page(self, user_id: UUID, cursor: str | None) -> str:
        """A page of NDJSON, at most `page_bytes` as it travels; its last line is `next` or `end`.

        Raises InvalidRequest for a cursor that is not ours.
        """
        with self._begin(user_id) as tx:
            now = Place(*store.snapshot(tx, user_id))
            start = _read(cursor, now.revision) if cursor else now
            page: list[str] = []
            size = 0
            closing = lines.end_line()
            for place, line in _Walk(tx, user_id, self._views, self._same).lines(start):
                following = lines.next_line(place.cursor())
                size += _travelling_size(line)
                if page and size + _travelling_size(following) > self._page_bytes:
                    closing = following
                    break
                page.append(line)
        return "\n".join([*page, closing]) + "\n"


class _Walk:
    """The lines of one export from a place on, in one transaction."""

    def __init__(self, tx: Transaction, user_id: UUID, views: Sequence[View], same: Same):
        self._tx = tx
        self._owner = user_id
        self._same = same
        self._shown = {path: view for view in views for path in view.paths(tx, user_id)}

    def lines(self, start: Place) -> Iterator[Placed]:
        """Each line with its place."""
        begin = Place(start.revision, start.at)
        if start.stage == "head":
            yield begin, lines.head_line(start.at)
            start = replace(begin, stage="history", number=1)
        if start.stage == "history":
            yield from self._history(start)
            start = replace(begin, stage="files")
        if start.stage == "files":
            yield from self._files(start)
            start = replace(begin, stage="views")
        yield from self._of_views(start)

    def _history(self, start: Place) -> Iterator[Placed]:
        skipped = start.line
        for first in range(start.number, start.revision + 1, COMMITS_PER_STATEMENT):
            last = min(first + COMMITS_PER_STATEMENT - 1, start.revision)
            uses: dict[int, list[store.Use]] = {}
            for use in store.first_uses(self._tx, self._owner, first, last):
                uses.setdefault(use.revision, []).append(use)
            commits = store.commits(self._tx, self._owner, first, last)
            left = [
                _left(used, skipped if number == start.number else 0)
                for number, used in uses.items()
            ]
            contents = self._contents([use for used in left for use in used])
            for number, commit in commits:
                place = replace(start, number=number)
                lines_of = self._commit(uses.get(number, []), commit, contents, skipped)
                for line, text in enumerate(lines_of, skipped):
                    yield replace(place, line=line), text
                skipped = 0

    def _commit(
        self,
        uses: Sequence[store.Use],
        commit: lines.Committed,
        contents: Iterator[bytes],
        skipped: int,
    ) -> Iterator[str]:
        """A commit's lines but for the first `skipped`: new contents, and what it did."""
        for use in uses:
            count = lines.pieces(use.bytes)
            if skipped >= count:
                skipped -= count
                continue
            content = next(contents)
            for piece in range(skipped, count):
                yield lines.blob_line(use.sha256, content, piece)
            skipped = 0
        for line, text in enumerate(lines.commit_lines(commit)):
            if line >= skipped:
                yield text

    def _contents(self, uses: Sequence[store.Use]) -> Iterator[bytes]:
        """The contents in order, read some at a time."""
        wanted: list[str] = []
        size = 0
        for use in uses:
            if wanted and size + use.bytes > CONTENTS_BYTES:
                yield from self._fetched(wanted)
                wanted, size = [], 0
            wanted.append(use.sha256)
            size += use.bytes
        yield from self._fetched(wanted)

    def _fetched(self, digests: Sequence[str]) -> Iterator[bytes]:
        found = store.contents(self._tx, self._owner, digests) if digests else {}
        for sha256 in digests:
            yield found[sha256]

    def _files(self, start: Place) -> Iterator[Placed]:
        number = start.number
        while True:
            files = store.files_at(
                self._tx, self._owner, start.revision, number, FILES_PER_STATEMENT
            )
            for place, (path, sha256) in enumerate(files, number):
                if path not in self._shown:
                    yield replace(start, number=place), lines.file_line(path, sha256)
            if len(files) < FILES_PER_STATEMENT:
                return
            number += len(files)

    def _of_views(self, start: Place) -> Iterator[Placed]:
        for path in sorted(self._shown):
            if path < start.path:
                continue
            rendered = self._shown[path].read(self._tx, self._owner, path)
            if rendered is None:
                continue
            place = replace(start, path=path, digest=sha256_hex(rendered), line=0)
            first = start.line if (path, place.digest) == (start.path, start.digest) else 0
            for line, text in enumerate(self._view(path, rendered, place.digest, start.revision)):
                if line >= first:
                    yield replace(place, line=line), text

    def _view(self, path: str, rendered: bytes, digest: str, revision: int) -> Iterator[str]:
        """The lines of a view, or the one line of the stored file that says the same."""
        held = store.file_at(self._tx, self._owner, revision, path)
        if held is not None:
            stored = store.contents(self._tx, self._owner, [held])[held]
            if held == digest or self._same(path, stored, rendered):
                yield lines.file_line(path, held)
                return
        yield from lines.blob_lines(digest, rendered)
        yield lines.file_line(path, digest)


def _left(uses: Sequence[store.Use], skipped: int) -> list[store.Use]:
    """Without those of the first uses whose lines are all skipped."""
    for place, use in enumerate(uses):
        count = lines.pieces(use.bytes)
        if skipped < count:
            return list(uses[place:])
        skipped -= count
    return []


def _travelling_size(line: str) -> int:
    """Bytes of the line inside a Lambda answer, where quotes and all but ASCII are escaped."""
    return len(json.dumps(line))


def _read(cursor: str, newest: int) -> Place:
    """Raises InvalidRequest for anything that `Place.cursor` did not write."""
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        raw = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        revision, at, *rest = cast("list[Any]", raw)
        place = Place(revision, datetime.fromisoformat(at), *rest)
        if place.cursor() != cursor or place.stage not in ("head", "history", "files", "views"):
            raise ValueError("not ours")
        numbers = (place.revision, place.number, place.line)
        if any(type(number) is not int or not 0 <= number < 2**62 for number in numbers):
            raise ValueError("not ours")
        if place.revision > newest:
            raise ValueError("not ours")
        if not isinstance(cast("Any", place.path), str):
            raise TypeError("not ours")
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise InvalidRequest("cursor: not one that this export gave") from error
    return place

"""The lines that a memory travels in: written here, and read here, on both ends.

The first is `memory`. Contents come before the commit that uses them, commits in their order, then
the files as they are in the end, then `end`, or `next` where a page is full. What is too large for
one line comes in several, one behind the other: a content's pieces, a commit's changes.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

from judgment.kit.clock import isoformat
from judgment.kit.errors import InvalidRequest, TooLarge
from judgment.kit.hashing import sha256_hex

FILE_BYTES = 16 * 1024 * 1024
"""The largest file that a memory takes in."""
LINE_BYTES = 4 * 1024 * 1024
"""The longest line that is read; what is written stays far below."""
PIECE_BYTES = 1024 * 1024
CHANGES_BYTES = 512 * 1024
MESSAGE_LIMIT = 256 * 1024
AUTHOR_LIMIT = 1_000
MOST_CHANGES = 500_000


@dataclass(frozen=True, slots=True)
class Head:
    """Whose snapshot this is in time."""

    at: datetime


@dataclass(frozen=True, slots=True)
class Blob:
    """A content, or a piece of one; `sha256` is of the whole."""

    sha256: str
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Committed:
    """A commit, or a part of its changes: path to digest, None where the file was deleted."""

    id: str
    author: str
    message: str
    at: datetime
    changes: Mapping[str, str | None] = field(repr=False)


@dataclass(frozen=True, slots=True)
class FileLine:
    """A file as it is in the end."""

    path: str
    sha256: str


@dataclass(frozen=True, slots=True)
class Next:
    """The page is full; `cursor` asks for the following one."""

    cursor: str


@dataclass(frozen=True, slots=True)
class End:
    """There is no more."""


Line = Head | Blob | Committed | FileLine | Next | End


def head_line(at: datetime) -> str:
    """The first line."""
    return _text({"type": "memory", "at": isoformat(at)})


def pieces(size: int) -> int:
    """How many lines a content of so many bytes takes; an empty one takes one."""
    return max(1, -(-size // PIECE_BYTES))


def blob_line(sha256: str, content: bytes, piece: int) -> str:
    """The line of one piece, counted from 0."""
    part = content[piece * PIECE_BYTES : (piece + 1) * PIECE_BYTES]
    data = base64.b64encode(part).decode()
    return _text({"type": "blob", "sha256": sha256, "data": data})


def blob_lines(sha256: str, content: bytes) -> Iterator[str]:
    """The lines of a content."""
    for piece in range(pieces(len(content))):
        yield blob_line(sha256, content, piece)


def commit_lines(commit: Committed) -> Iterator[str]:
    """The lines of a commit, its changes sorted by path."""
    head = {
        "type": "commit",
        "id": commit.id,
        "author": commit.author,
        "message": commit.message,
        "at": isoformat(commit.at),
    }
    for changes in _shared_out(commit.changes):
        yield _text({**head, "changes": changes})


def file_line(path: str, sha256: str) -> str:
    """The line of a file."""
    return _text({"type": "file", "path": path, "sha256": sha256})


def next_line(cursor: str) -> str:
    """The last line of a page that another follows."""
    return _text({"type": "next", "cursor": cursor})


def end_line() -> str:
    """The last line of all."""
    return _text({"type": "end"})


def parsed(line: bytes) -> Line:
    """What a line says. Raises InvalidRequest, which quotes nothing of it, and TooLarge."""
    if len(line) > LINE_BYTES:
        raise TooLarge(f"A line has more than {LINE_BYTES} bytes.")
    try:
        raw = json.loads(line)
        kind = raw.pop("type")
        given = {name: value for name, value in raw.items() if value is not None}
        return _READERS[kind](**given)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise InvalidRequest("A line is not one of a memory's.") from error


def joined(lines: Iterable[Line], *, torn: bool = False) -> Iterator[Line]:
    """The same with each content and each commit whole.

    Raises InvalidRequest for a content that is not what its digest says (`torn`: it is left out;
    an export leaves such a one where a view changed between two pages), TooLarge.
    """
    held: _Whole | None = None
    for line in lines:
        if held is not None and held.takes(line):
            continue
        if held is not None:
            yield from held.whole(torn=torn)
        held = _Whole(line) if isinstance(line, Blob | Committed) else None
        if held is None:
            yield line
    if held is not None:
        yield from held.whole(torn=torn)


class _Whole:
    """A content or a commit while its lines come."""

    def __init__(self, first: Blob | Committed):
        self._first = first
        self._data = [first.data] if isinstance(first, Blob) else []
        self._changes = dict(first.changes) if isinstance(first, Committed) else {}
        self._size = len(first.data) if isinstance(first, Blob) else 0

    def takes(self, line: Line) -> bool:
        """Whether the line goes on with it, and is now part of it."""
        first = self._first
        if isinstance(first, Blob) and isinstance(line, Blob) and line.sha256 == first.sha256:
            self._size += len(line.data)
            if self._size > FILE_BYTES:
                raise TooLarge(f"A file has more than {FILE_BYTES} bytes.")
            self._data.append(line.data)
            return True
        if isinstance(first, Committed) and isinstance(line, Committed) and line.id == first.id:
            self._changes |= line.changes
            if len(self._changes) > MOST_CHANGES:
                raise TooLarge(f"A commit has more than {MOST_CHANGES} changes.")
            return True
        return False

    def whole(self, *, torn: bool) -> Iterator[Line]:
        """The one line of it."""
        if isinstance(self._first, Committed):
            yield replace(self._first, changes=self._changes)
            return
        content = b"".join(self._data)
        if sha256_hex(content) == self._first.sha256:
            yield Blob(self._first.sha256, content)
        elif not torn:
            raise InvalidRequest("A content is not what its digest says.")


def _shared_out(changes: Mapping[str, str | None]) -> Iterator[dict[str, str | None]]:
    """The changes in portions that fit a line; one, empty, where there are none."""
    portion: dict[str, str | None] = {}
    size = 0
    for path in sorted(changes):
        if size > CHANGES_BYTES:
            yield portion
            portion, size = {}, 0
        portion[path] = changes[path]
        size += len(path.encode()) + 80
    yield portion


def _text(line: Mapping[str, Any]) -> str:
    return json.dumps(line, ensure_ascii=False, separators=(",", ":"))


def _memory(at: str) -> Head:
    return Head(_moment(at))


def _blob(sha256: str, data: str = "") -> Blob:
    return Blob(_hex(sha256, 64), base64.b64decode(_string(data).encode("ascii"), validate=True))


def _commit(id: str, author: str, message: str, at: str, changes: object) -> Committed:  # noqa: A002
    if not isinstance(changes, dict):
        raise TypeError("changes")
    found = cast("dict[str, Any]", changes)
    for path, sha256 in found.items():
        _string(path)
        if sha256 is not None:
            _hex(sha256, 64)
    if len(_string(author)) > AUTHOR_LIMIT or len(_string(message)) > MESSAGE_LIMIT:
        raise ValueError("too long")
    return Committed(_hex(id, 40), author, message, _moment(at), found)


def _file(path: str, sha256: str) -> FileLine:
    return FileLine(_string(path), _hex(sha256, 64))


def _next(cursor: str) -> Next:
    return Next(_string(cursor))


def _string(value: object) -> str:
    """A text that can be stored. Raises TypeError, ValueError."""
    if not isinstance(value, str):
        raise TypeError("text")
    value.encode()  # half a surrogate pair
    if "\x00" in value:
        raise ValueError("NUL")
    return value


def _hex(value: object, digits: int) -> str:
    text = _string(value)
    if len(text) != digits or set(text) - set("0123456789abcdef"):
        raise ValueError("digest")
    return text


def _moment(value: object) -> datetime:
    moment = datetime.fromisoformat(_string(value))
    if moment.tzinfo is None:
        raise ValueError("no time zone")
    try:
        isoformat(moment)
    except OverflowError as error:
        raise ValueError("no such year in UTC") from error
    return moment


_READERS: Mapping[str, Any] = {
    "memory": _memory,
    "blob": _blob,
    "commit": _commit,
    "file": _file,
    "next": _next,
    "end": End,
}

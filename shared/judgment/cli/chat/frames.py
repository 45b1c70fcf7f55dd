"""Server-sent events out of bytes, in whatever pieces they come.

Of what the standard allows, this stream uses little, and all else is a violation: lines end in LF
or CRLF, an event is one `event` and one `data` line, a comment keeps the line open. There are no
ids and no retry times.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from judgment.cli.chat.violation import ShapeViolation

LINE_BYTES = 16 * 1024 * 1024
"""More than a file of the allowed size takes as JSON, every character an escape."""
STREAM = "stream"


class Frame(NamedTuple):
    """One event: its name, and its data as text."""

    name: str
    data: str


class Frames:
    """Feed it bytes; it gives the frames that they complete."""

    def __init__(self) -> None:
        self._unread = bytearray()
        self._looked = 0
        self._name: str | None = None
        self._data: str | None = None

    def feed(self, piece: bytes) -> Iterator[Frame]:
        """The frames that end within `piece`. Raises ShapeViolation."""
        self._unread += piece
        while (end := self._unread.find(b"\n", self._looked)) >= 0:
            line = bytes(self._unread[:end]).removesuffix(b"\r")
            del self._unread[: end + 1]
            self._looked = 0
            frame = self._line(line)
            if frame is not None:
                yield frame
        self._looked = len(self._unread)
        if self._looked > LINE_BYTES:
            raise ShapeViolation(self._name or STREAM, "a line is too long")

    def end(self) -> None:
        """The stream is over. Raises ShapeViolation when it is so within an event."""
        if self._unread or self._name is not None or self._data is not None:
            raise ShapeViolation(self._name or STREAM, "it broke off within an event")

    def _line(self, line: bytes) -> Frame | None:
        if not line:
            return self._complete()
        if line.startswith(b":"):
            return None
        field, _, rest = line.partition(b":")
        try:
            value = rest.removeprefix(b" ").decode()
        except UnicodeDecodeError as error:
            raise ShapeViolation(self._name or STREAM, "a line is not UTF-8") from error
        if field == b"event" and self._name is None:
            self._name = value
        elif field == b"data" and self._data is None:
            self._data = value
        else:
            raise ShapeViolation(self._name or STREAM, "a line that no event has, or has once")
        return None

    def _complete(self) -> Frame | None:
        name, data = self._name, self._data
        self._name = self._data = None
        if name is None and data is None:
            return None
        if name is None or data is None:
            raise ShapeViolation(name or STREAM, "an event without its name or its data")
        return Frame(name, data)

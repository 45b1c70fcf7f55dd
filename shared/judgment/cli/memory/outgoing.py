"""An import's lines on their way out: written to a temporary file first, then sent in parts.

So what is too large, or cannot be read, is known before anything is sent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import IO

from judgment.contract.memory import MOST_PARTS, PART_BYTES
from judgment.kit.errors import TooLarge

MOST_BYTES = 512 * 1024 * 1024


class Outgoing:
    """The lines so far, in a file that the caller opened for reading and writing."""

    def __init__(self, file: IO[bytes]):
        self._file = file
        self._digest = hashlib.sha256()
        self._contents: set[str] = set()
        self.bytes = 0

    @property
    def sha256(self) -> str:
        """Of all lines together."""
        return self._digest.hexdigest()

    @property
    def parts(self) -> int:
        """How many parts they make."""
        return -(-self.bytes // PART_BYTES)

    def has(self, sha256: str) -> bool:
        """Whether this content was asked about before; it counts as written from now on."""
        known = sha256 in self._contents
        self._contents.add(sha256)
        return known

    def write(self, lines: Iterable[str]) -> None:
        """Add lines. Raises TooLarge when they are more than an import takes."""
        for line in lines:
            raw = line.encode() + b"\n"
            self.bytes += len(raw)
            if self.bytes > min(MOST_BYTES, MOST_PARTS * PART_BYTES):
                raise TooLarge(
                    f"With its history this is more than {MOST_BYTES // 1024**2} MiB, which is as"
                    " much as an import takes; --without-history sends the files alone."
                )
            self._digest.update(raw)
            self._file.write(raw)

    def each(self) -> Iterator[bytes]:
        """The parts in their order."""
        self._file.seek(0)
        while part := self._file.read(PART_BYTES):
            yield part

"""The parts of an import, read as the lines they are, in bounded memory."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.kit.errors import InvalidRequest, NotFound, TooLarge
from judgment.memory.transfer import store
from judgment.memory.transfer.lines import (
    LINE_BYTES,
    Blob,
    Committed,
    End,
    FileLine,
    Head,
    Line,
    joined,
    parsed,
)

if TYPE_CHECKING:
    from judgment.contract.memory import ImportOrder
    from judgment.db.connection import Transaction

MOST_LINES = 500_000
_BEFORE = -1
_RANKS: dict[type[Line], int] = {Head: 0, Committed: 1, FileLine: 2, End: 3}


def staged(tx: Transaction, user_id: UUID, import_id: UUID, order: ImportOrder) -> Iterator[Line]:
    """What the parts say, each content and commit whole, from `memory` to `end`.

    Raises NotFound for a part that is not there, InvalidRequest for anything but what was ordered
    (also after the last line: only who takes them all knows that they are whole), TooLarge.
    """
    raw = _split(_parts(tx, user_id, import_id, order))
    return ordered(joined(parsed(line) for line in raw))


def ordered(lines: Iterable[Line]) -> Iterator[Line]:
    """The same. Raises InvalidRequest unless they are `memory`, commits, files and `end`, with
    contents anywhere between."""
    rank = _BEFORE
    for line in lines:
        if isinstance(line, Blob):
            fits = rank in (0, 1, 2)
        else:
            here = _RANKS.get(type(line), _BEFORE)
            once = here in (0, 3)
            fits = here > rank if once else here >= max(rank, 1)
            fits = fits and (rank != _BEFORE or here == 0) and rank != _RANKS[End]
            rank = here
        if not fits:
            raise InvalidRequest("The lines of the import are not in their order.")
        yield line
    if rank != _RANKS[End]:
        raise InvalidRequest("The import has no end.")


def _parts(tx: Transaction, user_id: UUID, import_id: UUID, order: ImportOrder) -> Iterator[bytes]:
    digest = hashlib.sha256()
    for number in range(1, order.parts + 1):
        content = store.part(tx, user_id, import_id, number)
        if content is None:
            raise NotFound(f"Part {number} of the import is not there.")
        digest.update(content)
        yield content
    if digest.hexdigest() != order.sha256:
        raise InvalidRequest("The parts together are not what the order's digest says.")


def _split(parts: Iterable[bytes]) -> Iterator[bytes]:
    count = 0
    rest = b""
    for part in parts:
        *whole, rest = (rest + part).split(b"\n")
        yield from whole
        count += len(whole)
        if count > MOST_LINES:
            raise TooLarge(f"An import has at most {MOST_LINES} lines.")
        if len(rest) > LINE_BYTES:
            raise TooLarge(f"A line has more than {LINE_BYTES} bytes.")
    if rest:
        raise InvalidRequest("The import ends in the middle of a line.")

"""The ledger in a file, and its head in `meta.json`.

The head is written twice for each append: before it, with the head of each link that is to come as
`pending`, and after it, without. So a process that dies in between leaves a chain that ends at the
head or at one of those, each of which is known to be right; in no case was anything shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

from judgment.kit.errors import InvalidRequest, Unavailable
from judgment.kit.killpoints import reach
from judgment.preferences.ledger import (
    START,
    Event,
    Head,
    Link,
    Verification,
    chained,
    from_stored,
    stored,
    verify,
)
from judgment.preferences.local.meta import read_meta, write_meta
from judgment.preferences.local.places import LEDGER
from judgment.preferences.local.stream import Lines, Stream, loaded
from judgment.preferences.local.versions import keep_version

MISMATCH = "The ledger does not end where it was left: verify it. Nothing is shown until then."


class Journal:
    """The ledger of the store in a folder. Its callers hold the store's lock where they write."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._stream = Stream(root / LEDGER)

    def links(self) -> list[Link]:
        """Every link that can be read, oldest first. Raises Unavailable."""
        found = [_link(line) for line in self._stream.read()]
        return [link for link in found if link is not None]

    def append(self, events: Sequence[Event]) -> tuple[Link, ...]:
        """Write events down. Raises Unavailable, having written none of them, where that cannot be.

        A chain that does not end where it was left is not written to.
        """
        meta = read_meta(self._root)
        lines = self._stream.read()
        end = _end(lines)
        if end is None or end not in heads(meta):
            raise Unavailable(MISMATCH)
        links = chained(end, events)
        write_meta(self._root, {**meta, "ledger": _head(end, links)})
        reach("ledger.announced")
        self._stream.append([stored(link) for link in links], lines)
        reach("ledger.appended")
        write_meta(self._root, {**meta, "ledger": _head(links[-1].head)})
        return links

    def verify(self) -> Verification:
        """Whether the chain is whole and ends at its head. Raises Unavailable."""
        lines = self._stream.read()
        possible = heads(read_meta(self._root))
        end = _end(lines)
        links = [_link(line) for line in lines]
        found = verify(
            [link for link in links if link is not None],
            end if end is not None and end in possible else possible[0],
        )
        bad = [f"Line {n} of the ledger cannot be read." for n, k in enumerate(links, 1) if not k]
        return Verification(
            found.intact and not bad, found.length, found.head, (*bad, *found.problems)
        )

    def begin_again(self) -> None:
        """Put a ledger that is not whole among the versions, and begin an empty one.

        The way out after `verify` found a break and the owner has looked at it.
        """
        lines = self._stream.read()
        if lines.whole:
            keep_version(self._root, "ledger", lines.whole)
        (self._root / LEDGER).unlink(missing_ok=True)
        write_meta(self._root, {**read_meta(self._root), "ledger": None})


def heads(meta: dict[str, Any]) -> tuple[Head, ...]:
    """Where the chain may end: its head and, after a process has died, what was pending.

    A head that cannot be read counts as one that no chain has.
    """
    kept = meta.get("ledger")
    if kept is None:
        return (START,)
    if not isinstance(kept, dict):
        return (Head(-1, ""),)
    fields = cast("dict[str, Any]", kept)
    pending = fields.get("pending", ())
    later = cast("list[object]", pending) if isinstance(pending, list) else ()
    return (_read_head(fields), *(_read_head(head) for head in later))


def _read_head(fields: object) -> Head:
    match fields:
        case {"position": int(position), "hash": str(text)}:
            return Head(position, text)
        case _:
            return Head(-1, "")


def _head(end: Head, pending: Sequence[Link] = ()) -> dict[str, Any]:
    kept: dict[str, Any] = {"position": end.position, "hash": end.hash}
    if pending:
        kept["pending"] = [_head(link.head) for link in pending]
    return kept


def _link(line: bytes) -> Link | None:
    try:
        return from_stored(loaded(line))
    except InvalidRequest:
        return None


def _end(lines: Lines) -> Head | None:
    """Where the last line says that the chain ends; None where it says nothing."""
    last = next(lines.backwards(), None)
    if last is None:
        return START
    link = _link(last)
    return None if link is None else link.head

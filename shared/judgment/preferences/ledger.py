"""The ledger: what was shown or refused, to whom and by whose hand, as a chain of hashes.

A link's hash is the SHA-256 (hex) of the previous link's hash followed by the entry's JSON text;
before the first link stands the empty text. The head (position and hash of the last link) is kept
beside the chain: given it, no edit, gap, swap, insertion or missing end goes unseen. Who may write
both can write both anew, so a head that was noted elsewhere is worth more than one kept beside.
Source: issue part 3 item 3; ruling 33.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast

from judgment.kit.clock import isoformat
from judgment.kit.errors import InvalidRequest
from judgment.kit.hashing import canonical_json, sha256_hex

EntryKind = Literal["disclosure", "denial"]
KINDS: tuple[EntryKind, ...] = ("disclosure", "denial")
FIELDS: frozenset[str] = frozenset(
    ("position", "at", "kind", "audience", "purpose", "platform", "keys", "by", "correlation")
)
PROBLEM_LIMIT = 20
"""Problems that are spelled out; the rest is counted."""


@dataclass(frozen=True, slots=True)
class Head:
    """Where a chain ends: positions count from 1, so 0 with the empty hash is the empty chain."""

    position: int = 0
    hash: str = ""


START = Head()


@dataclass(frozen=True, slots=True)
class Link:
    """One entry of the chain. `entry` is JSON text, and the text itself is what is hashed."""

    position: int
    entry: str
    previous: str
    hash: str

    @property
    def head(self) -> Head:
        """Where the chain ends if this is the last link."""
        return Head(self.position, self.hash)


@dataclass(frozen=True, slots=True)
class Event:
    """What is to be written down. `keys` are the keys that were shown, or that were refused.

    `by` names the hand that asked (a key, a session, the command line) and `correlation` its
    request.
    """

    kind: EntryKind
    at: datetime
    audience: str
    purpose: str
    platform: str | None
    keys: tuple[str, ...]
    by: str
    correlation: str


@dataclass(frozen=True, slots=True)
class Verification:
    """Whether a chain is whole; each problem is a sentence that names a position."""

    intact: bool
    length: int
    head: Head
    problems: tuple[str, ...]


def linked(previous: Head, event: Event) -> Link:
    """The link that writes `event` down behind `previous`. Keys are sorted and named once."""
    position = previous.position + 1
    entry = canonical_json(
        {
            "position": position,
            "at": isoformat(event.at),
            "kind": event.kind,
            "audience": event.audience,
            "purpose": event.purpose,
            "platform": event.platform,
            "keys": sorted(set(event.keys)),
            "by": event.by,
            "correlation": event.correlation,
        }
    )
    return Link(position, entry, previous.hash, sha256_hex(previous.hash + entry))


def chained(previous: Head, events: Sequence[Event]) -> tuple[Link, ...]:
    """The links that write `events` down behind `previous`, in order."""
    links: list[Link] = []
    for event in events:
        link = linked(previous, event)
        links.append(link)
        previous = link.head
    return tuple(links)


def stored(link: Link) -> dict[str, Any]:
    """A link as it is kept: `{"position", "entry", "previous", "hash"}`."""
    return {
        "position": link.position,
        "entry": link.entry,
        "previous": link.previous,
        "hash": link.hash,
    }


def from_stored(kept: object) -> Link:
    """A link that was kept. Raises InvalidRequest where it is none, in plain words."""
    fields = cast("dict[str, Any]", kept if isinstance(kept, dict) else {})
    position = fields.get("position")
    texts = [fields.get(name) for name in ("entry", "previous", "hash")]
    if len(fields) != 4 or type(position) is not int or not all(type(t) is str for t in texts):
        raise InvalidRequest("A ledger line is not a link.")
    return Link(position, fields["entry"], fields["previous"], fields["hash"])


def verify(links: Iterable[Link], head: Head) -> Verification:
    """Whether `links`, in the order in which they are kept, are one chain that ends at `head`.

    `Verification.head` is where the links really end.
    """
    problems: list[str] = []
    last, length = START, 0
    for link in links:
        length += 1
        problems += _wrong(link, last, length)
        last = link.head
    if last != head:
        problems.append(_end(last, head))
    if len(problems) > PROBLEM_LIMIT:
        problems = [*problems[:PROBLEM_LIMIT], f"And {len(problems) - PROBLEM_LIMIT} more."]
    return Verification(not problems, length, last, tuple(problems))


def _wrong(link: Link, last: Head, place: int) -> list[str]:
    found: list[str] = []
    if link.position != place:
        found.append(f"Link {place} says that it is {link.position}.")
    if link.previous != last.hash:
        found.append(f"Link {place} does not follow the one before it.")
    if link.hash != sha256_hex(link.previous + link.entry):
        found.append(f"The entry of link {place} is not the one that was written.")
    if not _is_entry(link):
        found.append(f"The entry of link {place} is not a ledger entry of that position.")
    return found


def _is_entry(link: Link) -> bool:
    try:
        loaded = json.loads(link.entry)
    except (ValueError, RecursionError):
        return False
    if not isinstance(loaded, dict):
        return False
    entry = cast("dict[str, Any]", loaded)
    is_whole = frozenset(entry) == FIELDS and entry["kind"] in KINDS
    return is_whole and entry["position"] == link.position


def _end(last: Head, head: Head) -> str:
    if last.position < head.position:
        return f"The chain ends at link {last.position}; {head.position} were written."
    if last.position > head.position:
        return f"The chain goes on to link {last.position}; {head.position} were written."
    return f"Link {last.position} is not the end that was written."

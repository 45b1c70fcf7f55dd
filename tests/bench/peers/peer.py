"""The seam between the bench and a peer, and the runner that opens many at once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Protocol

Read = Callable[[], str]
PIECE = 120


class PeerUnavailable(RuntimeError):
    """A peer that cannot be installed or started; the message is what it said."""


@dataclass(frozen=True)
class Document:
    """What a peer keeps and gives back: one person's judgment in plain statements."""

    title: str
    statements: tuple[str, ...]

    @property
    def size(self) -> int:
        """Bytes of all statements."""
        return sum(len(statement.encode()) for statement in self.statements)

    @classmethod
    def of_profile(cls, served: bytes) -> Document:
        """The statements of a served profile (JSON of `contract.profile.AgentProfile`).

        Pieces of the JSON itself follow until the document is as large as what was served.
        """
        profile = json.loads(served)
        statements = [
            f"{one['signal']}, {one['state']}: {one['description']} {one['one_line']}"
            for one in profile["signals"]
        ]
        statements += [
            f"In {one['category']} the driver is {one['primary_driver']}, then "
            f"{', '.join(one['secondary_drivers'])}; risk {one['risk_tolerance']}, "
            f"speed {one['decision_speed']}, {one['games_in_category']} decisions."
            for one in profile["category_tendencies"]
        ]
        statements += [
            f"When {one['trigger']}: {one['behavior_shift']}" for one in profile["context_rules"]
        ]
        for text in (profile["summary_text"], profile["agent_context_block"]):
            statements += [line for line in (text or "").splitlines() if line.strip()]
        missing = len(served) - cls("", tuple(statements)).size
        text = served.decode("utf-8", "replace")[: max(0, missing)]
        pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
        return cls("Judgment profile", (*statements, *(piece.strip() for piece in pieces)))


class Peer(Protocol):
    """One alternative. `name` with version, `how` it is asked."""

    name: str
    how: str

    def open(self, document: Document) -> AbstractContextManager[Read]:
        """Install if need be, start, store `document`; the call given back reads it whole.

        Raises PeerUnavailable with the peer's own words.
        """
        ...


@dataclass
class Opened:
    """The peers that answered, and why the others did not."""

    reads: dict[str, Read] = field(default_factory=dict)
    how: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)


@contextmanager
def opened(peers: Sequence[Peer], document: Document) -> Iterator[Opened]:
    """Every peer that works, open together so that they can be read in interleaved rounds.

    A peer whose answer lacks a statement of the document is refused: it would be timed for less.
    """
    result = Opened()
    with ExitStack() as stack:
        for peer in peers:
            result.how[peer.name] = peer.how
            try:
                read = stack.enter_context(peer.open(document))
                answer = read()
                lost = [one for one in document.statements if one not in answer]
                if lost:
                    raise PeerUnavailable(f"{len(lost)} statements missing from its answer")
            except PeerUnavailable as reason:
                result.refused[peer.name] = str(reason)
                continue
            result.reads[peer.name] = read
            result.sizes[peer.name] = len(answer.encode())
        yield result

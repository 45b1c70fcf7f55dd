"""The store in a folder: capture, compile, consent, ledger, in files of the owner's own."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgment.kit.errors import NotFound
from judgment.kit.files import locked, read_private
from judgment.preferences.consent import event_from
from judgment.preferences.documents import Document, read_document
from judgment.preferences.local.forgetting import Forgotten, forget, go_on
from judgment.preferences.local.history import History, Step
from judgment.preferences.local.intake import Kept, keep
from judgment.preferences.local.journal import Journal
from judgment.preferences.local.meta import floor_of, read_meta, write_meta
from judgment.preferences.local.places import LOCK, SIGNALS, document_path, prepared
from judgment.preferences.local.publishing import Outcome, publish
from judgment.preferences.local.reading import read_document as read_in_place
from judgment.preferences.local.stream import Stream
from judgment.preferences.local.versions import Version, versions
from judgment.preferences.model import InvalidSignal, Signal
from judgment.preferences.signals import CAPTURED_KINDS, Quarantined, captured_from, read_lines

if TYPE_CHECKING:
    from judgment.kit.clock import Clock
    from judgment.preferences.grants import Grants
    from judgment.preferences.ledger import Event, Link, Verification

OWN = frozenset(("v", "last_compile", "ledger", "forgetting", "position"))


class LocalStore:
    """An owner's preferences in the folder `root`, which the first write makes.

    Every write holds the store's lock over threads and processes. Reads need none. Whatever cannot
    be done raises a refusal and leaves what was there: Unavailable for what the system refuses.
    """

    def __init__(self, root: Path, clock: Clock) -> None:
        self.root = root
        self._clock = clock
        self._thread = threading.RLock()
        self._held = 0
        self._history = History(root)
        self._journal = Journal(root)
        self._signals = Stream(root / SIGNALS)

    @contextmanager
    def hold(self) -> Generator[None]:
        """Keep every other writer out; may be held again within. Finishes a begun forgetting."""
        with self._thread:
            if self._held:
                yield
                return
            with locked(prepared(self.root) / LOCK):
                self._held = 1
                try:
                    go_on(self.root, self._clock())
                    yield
                finally:
                    self._held = 0

    def append(self, payloads: Sequence[Mapping[str, Any]]) -> tuple[Kept, ...]:
        """Capture what an agent states, all of it or nothing; what is kept already stays as it is.

        Raises InvalidSignal, for consent too, which is granted and never captured; Conflict for an
        id that means another signal; Unavailable.
        """
        now = self._clock()
        return self._keep([captured_from(payload, received_at=now) for payload in payloads])

    def receive(self, signals: Sequence[Signal]) -> tuple[Kept, ...]:
        """Keep signals that another store holds, under the ids that they have there.

        Raises as `append` does.
        """
        if any(signal.kind not in CAPTURED_KINDS or not signal.id for signal in signals):
            raise InvalidSignal("kind must be preference or fact: consent is granted, not received")
        return self._keep(signals)

    def _keep(self, signals: Sequence[Signal]) -> tuple[Kept, ...]:
        with self.hold():
            floor = floor_of(read_meta(self.root))
            return keep(self._signals, signals, self._clock(), floor)

    def signals(self) -> tuple[list[Signal], list[Quarantined]]:
        """The stream, oldest first, and the lines of it that are no signals."""
        return read_lines(self._signals.read())

    def compile(self) -> Outcome:
        """Bring the documents up to the stream; what says the same is not written again."""
        with self.hold():
            now = self._clock()
            outcome = publish(self.root, now)
            if self._history.grants().events:
                self._history.write_sum(now)
            return outcome

    def document(self, platform: str | None = None) -> Document | None:
        """The compiled document for a platform or, where it has none, the global one.

        For the owner and `disclosure` alone. Opens exactly one file; None before the first compile.
        """
        return read_in_place(self.root, platform)

    def versions(self, platform: str | None = None) -> list[Version]:
        """The earlier documents that are kept, oldest first."""
        return versions(self.root, _version_name(platform))

    def version(self, number: int, platform: str | None = None) -> Document:
        """An earlier document. Raises NotFound, InvalidDocument."""
        for version in self.versions(platform):
            if version.number == number and (data := read_private(version.path)) is not None:
                return read_document(data)
        raise NotFound(f"Version {number} is not kept.")

    def grants(self) -> Grants:
        """What the history of consent comes to."""
        return self._history.grants()

    def decide(self, step: Mapping[str, Any]) -> Step:
        """Take a step of consent: `{"effect", "key_glob", "audience", "level", "expires"}`.

        Says which earlier steps it touches: a revoke that touches none changed nothing. Raises
        InvalidRequest, in plain words.
        """
        with self.hold():
            now = self._clock()
            return self._history.append(event_from(step, now), now)

    def record(self, events: Sequence[Event]) -> tuple[Link, ...]:
        """Write down what is about to be shown or was refused. Raises Unavailable."""
        with self.hold():
            return self._journal.append(events)

    def ledger(self) -> list[Link]:
        """The ledger, oldest first."""
        return self._journal.links()

    def verify(self) -> Verification:
        """Whether the ledger is whole."""
        return self._journal.verify()

    def begin_ledger_again(self) -> None:
        """Put a broken ledger among the versions and begin an empty one."""
        with self.hold():
            self._journal.begin_again()

    def forget(self, key: str) -> Forgotten:
        """Remove a key's signals, entries and kept versions; says what cannot be removed."""
        with self.hold():
            return forget(self.root, key, self._clock())

    def meta(self) -> dict[str, Any]:
        """What the store knows of itself."""
        return read_meta(self.root)

    def remember(self, **facts: Any) -> None:
        """Note JSON values in `meta.json`; None takes one out. Raises ValueError for our names."""
        if taken := OWN.intersection(facts):
            raise ValueError(f"{min(taken)} is the store's own")
        with self.hold():
            write_meta(self.root, {**read_meta(self.root), **facts})


def _version_name(platform: str | None) -> str:
    return document_path(Path(), platform).with_suffix("").as_posix()

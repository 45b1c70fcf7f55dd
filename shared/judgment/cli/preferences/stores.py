"""What the commands ask of a store.

Local files are always there: they are the store, or the copy of it that a session starts from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from judgment.preferences.local.checking import Finding
    from judgment.preferences.model import Signal

Facts = dict[str, Any]
"""JSON values, as a command prints them."""


@dataclass(frozen=True)
class Taken:
    """What became of signals that a store was handed.

    `new` are the ids that were not kept before. `state`: compiled (the documents say so already),
    sent (the store's own documents follow), or queued (waiting in the outbox, for the reason in
    `trouble`). `refused` gives the reason by id for what the store will never have.
    """

    new: frozenset[str]
    state: str
    trouble: str | None = None
    refused: Mapping[str, str] = field(default_factory=dict[str, str])


class Store(Protocol):
    """Every method raises a refusal where it cannot do what is asked, and then has done nothing."""

    @property
    def name(self) -> str:
        """As JUDGMENT_PREFS_STORE names it."""
        ...

    def onboard(self) -> Facts:
        """Set up what is needed; again changes nothing."""
        ...

    def take(self, signals: Sequence[Signal], seconds: float) -> Taken:
        """Keep signals durably, all or none; at most `seconds` are spent on the network."""
        ...

    def compile(self) -> Facts:
        """Bring this machine's documents up to date."""
        ...

    def document(self, platform: str | None) -> Mapping[str, Any] | None:
        """This machine's document for a platform."""
        ...

    def two(self, platform: str | None) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The document before the last change, and as it is."""
        ...

    def why(self, key: str, platform: str | None) -> Facts:
        """Every candidate for a key."""
        ...

    def disclose(
        self, audience: str, purpose: str, platform: str | None, keys: tuple[str, ...] | None
    ) -> tuple[Facts, tuple[str, ...]]:
        """What an audience may see, written down first; and the keys that were refused."""
        ...

    def decide(self, step: Mapping[str, Any]) -> Facts:
        """Take a step of consent."""
        ...

    def consent(self) -> Facts:
        """The history of consent."""
        ...

    def ledger(self, limit: int) -> list[Facts]:
        """Entries, newest first."""
        ...

    def verify(self) -> Facts:
        """Whether the ledger is whole: `intact`, `length`, `head`, `problems`."""
        ...

    def begin_ledger_again(self) -> None:
        """Put the ledger aside and begin an empty one. Raises NotFound where it is not ours."""
        ...

    def forget(self, key: str) -> Facts:
        """Delete what was said about a key, and say what stays."""
        ...

    def findings(self) -> list[Finding]:
        """What `doctor` looks at."""
        ...

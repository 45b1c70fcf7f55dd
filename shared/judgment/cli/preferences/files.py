"""The local store behind the commands: files of the owner's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgment.cli.preferences.shapes import (
    forgotten_facts,
    link_facts,
    outcome_facts,
    step_facts,
    why_facts,
)
from judgment.cli.preferences.stores import Facts, Taken
from judgment.kit.errors import Unavailable
from judgment.preferences.disclosure import Wanted, disclose
from judgment.preferences.keys import checked_key
from judgment.preferences.local.checking import Finding, examine
from judgment.preferences.local.store import LocalStore

if TYPE_CHECKING:
    from judgment.kit.clock import Clock
    from judgment.preferences.model import Signal

EMPTY: Mapping[str, Any] = {"v": 1, "platform": None, "keys": {}}


class FileStore:
    """`Store` over the files below `root`."""

    name = "local"

    def __init__(self, root: Path, clock: Clock):
        self.root = root
        self.clock = clock
        self.files = LocalStore(root, clock)

    def onboard(self) -> Facts:
        """Make the folder and the first document."""
        return {"store": self.name, "root": str(self.root), **outcome_facts(self.files.compile())}

    def take(self, signals: Sequence[Signal], seconds: float) -> Taken:
        """Keep signals and compile; nothing here waits for a network."""
        kept = self.files.receive(signals)
        new = frozenset(one.signal.id for one in kept if one.is_new)
        try:
            self.files.compile()
        except Unavailable as trouble:
            return Taken(new, "queued", f"kept, but not compiled: {trouble.message}")
        return Taken(new, "compiled")

    def compile(self) -> Facts:
        """Compile the stream."""
        return {"store": self.name, **outcome_facts(self.files.compile())}

    def document(self, platform: str | None) -> Mapping[str, Any] | None:
        """The compiled document."""
        return self.files.document(platform)

    def two(self, platform: str | None) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The newest kept version, and the present document."""
        now = self.files.document(platform) or EMPTY
        kept = self.files.versions(platform)
        before = self.files.version(kept[-1].number, platform) if kept else EMPTY
        return before, now

    def why(self, key: str, platform: str | None) -> Facts:
        """Explained from the stream."""
        from judgment.preferences.explaining import why

        signals, _ = self.files.signals()
        now = self.clock()
        return why_facts(why(signals, checked_key(key)[0], now, platform), platform, now)

    def disclose(
        self, audience: str, purpose: str, platform: str | None, keys: tuple[str, ...] | None
    ) -> tuple[Facts, tuple[str, ...]]:
        """Through the choke: consent, ledger, and only then what is open."""
        found = disclose(self.files, Wanted(audience, purpose, platform, keys), self.clock())
        return found.entries, found.denied

    def decide(self, step: Mapping[str, Any]) -> Facts:
        """Append to the history of consent."""
        taken = self.files.decide(step)
        return {**step_facts(taken.event), "touches": [step_facts(e) for e in taken.touched]}

    def consent(self) -> Facts:
        """Every step, and what stands."""
        grants, now = self.files.grants(), self.clock()
        live = grants.live(now)
        events = [{**step_facts(e), "live": e.position in live} for e in grants.events]
        return {"events": events, **grants.view(now)}

    def ledger(self, limit: int) -> list[Facts]:
        """The chain's links, newest first."""
        return [link_facts(link) for link in self.files.ledger()[: -limit - 1 : -1]]

    def verify(self) -> Facts:
        """Follow the chain."""
        found = self.files.verify()
        return {
            "intact": found.intact,
            "length": found.length,
            "head": found.head.hash,
            "problems": list(found.problems),
        }

    def begin_ledger_again(self) -> None:
        """In files."""
        self.files.begin_ledger_again()

    def forget(self, key: str) -> Facts:
        """From stream, documents and versions."""
        return forgotten_facts(self.files.forget(key))

    def findings(self) -> list[Finding]:
        """Of the folder, the stream, the documents, consent and the ledger."""
        return examine(self.root, self.clock())

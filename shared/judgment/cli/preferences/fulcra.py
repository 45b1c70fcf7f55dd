"""The Fulcra store behind the commands: local files, sent to an account and filled up from it.

The files are complete by themselves: nothing that a session needs waits for the account. Consent
and its ledger stay on this machine.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, cast

from judgment.cli.preferences.files import FileStore
from judgment.cli.preferences.sending import of_outbox, sent
from judgment.cli.preferences.stores import Facts, Taken
from judgment.kit.clock import isoformat
from judgment.kit.errors import Unavailable
from judgment.kit.hashing import sha256_hex
from judgment.preferences.compiling import encoded
from judgment.preferences.fulcra.client import Settings
from judgment.preferences.fulcra.store import FulcraStore
from judgment.preferences.keys import checked_key
from judgment.preferences.local.checking import Finding
from judgment.preferences.local.places import COMPILED, PLATFORMS
from judgment.preferences.outbox import Outbox

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from judgment.kit.clock import Clock
    from judgment.preferences.model import Signal
    from judgment.preferences.remote import Onboarded, Remote

COMPILE_SECONDS = 60.0


class FulcraFiles(FileStore):
    """`Store` over the files below `root`, with an account beside them."""

    name = "fulcra"

    def __init__(self, root: Path, clock: Clock):
        super().__init__(root, clock)
        self._outbox = Outbox(root, clock)

    def onboard(self) -> Facts:
        """Find the account's place for signals or make it, and note which it is."""
        found: Onboarded = self._remote().onboard()
        self.files.remember(definition_id=found.definition_id)
        made = {"definition_id": found.definition_id, "created": found.created}
        return {**super().onboard(), **made, "others": list(found.others)}

    def take(self, signals: Sequence[Signal], seconds: float) -> Taken:
        """Into the outbox and the files, and then to the account as far as time allows."""
        self._outbox.add(signals)
        kept = super().take(signals, seconds)
        away = self._sent(signals, seconds)
        trouble = " ".join(one for one in (kept.trouble, away.trouble) if one) or None
        return Taken(kept.new, kept.state, trouble, away.refused)

    def compile(self) -> Facts:
        """Send what waits, take in what other hosts sent, compile, and publish the documents."""
        away = self._sent((), COMPILE_SECONDS)
        facts: Facts = {"received": 0, "published": [], "set_aside": 0, "consent_left_out": 0}
        trouble = away.trouble
        try:
            remote = self._remote()
            facts |= self._received(remote)
            compiled = super().compile()
            published = remote.publish(self._documents())
            facts |= {"published": list(published.written)}
        except Unavailable as refusal:
            trouble = refusal.message
            compiled = super().compile()
        return {
            **compiled,
            **facts,
            "waiting": self._outbox.waiting(),
            "trouble": trouble,
            "refused": dict(away.refused),
        }

    def forget(self, key: str) -> Facts:
        """From the files, and a request to the account to suppress it, which is no erasure.

        What the account still gives back of it is not taken in again, whether or not it is reached.
        """
        name, now = checked_key(key)[0], self.clock()
        ids = [one.id for one in self.files.signals()[0] if one.key == name]
        self._note_forgotten(name, now, ids)
        self._outbox.forget(name, now, ids)
        facts = super().forget(name)
        away = self._sent((), COMPILE_SECONDS)
        return {
            **facts,
            "trouble": away.trouble,
            "note": "Fulcra suppresses on read what was forgotten, and keeps what it was sent.",
        }

    def findings(self) -> list[Finding]:
        """Of the files, the outbox and the account's credentials."""
        return [*super().findings(), *of_outbox(self._outbox), self._reached()]

    def _reached(self) -> Finding:
        try:
            self._remote()
        except Unavailable as refusal:
            return Finding("fulcra", "broken", refusal.message)
        known = self.files.meta().get("definition_id")
        text = f"Signals go to {known}." if known else "Not set up yet: onboard."
        return Finding("fulcra", "well" if known else "broken", text)

    def _received(self, remote: Remote) -> Facts:
        pulled = remote.pull()
        with self.files.hold():  # a key may be forgotten while the account is read
            known = {signal.id for signal in self.files.signals()[0]}
            forgotten = self._forgotten()
            fresh = [
                signal
                for signal in pulled.signals
                if signal.id not in known and not _is_forgotten(signal, forgotten)
            ]
            kept = self.files.receive(fresh) if fresh else ()
        return {
            "received": len(kept),
            "set_aside": len(pulled.quarantined),
            "consent_left_out": pulled.left_out,
        }

    def _note_forgotten(self, key: str, now: datetime, ids: Sequence[str]) -> None:
        """By the key's digest, since its name is to go."""
        with self.files.hold():
            noted = self._forgotten()
            before = noted.get(sha256_hex(key), {}).get("ids", ())
            what = {"before": isoformat(now), "ids": sorted({*before, *ids})}
            self.files.remember(forgotten={**noted, sha256_hex(key): what})

    def _forgotten(self) -> dict[str, Any]:
        found: Any = self.files.meta().get("forgotten")
        return cast("dict[str, Any]", found) if isinstance(found, dict) else {}

    def _documents(self) -> dict[str, str]:
        folder = self.root / PLATFORMS
        names = (None, *sorted(path.stem for path in folder.glob("*.json")))
        documents = {name: self.files.document(name) for name in names}
        return {
            COMPILED if name is None else f"{PLATFORMS}/{name}.json": encoded(document)
            for name, document in documents.items()
            if document is not None
        }

    def _sent(self, signals: Sequence[Signal], seconds: float) -> Taken:
        """Without usable credentials everything waits, and that is said."""
        try:
            remote = self._remote()
        except Unavailable as refusal:
            return Taken(frozenset(), "queued", refusal.message)
        return sent(self._outbox, remote, signals, seconds)

    def _remote(self) -> FulcraStore:
        known: Any = self.files.meta().get("definition_id")
        definition = known if isinstance(known, str) else None
        return FulcraStore.open(Settings(), definition, self.clock)


def _is_forgotten(signal: Signal, forgotten: Mapping[str, Any]) -> bool:
    """Whether it was said before its key was forgotten, or is one of those that were forgotten."""
    noted = forgotten.get(sha256_hex(signal.key))
    if noted is None:
        return False
    said = min(signal.observed_at, signal.recorded_at or signal.observed_at)
    return signal.id in noted["ids"] or said <= datetime.fromisoformat(noted["before"])

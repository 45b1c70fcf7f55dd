"""The hosted store behind the commands: the API decides, this machine keeps a copy to read.

A capture goes through the outbox, so that one that cannot be sent waits there. `get` and `inject`
read the copy, which `compile` renews; whatever hands preferences on asks the API.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judgment.cli.preferences.api import PreferencesApi
from judgment.cli.preferences.copying import Copy, document_from, minimal
from judgment.cli.preferences.sending import HostedRemote, of_outbox, sent
from judgment.kit.deadline import Deadline
from judgment.kit.errors import NotFound, Refusal
from judgment.preferences.consent import event_from
from judgment.preferences.local.checking import Finding
from judgment.preferences.local.reading import read_document
from judgment.preferences.outbox import Outbox
from judgment.preferences.platforms import PLATFORMS

if TYPE_CHECKING:
    from judgment.cli.preferences.stores import Facts, Taken
    from judgment.cli.wiring import Access
    from judgment.kit.clock import Clock
    from judgment.preferences.model import Signal

COMPILE_SECONDS = 60.0


class HostedStore:
    """`Store` over the API, with the copy and the outbox below `root`."""

    name = "hosted"

    def __init__(self, root: Path, access: Access, clock: Clock):
        self.root = root
        self.api = PreferencesApi(access)
        self.address = access.sync_api_url
        self._clock = clock
        self._copy = Copy(root)
        self._outbox = Outbox(root, clock)

    def onboard(self) -> Facts:
        """Make the copy; whether the address and the key are right shows by it."""
        return {"store": self.name, "api": self.address, "root": str(self.root), **self.compile()}

    def take(self, signals: Sequence[Signal], seconds: float) -> Taken:
        """Into the outbox, and from there to the API."""
        self._outbox.add(signals)
        return sent(self._outbox, HostedRemote(self.api), signals, seconds)

    def compile(self) -> Facts:
        """Send what waits, and renew the copy from the API's documents."""
        remote = HostedRemote(self.api)
        flushed = sent(self._outbox, remote, (), COMPILE_SECONDS)
        names = {row.name for row in PLATFORMS} | self._copy.platforms()
        documents: dict[str | None, dict[str, Any]] = {None: self._fetched(None)[0]}
        pending = 0
        for name in sorted(names):
            document, pending = self._fetched(name)
            if any(entry["scope"] != "global" for entry in document["keys"].values()):
                documents[name] = document
        return {
            "store": self.name,
            **self._copy.renew(documents),
            "pending": pending,
            "waiting": self._outbox.waiting(),
            "trouble": flushed.trouble,
            "refused": dict(flushed.refused),
        }

    def document(self, platform: str | None) -> Mapping[str, Any] | None:
        """The copy."""
        return read_document(self.root, platform)

    def two(self, platform: str | None) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """The copy, and the document as the API has it now."""
        before = self.document(platform) or {"v": 1, "platform": platform, "keys": {}}
        return before, self._fetched(platform)[0]

    def why(self, key: str, platform: str | None) -> Facts:
        """As the API explains it."""
        return self.api.why(key, platform).model_dump(mode="json", exclude={"schema_version"})

    def disclose(
        self, audience: str, purpose: str, platform: str | None, keys: tuple[str, ...] | None
    ) -> tuple[Facts, tuple[str, ...]]:
        """What the API shows; it asks consent and writes the ledger.

        It can be asked for all that is open, or for what is beneath one key.
        """
        pages = self.api.pages(platform=platform, audience=audience, purpose=purpose)
        found = {entry.key: entry for page in pages for entry in page.entries}
        wanted = set(found) if keys is None else set(keys)
        shown = {key: minimal(entry) for key, entry in found.items() if key in wanted}
        return shown, tuple(key for key in keys or () if key not in found)

    def decide(self, step: Mapping[str, Any]) -> Facts:
        """Checked here, so that a mistake needs no network, and taken there."""
        event_from(step, self._clock())
        before = [event.id for event in self.api.consent().events if event.live]
        fields = dict(step)
        if fields["effect"] == "revoke":
            made = self.api.revoke({k: v for k, v in fields.items() if k != "effect"})
        else:
            made = self.api.grant(fields)
        after = {event.id: event for event in self.api.consent().events}
        ended = [after[one] for one in before if one in after and not after[one].live]
        return {
            **made.model_dump(mode="json"),
            "touches": [event.model_dump(mode="json") for event in ended],
        }

    def consent(self) -> Facts:
        """The history."""
        return self.api.consent().model_dump(mode="json")

    def ledger(self, limit: int) -> list[Facts]:
        """The entries."""
        return [entry.model_dump(mode="json") for entry in self.api.ledger(limit)]

    def verify(self) -> Facts:
        """As the API finds it."""
        return self.api.verify().model_dump(mode="json")

    def begin_ledger_again(self) -> None:
        """The hosted ledger is the database's: nobody begins it anew. Raises NotFound."""
        raise NotFound("The hosted ledger is not kept here: ask its operator.")

    def forget(self, key: str) -> Facts:
        """Each statement at the API and in the outbox, then the copy."""
        self.api.require_owner()
        self._outbox.forget(key, self._clock())
        flushed = self._outbox.flush(HostedRemote(self.api), Deadline.after(COMPILE_SECONDS))
        return {
            "key": key,
            "signals": flushed.withdrawn,
            "documents": self._copy.forget(key),
            "trouble": flushed.trouble,
        }

    def findings(self) -> list[Finding]:
        """Of the copy, the outbox and the API."""
        return [*self._copy.findings(self._clock()), *of_outbox(self._outbox), self._reached()]

    def _reached(self) -> Finding:
        try:
            page = next(self.api.pages())
        except Refusal as refusal:
            return Finding("api", "broken", refusal.message)
        return Finding("api", "well", f"{self.address} answers: {page.total} entries.")

    def _fetched(self, platform: str | None) -> tuple[dict[str, Any], int]:
        pages = list(self.api.pages(platform=platform))
        return document_from(pages, platform), pages[0].pending

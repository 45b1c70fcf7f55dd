"""Sending what waits in the outbox, to the API or elsewhere, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgment.cli.preferences.progress import Told
from judgment.cli.preferences.stores import Taken
from judgment.kit.deadline import Deadline
from judgment.kit.errors import Conflict, InvalidRequest, Refusal, TooLarge, Unavailable
from judgment.preferences.local.checking import Finding
from judgment.preferences.remote import Onboarded, Published, Pulled, Pushed
from judgment.preferences.signals import payload_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime
    from typing import Any

    from judgment.cli.preferences.api import PreferencesApi
    from judgment.preferences.model import Signal
    from judgment.preferences.outbox import Outbox
    from judgment.preferences.remote import Remote

BATCH_LIMIT = 100
"""What the API takes in one request (`contract.preferences.BATCH_LIMIT`, which loads pydantic)."""
_OF_THE_SIGNAL = (InvalidRequest, Conflict, TooLarge)
"""Refusals that the same signal would meet again; any other may pass."""


def sent(outbox: Outbox, remote: Remote, signals: Sequence[Signal], seconds: float) -> Taken:
    """Send what waits within `seconds`; what that means for `signals`, which were just added."""
    with Told(remote, len(signals), "Sending") as told:
        flushed = outbox.flush(told, Deadline.after(seconds))
    ids = frozenset(signal.id for signal in signals)
    refused = {name: why for name, why in flushed.rejected.items() if not ids or name in ids}
    # What waits may be a withdrawal; only another sender that left nothing over is no trouble.
    trouble = None if flushed.busy and not flushed.waiting else flushed.trouble
    return Taken(ids - refused.keys(), "queued" if trouble else "sent", trouble, refused)


def of_outbox(outbox: Outbox) -> Iterator[Finding]:
    """What `doctor` says of an outbox."""
    if waiting := outbox.waiting():
        yield Finding("outbox", "note", f"{waiting} signals wait: compile sends them.")
    for letter in outbox.dead()[:5]:
        yield Finding("outbox", "broken", f"{letter.id or 'An entry'} was refused: {letter.reason}")
    if damaged := outbox.damaged():
        yield Finding("outbox", "broken", f"Cannot be read: {', '.join(damaged)}.")


class HostedRemote:
    """The API as a `Remote`: it takes signals; its documents are read another way."""

    name = "hosted"

    def __init__(self, api: PreferencesApi):
        self._api = api

    def onboard(self) -> Onboarded:
        """There is nothing to set up."""
        return Onboarded("hosted", False)

    def push(self, signals: Sequence[Signal], deadline: Deadline | None = None) -> Pushed:
        """As many in one request as it takes; what is refused is halved until it is known which."""
        left = deadline or Deadline.after(60.0)
        accepted: set[str] = set()
        rejected: dict[str, str] = {}
        try:
            for start in range(0, len(signals), BATCH_LIMIT):
                self._send(signals[start : start + BATCH_LIMIT], left, accepted, rejected)
        except Unavailable as trouble:
            if not accepted and not rejected:
                raise
            return Pushed(frozenset(accepted), rejected, trouble.message)
        return Pushed(frozenset(accepted), rejected)

    def _send(
        self,
        signals: Sequence[Signal],
        left: Deadline,
        accepted: set[str],
        rejected: dict[str, str],
    ) -> None:
        try:
            self._api.capture([_body(signal) for signal in signals], left.remaining())
        except _OF_THE_SIGNAL as refusal:
            if len(signals) == 1:
                rejected[signals[0].id] = refusal.message
                return
            middle = len(signals) // 2
            self._send(signals[:middle], left, accepted, rejected)
            self._send(signals[middle:], left, accepted, rejected)
        except Refusal as refusal:
            raise Unavailable(refusal.message) from refusal
        else:
            accepted.update(signal.id for signal in signals)

    def pull(self) -> Pulled:
        """The stream stays there: this machine keeps documents only."""
        return Pulled((), ())

    def publish(self, files: Mapping[str, str]) -> Published:
        """The API compiles its own documents."""
        return Published((), tuple(sorted(files)))

    def withdraw(self, key: str, *, before: datetime, ids: Collection[str] = ()) -> int:
        """Delete each statement about a key up to a moment, for good."""
        try:
            found = [one for one in self._api.statements(key) if one.observed_at <= before]
            for signal in found:
                self._api.delete(signal.id)
        except Unavailable:
            raise
        except Refusal as refusal:
            raise Unavailable(refusal.message) from refusal
        return len(found)


def _body(signal: Signal) -> dict[str, Any]:
    """A signal in the shape of `NewSignal`, under the id that it has here."""
    body = payload_of(signal)
    del body["v"]
    return {**body, "id": signal.id}

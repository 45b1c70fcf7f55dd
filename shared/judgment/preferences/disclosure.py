"""The choke: the one place that hands compiled preferences to somebody else than their owner.

Consent is asked, the ledger is written, and only then is anything returned; what cannot be written
down is not shown. No more is shown than was asked for and is open: value, weight, confidence, kind
and staleness of each key, and nothing of where it comes from. Whether a key that is not open
exists cannot be told from the answer. Source: issue part 3 item 3; ruling 16; reference §2.7, 6.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from judgment.kit.errors import InvalidRequest
from judgment.preferences.consent import EVERYBODY, LEVELS, SELF, checked_audience
from judgment.preferences.documents import Entry, view
from judgment.preferences.keys import checked_key
from judgment.preferences.ledger import Event

if TYPE_CHECKING:
    from datetime import datetime

    from judgment.preferences.grants import Grants


class Shelf(Protocol):
    """A store of one owner, from which documents are handed out."""

    def hold(self) -> AbstractContextManager[None]:
        """Keep writers out, so that nothing is revoked between the question and the answer."""
        ...

    def grants(self) -> Grants:
        """The owner's consent as it stands."""
        ...

    def document(self, platform: str | None = None) -> Mapping[str, Any] | None:
        """The compiled document for a platform, or the global one."""
        ...

    def record(self, events: Sequence[Event]) -> object:
        """Write down for good, or raise."""
        ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """Who asks for what: `keys` of None asks for all that are open.

    `by` names the hand that asks and `correlation` its request; both go into the ledger.
    """

    audience: str
    purpose: str = "read"
    platform: str | None = None
    keys: tuple[str, ...] | None = None
    by: str = "command line"
    correlation: str = ""


@dataclass(frozen=True, slots=True)
class Disclosed:
    """What was shown: entries by key, `{"value", "weight", "confidence", "kind"}` and, where it is
    so, `"stale": True`; and the keys that were asked for and are not open."""

    entries: dict[str, dict[str, Any]]
    denied: tuple[str, ...]


def disclose(shelf: Shelf, wanted: Wanted, now: datetime) -> Disclosed:
    """What an audience may have of what it wants, at `now` (aware), after it was written down.

    `self` is the owner and the owner's own agents: everything is open, and it is written down too.
    Raises InvalidRequest for an audience, purpose or key that is none; what the shelf raises where
    it cannot write down or read, and then nothing is shown.
    """
    audience, keys = _checked(wanted)
    with shelf.hold():
        entries = view(shelf.document(wanted.platform) or {"keys": {}}, now)
        asked = keys if keys is not None else tuple(entry.key for entry in entries)
        if audience == SELF:
            opened = frozenset(asked)
        else:
            opened = shelf.grants().open_keys(asked, audience, wanted.purpose, now)
        shown = {entry.key: _minimal(entry) for entry in entries if entry.key in opened}
        denied = () if keys is None else tuple(key for key in keys if key not in opened)
        shelf.record(_events(wanted, audience, tuple(shown), denied, bool(opened), now))
    return Disclosed(shown, denied)


def _checked(wanted: Wanted) -> tuple[str, tuple[str, ...] | None]:
    audience = checked_audience(wanted.audience)
    if audience == EVERYBODY:
        raise InvalidRequest("Name the audience: nothing is shown to everybody.")
    if wanted.purpose not in LEVELS:
        raise InvalidRequest("The purpose is read or solve.")
    if wanted.keys is None:
        return audience, None
    return audience, tuple(dict.fromkeys(checked_key(key)[0] for key in wanted.keys))


def _minimal(entry: Entry) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "value": entry.value,
        "weight": entry.weight,
        "confidence": entry.confidence,
        "kind": entry.kind,
    }
    return {**shown, "stale": True} if entry.stale else shown


def _events(
    wanted: Wanted,
    audience: str,
    shown: tuple[str, ...],
    denied: tuple[str, ...],
    any_open: bool,
    now: datetime,
) -> list[Event]:
    """A denial for what was refused, and a disclosure unless nothing was open at all."""

    def event(kind: str, keys: tuple[str, ...]) -> Event:
        return Event(
            "denial" if kind == "denial" else "disclosure",
            now,
            audience,
            wanted.purpose,
            wanted.platform,
            keys,
            wanted.by,
            wanted.correlation,
        )

    events = [event("denial", denied)] if denied or not any_open else []
    return [*events, event("disclosure", shown)] if any_open else events

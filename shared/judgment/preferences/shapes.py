"""How preferences are put on the wire: entries, signals, moments, and where a next page begins."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime
from typing import TYPE_CHECKING

from judgment.contract.preferences import PreferenceEntry, Provenance, StatedSignal, StatedSource
from judgment.kit.errors import InvalidRequest
from judgment.preferences.signals import flags_of

if TYPE_CHECKING:
    from judgment.preferences.documents import Entry
    from judgment.preferences.model import Signal


def entry_shape(entry: Entry, is_self: bool) -> PreferenceEntry:
    """An entry; what it rests on is for the owner alone."""
    provenance = None
    if is_self:
        provenance = Provenance(
            scope=entry.scope,
            strength=entry.strength,
            half_life_days=entry.half_life_days,
            observed_at=entry.observed_at,
            n_signals=entry.n_signals,
            sources=list(entry.sources),
            flags=list(entry.flags),
        )
    return PreferenceEntry(
        key=entry.key,
        spelling=entry.spelling,
        kind="fact" if entry.kind == "fact" else "preference",
        value=entry.value,
        weight=entry.weight,
        confidence=entry.confidence,
        stale=entry.stale,
        provenance=provenance,
    )


def signal_shape(signal: Signal) -> StatedSignal:
    """A signal of the stream, as it was said."""
    assert signal.recorded_at is not None  # it comes out of the stream
    source = signal.source
    return StatedSignal(
        id=signal.id,
        position=signal.position,
        kind="fact" if signal.kind == "fact" else "preference",
        key=signal.key,
        spelling=signal.spelling,
        scope=signal.scope,
        value=signal.value,
        strength=signal.strength,
        confidence=signal.confidence,
        half_life_days=signal.half_life_days,
        observed_at=signal.observed_at,
        recorded_at=signal.recorded_at,
        source=StatedSource(
            platform=source.platform,
            agent=source.agent,
            session=source.session,
            sequence=source.sequence,
        ),
        supersedes=signal.supersedes,
        flags=list(flags_of(signal, signal.recorded_at)),
    )


def moment(text: str) -> datetime:
    """A moment that the database wrote."""
    return datetime.fromisoformat(text)


def cursor(text: str) -> str:
    """Opaque to the client; nothing in it needs to be believed."""
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def cursor_text(given: str) -> str:
    """What stands in a cursor of ours. Raises InvalidRequest for any other text."""
    try:
        padded = given + "=" * (-len(given) % 4)
        text = base64.b64decode(padded, altchars=b"-_", validate=True).decode()
    except (binascii.Error, ValueError) as error:
        raise InvalidRequest("cursor: not one that this list gave") from error
    if cursor(text) != given or "\x00" in text:
        raise InvalidRequest("cursor: not one that this list gave")
    return text


def cursor_position(given: str) -> int:
    """The position in a cursor of ours. Raises InvalidRequest for any other text."""
    text = cursor_text(given)
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise InvalidRequest("cursor: not one that this list gave")
    return int(text)

"""A compiled document and how it reads at a moment: weights fade, the document does not change.

A document holds strengths and times, so the same signals give the same document tomorrow. What it
says tomorrow is `view`: decayed weights, staleness, and a faded platform entry making way for the
global one that is kept beneath it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import isfinite
from operator import itemgetter
from typing import Any, cast

from judgment.kit.errors import InvalidRequest
from judgment.preferences.decay import OVERLAY_FLOOR, is_stale, weight_at
from judgment.preferences.model import GLOBAL
from judgment.preferences.times import days_between

Document = dict[str, Any]
"""`v`, `platform`, `compiled_at`, `digest`, `quarantined` and `keys`: key → entry."""

DOCUMENT_VERSION = 1

_encode = json.JSONEncoder(separators=(",", ":"), sort_keys=True, ensure_ascii=False).encode

_NESTED = (str, dict, list)
_told = itemgetter(
    *("kind", "scope", "observed_at", "strength", "half_life_days", "confidence"),
    *("value", "n_signals", "sources"),
)

FIELDS = 10
"""How many fields every entry has."""
RARE = ("counted_from", "flags", "spelling")
"""Fields of an entry that are left out where they would say nothing."""


class InvalidDocument(InvalidRequest):
    """A stored document that cannot be read: compile again."""

    default = "The compiled preferences cannot be read. Compile them again."


@dataclass(frozen=True, slots=True)
class Entry:
    """What holds for one key at a moment. `weight` within [-1, 1], `sources` newest first."""

    key: str
    spelling: str | None
    value: Any
    weight: float
    confidence: float
    kind: str
    scope: str
    strength: float
    half_life_days: float | None
    observed_at: datetime
    stale: bool
    flags: tuple[str, ...]
    n_signals: int
    sources: tuple[str, ...]


def read_document(text: str | bytes) -> Document:
    """The document that a store kept, of finite numbers. Raises InvalidDocument.

    Entries are checked by `view`.
    """
    try:
        document: object = json.loads(text, parse_float=_finite, parse_constant=_finite)
    except (ValueError, RecursionError):
        raise InvalidDocument from None
    if not isinstance(document, dict):
        raise InvalidDocument
    found = cast(Document, document)
    if found.get("v") != DOCUMENT_VERSION or not isinstance(found.get("keys"), dict):
        raise InvalidDocument
    return found


def _finite(text: str) -> float:
    number = float(text)
    if isfinite(number):
        return number
    raise ValueError("not finite")


def view(document: Mapping[str, Any], now: datetime) -> tuple[Entry, ...]:
    """What the document says at `now`, ordered by key. Raises InvalidDocument.

    A platform's entry whose weight has fallen below the floor makes way for the one beneath it.
    """
    try:
        return tuple(_entry(key, entry, now) for key, entry in sorted(document["keys"].items()))
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError):
        raise InvalidDocument from None


def _entry(key: str, entry: Mapping[str, Any], now: datetime) -> Entry:
    observed = datetime.fromisoformat(entry["observed_at"])
    counted = entry.get("counted_from")
    age = days_between(observed if counted is None else datetime.fromisoformat(counted), now)
    half_life = entry["half_life_days"]
    if not -1 <= entry["strength"] <= 1 or not 0 <= entry["confidence"] <= 1:
        raise ValueError("out of range")
    weight = weight_at(entry["strength"], half_life, age)
    if "beneath" in entry and abs(weight) < OVERLAY_FLOOR:
        return _entry(key, entry["beneath"], now)
    return Entry(
        key,
        entry.get("spelling"),
        entry["value"],
        weight,
        entry["confidence"],
        entry["kind"],
        entry["scope"],
        entry["strength"],
        half_life,
        observed,
        is_stale(half_life, age),
        tuple(entry.get("flags", ())),
        entry["n_signals"],
        tuple(entry["sources"]),
    )


def digest_of(document: Mapping[str, Any]) -> str:
    """SHA-256 (hex) over what time alone does not change: not weights, staleness, `compiled_at`.

    Two documents of one digest say the same at every moment, so a store need not write again.
    """
    keys: Mapping[str, Mapping[str, Any]] = document["keys"]
    shared: list[str] = []
    own: list[str] = []
    for key in sorted(keys):
        entry = keys[key]
        if entry["scope"] == GLOBAL:
            shared.append(mark(key, entry))
        else:
            own.append(mark(key, entry))
            if "beneath" in entry:
                shared.append(mark(key, entry["beneath"]))
    return digest_of_marks(
        document["platform"], document["quarantined"], digest_of_lines(shared), own
    )


def digest_of_lines(marks: Iterable[str]) -> str:
    """The digest of the global entries of these marks, in order of their keys."""
    from judgment.kit.hashing import sha256_hex  # no reader needs it, and OpenSSL is slow to load

    return sha256_hex("\n".join(marks))


def digest_of_marks(platform: str | None, quarantined: int, shared: str, own: Iterable[str]) -> str:
    """The digest of a document over global entries of the digest `shared`, with `own` above them.

    A platform's document is what the global one says and what its own entries say, so the global
    ones are digested once for all platforms.
    """
    return digest_of_lines([f"{DOCUMENT_VERSION} {platform} {quarantined} {shared}", *own])


def mark(key: str, entry: Mapping[str, Any]) -> str:
    """One line that is equal for two entries exactly when they say the same at every moment.

    What is beneath it has a line of its own. No field but the value can hold a control character,
    and the value is written as JSON.
    """
    kind, scope, observed_at, strength, half_life, confidence, value, count, sources = _told(entry)
    wanted = _encode(value) if isinstance(value, _NESTED) else repr(value)
    line = (
        f"{key}\x1f{kind}\x1f{scope}\x1f{observed_at}\x1f{strength!r}\x1f{half_life!r}"
        f"\x1f{confidence!r}\x1f{wanted}\x1f{count}\x1f"
    ) + "\x1f".join(sources)
    if len(entry) > FIELDS:
        for field in RARE:
            if field in entry:
                line = f"{line}\x1e{field}\x1f{_encode(entry[field])}"
    return line

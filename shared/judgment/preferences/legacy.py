"""What older systems wrote: their ids, their rounding, their records, and the six fields they read.

Two shapes of record are read: a payload like ours as JSON text in `note` or `data`, and the shorter
one whose `note` is JSON within JSON, without kind, confidence or half-life. Nothing of ours is ever
written in these shapes. Source: reference §§2.2-2.4, 3.3, 4.3; ruling 15.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

from judgment.kit.hashing import canonical_json, sha256_hex
from judgment.preferences.model import InvalidSignal, Signal
from judgment.preferences.signals import ALIAS_LIMIT, NAME_CHARACTERS, PAYLOAD_FIELDS, from_stored

TEMP_PREFIX = "com.fulcra-prefs.sig."
CAPTURE_PREFIX = "com.fulcra-prefs.capture."
TEMP_DIGITS = 24
ROUNDED_TO = 6
UNKNOWN_PLATFORM = "unknown"
ENTRY_FIELDS = ("confidence", "n_signals", "observed_at", "sources", "value", "weight")
MEANT_NULLS = frozenset(("value", "half_life_days"))

_ABSENT = object()
_WRAPPINGS = 3


def temp_id(key: str, observed_at: str, platform: str, value: Any = _ABSENT) -> str:
    """The id that the reference gives a signal before it is stored; no value is not a null one.

    It leaves out scope, kind and strength, for which our own ids exist (`signals.signal_id`).
    """
    parts = [key, observed_at, platform]
    if value is not _ABSENT:
        parts.append(rounded_json(value))
    return TEMP_PREFIX + sha256_hex("|".join(parts))[:TEMP_DIGITS]


def rounded_json(value: Any) -> str:
    """Canonical JSON with numbers rounded to six decimals, and no `-0.0` (reference §2.2)."""
    return canonical_json(_rounded(value))


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, ROUNDED_TO) + 0.0
    if isinstance(value, list):
        return [_rounded(item) for item in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in cast("dict[str, Any]", value).items()}
    return value


def entry_view(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The six fields of an entry that a reader of the reference's documents knows."""
    return {name: entry[name] for name in ENTRY_FIELDS}


def read_record(record: object) -> Signal:
    """The signal of a record of either older shape. Raises InvalidSignal.

    The record's time is when it was said; a payload's own time counts where the record has none.
    The reference's id among the sources names the signal, so that a record that was stored after
    it had been kept elsewhere is the same one; other names are aliases. What a short record leaves
    out has our defaults. A name that is none is passed over.
    """
    outer = _object(record, "a record must be an object")
    metadata = _object(_first(outer.get("metadata"), {}), "metadata must be an object")
    payload = _payload(outer)
    names = _names(outer, metadata)
    observed_at = _first(outer.get("recorded_at"), metadata.get("recorded_at"))
    if isinstance(observed_at, dict):
        observed_at = cast("dict[str, Any]", observed_at).get("start")
    known = _known_names(outer, names)
    identity = known[0] if known else outer.get("id")
    fields = {name: payload[name] for name in PAYLOAD_FIELDS if _is_stated(name, payload)}
    fields.update(
        id=identity,
        aliases=known[1:],
        observed_at=_first(observed_at, payload.get("observed_at")),
        source=_source(payload.get("source"), names),
    )
    return from_stored(fields)


def _is_stated(name: str, payload: Mapping[str, Any]) -> bool:
    """Whether a field is there; null is nothing but where it means something of its own."""
    return name in payload and (payload[name] is not None or name in MEANT_NULLS)


def _payload(outer: Mapping[str, Any]) -> Mapping[str, Any]:
    """The innermost object of JSON texts and of objects with a note that state no key."""
    inner: object = _first(outer.get("note") or None, outer.get("data"))
    for _ in range(_WRAPPINGS):
        if isinstance(inner, str):
            try:
                inner = json.loads(inner)
            except (ValueError, RecursionError):
                raise InvalidSignal("the record's note is not JSON") from None
        found = _object(inner, "the record's note is no signal")
        if "key" in found or "note" not in found:
            return found
        inner = found["note"]
    raise InvalidSignal("the record's note is no signal")


def _names(outer: Mapping[str, Any], metadata: Mapping[str, Any]) -> list[str]:
    given: object = _first(outer.get("sources"), metadata.get("source"), outer.get("source"), [])
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, list):
        raise InvalidSignal("sources must be a list")
    return [name for name in cast("list[object]", given) if isinstance(name, str)]


def _known_names(outer: Mapping[str, Any], names: list[str]) -> list[str]:
    """By what a supersede may mean the record: its own id, and the reference's."""
    known = [name for name in names if name.startswith(TEMP_PREFIX)]
    if isinstance(outer.get("id"), str):
        known.append(outer["id"])
    fit = (n for n in dict.fromkeys(known) if 0 < len(n) <= NAME_CHARACTERS and n.isprintable())
    return list(fit)[:ALIAS_LIMIT]


def _source(stated: object, names: list[str]) -> dict[str, Any]:
    """Where it was heard: as stated, else by the marker among the names."""
    marker = next((n for n in names if n.startswith(CAPTURE_PREFIX)), CAPTURE_PREFIX)
    heard_on = marker.removeprefix(CAPTURE_PREFIX) or UNKNOWN_PLATFORM
    fields = cast("dict[str, Any]", stated) if isinstance(stated, dict) else {}
    return {
        "platform": fields.get("platform") or heard_on,
        "agent": fields.get("agent"),
        "session": fields.get("session"),
    }


def _first(*values: object) -> object:
    return next((value for value in values if value is not None), None)


def _object(value: object, complaint: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise InvalidSignal(complaint)
    return cast("dict[str, Any]", value)

"""Signals as they are read and written: the one place in which a signal is validated.

Nothing is coerced and nothing is rounded; what does not fit the model is refused when it is
captured and set aside, with its place and reason, when it is read back.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, cast

from judgment.kit.hashing import canonical_json, sha256_hex
from judgment.preferences.keys import checked_key, checked_platform
from judgment.preferences.model import (
    GLOBAL,
    KINDS,
    PLATFORM_SCOPE,
    SCHEMA_VERSION,
    InvalidSignal,
    Kind,
    OrderKey,
    Signal,
    Source,
)
from judgment.preferences.times import read_moment, written
from judgment.preferences.values import checked_value

NAMESPACE = uuid.UUID("56389a64-05c8-4ee5-bad8-8bf9a7f2d58c")
NAME_CHARACTERS = 200
ALIAS_LIMIT = 16
"""Other names of one signal that are kept."""
LINE_CHARACTERS = 64 * 1024
LARGEST_SEQUENCE = 2**31 - 1
LARGEST_POSITION = 2**53 - 1
SKEW = timedelta(minutes=2)
"""How far a clock may be ahead of the store's before what it says is flagged as the future."""
DEFAULT_HALF_LIFE_DAYS = 90.0
"""For a preference that names no half-life; a fact without one does not fade."""

CAPTURED_KINDS: tuple[Kind, ...] = ("preference", "fact")
_STATED = ("key", "scope", "value", "strength", "confidence", "half_life_days", "observed_at")
PAYLOAD_FIELDS = frozenset(("v", "kind", *_STATED, "source", "supersedes"))
SOURCE_FIELDS = frozenset(("platform", "agent", "session", "sequence"))


@dataclass(frozen=True, slots=True)
class Quarantined:
    """A line that is no signal: its number from 1, why, and the SHA-256 (hex) of its text."""

    position: int
    reason: str
    digest: str


def signal_from(
    payload: Mapping[str, Any], *, received_at: datetime, strict: bool = True
) -> Signal:
    """The signal that a payload states, with its id; not stored yet.

    Required: `key`, `value`, `strength`, `source.platform`. The rest has defaults: kind
    preference, scope global, confidence 1, half-life 90 days for a preference and none for a fact,
    `observed_at` the moment it was received. `strict` refuses unknown fields, which are otherwise
    left out. Raises InvalidSignal.
    """
    signal = _signal(payload, received_at, strict)
    return replace(signal, id=signal_id(payload_of(signal)))


def captured_from(payload: Mapping[str, Any], *, received_at: datetime) -> Signal:
    """As `signal_from`, for what an agent may state: preferences and facts, never consent.

    Raises InvalidSignal.
    """
    signal = signal_from(payload, received_at=received_at)
    if signal.kind not in CAPTURED_KINDS:
        raise InvalidSignal("kind must be preference or fact: consent is granted, not captured")
    return signal


def payload_of(signal: Signal) -> dict[str, Any]:
    """The payload of version 1, from which `signal_from` reads the same signal again."""
    source = signal.source
    return {
        "v": SCHEMA_VERSION,
        "kind": signal.kind,
        "key": signal.spelling or signal.key,
        "scope": signal.scope,
        "value": signal.value,
        "strength": signal.strength,
        "confidence": signal.confidence,
        "half_life_days": signal.half_life_days,
        "observed_at": written(signal.observed_at, naive=signal.naive_time),
        "source": {
            "platform": source.platform,
            "agent": source.agent,
            "session": source.session,
            "sequence": source.sequence,
        },
        "supersedes": signal.supersedes,
    }


def signal_id(payload: Mapping[str, Any]) -> str:
    """The name of a payload as `payload_of` gives it: UUID version 5 over all of it (ruling 15).

    The same statement sent again has the same id; any difference in any field gives another.
    """
    return str(uuid.uuid5(NAMESPACE, canonical_json(payload)))


def stored(signal: Signal) -> dict[str, Any]:
    """The payload with `id`, `recorded_at`, `position` and, where there are any, `aliases`."""
    record = payload_of(signal)
    record["id"] = signal.id
    record["recorded_at"] = None if signal.recorded_at is None else written(signal.recorded_at)
    record["position"] = signal.position
    if signal.aliases:
        record["aliases"] = list(signal.aliases)
    return record


def from_stored(record: Mapping[str, Any]) -> Signal:
    """The signal of a stored record; unknown fields are left out. Raises InvalidSignal.

    The id is taken as it stands: a record of another store brings its own.
    """
    return _signal(record, None, strict=False, is_stored=True)


def read_lines(
    lines: str | bytes | Iterable[str | bytes],
) -> tuple[list[Signal], list[Quarantined]]:
    """The signals of stored records, one a line, and the lines that are none. Never raises.

    A blank line counts as a line and is neither.
    """
    if isinstance(lines, str):
        lines = lines.split("\n")
    elif isinstance(lines, bytes):
        lines = lines.split(b"\n")
    found: list[Signal] = []
    bad: list[Quarantined] = []
    for number, line in enumerate(lines, 1):
        if not line or line.isspace():
            continue
        try:
            found.append(_read_line(line))
        except InvalidSignal as refused:
            bad.append(Quarantined(number, refused.message, sha256_hex(line)))
    return found, bad


def order_key(signal: Signal, now: datetime) -> OrderKey:
    """Where a statement stands in time; the greater one is the later one.

    (instant, place in its session, position in the store, time as stated, id). The instant is the
    stated time, but never later than the store's own receipt, or `now` where it is not stored.
    """
    observed = signal.observed_at
    heard = signal.recorded_at or now
    return (
        observed if observed <= heard else heard,
        signal.source.sequence,
        signal.position,
        observed,
        signal.id,
    )


def flags_of(signal: Signal, now: datetime) -> tuple[str, ...]:
    """What a reader should know of its time: `future`, `naive_time`, both or neither."""
    found: tuple[str, ...] = ()
    if signal.observed_at - (signal.recorded_at or now) > SKEW:
        found = ("future",)
    return (*found, "naive_time") if signal.naive_time else found


def _read_line(line: str | bytes) -> Signal:
    if len(line) > LINE_CHARACTERS:
        raise InvalidSignal("line is too long")
    try:
        record = json.loads(line if isinstance(line, str) else line.decode())
    except (ValueError, RecursionError):
        raise InvalidSignal("line is not JSON") from None
    return from_stored(record)


def _signal(
    record: Mapping[str, Any],
    received_at: datetime | None,
    strict: bool,
    is_stored: bool = False,
) -> Signal:
    if not isinstance(record, dict):
        raise InvalidSignal("a signal must be an object")
    get = record.get
    version: object = get("v", SCHEMA_VERSION)
    if type(version) is not int or version != SCHEMA_VERSION:
        raise InvalidSignal("v must be 1")
    if strict and not PAYLOAD_FIELDS.issuperset(record):
        raise InvalidSignal("the payload has a field that is not of version 1")
    kind = get("kind", "preference")
    if kind not in KINDS:
        raise InvalidSignal("kind must be preference, fact or consent")
    key, spelling = checked_key(get("key"))
    strength = _number(get("strength"), "strength", -1.0)
    confidence = _number(get("confidence", 1.0), "confidence", 0.0)
    observed_at, naive = _observed(record, received_at)
    if "value" not in record:
        raise InvalidSignal("value is missing")
    supersedes = get("supersedes")
    source = _source(get("source"), strict)
    half_life = _half_life(record, kind)
    if is_stored:
        identity = _text(get("id"), "id")
        recorded = get("recorded_at")
        recorded_at = None if recorded is None else read_moment(recorded, "recorded_at")[0]
        position = _count(get("position", 0), "position", LARGEST_POSITION)
        aliases = _aliases(record)
    else:
        identity, recorded_at, position, aliases = "", None, 0, ()
    return Signal(
        identity,
        kind,
        key,
        checked_scope(get("scope", GLOBAL)),
        checked_value(record["value"]),
        strength,
        confidence,
        half_life,
        observed_at,
        source,
        None if supersedes is None else _text(supersedes, "supersedes"),
        recorded_at,
        position,
        spelling,
        naive,
        aliases,
    )


def checked_scope(scope: object) -> str:
    """`global`, or `platform:` and a platform's name. Raises InvalidSignal."""
    if scope == GLOBAL:
        return GLOBAL
    if not isinstance(scope, str) or not scope.startswith(PLATFORM_SCOPE):
        raise InvalidSignal("scope must be global or platform:<name>")
    checked_platform(scope[len(PLATFORM_SCOPE) :])
    return scope


def _observed(record: Mapping[str, Any], received_at: datetime | None) -> tuple[datetime, bool]:
    text = record.get("observed_at")
    if text is None and received_at is not None:
        return read_moment(written(received_at))
    return read_moment(text)


def _number(value: object, field: str, least: float) -> float:
    """A finite number in [least, 1] and never `-0.0`; a boolean is none."""
    kind = type(value)
    if (kind is float or kind is int) and least <= cast(float, value) <= 1:
        return float(cast(float, value)) + 0.0
    raise InvalidSignal(f"{field} must be a number from {least:g} to 1")


def _half_life(record: Mapping[str, Any], kind: str) -> float | None:
    if "half_life_days" not in record:
        return DEFAULT_HALF_LIFE_DAYS if kind == "preference" else None
    value = record["half_life_days"]
    if value is None:
        return None
    if type(value) in (int, float) and 0 < value < float("inf"):
        try:
            return float(value)
        except OverflowError:
            pass  # an integer beyond any float is refused like infinity
    raise InvalidSignal("half_life_days must be a finite number above 0, or null")


def _source(source: object, strict: bool) -> Source:
    if not isinstance(source, dict):
        raise InvalidSignal("source must be an object")
    fields = cast("dict[str, Any]", source)
    if strict and not SOURCE_FIELDS.issuperset(fields):
        raise InvalidSignal("source has a field that is not of version 1")
    agent, session = fields.get("agent"), fields.get("session")
    return Source(
        checked_platform(fields.get("platform")),
        None if agent is None else _text(agent, "source.agent"),
        None if session is None else _text(session, "source.session"),
        _count(fields.get("sequence", 0), "source.sequence", LARGEST_SEQUENCE),
    )


def _text(value: object, field: str) -> str:
    """A name: 1 to 200 printable characters."""
    if isinstance(value, str) and 0 < len(value) <= NAME_CHARACTERS and value.isprintable():
        return value
    raise InvalidSignal(f"{field} must be 1 to {NAME_CHARACTERS} printable characters")


def _count(value: object, field: str, most: int) -> int:
    if type(value) is int and 0 <= value <= most:
        return value
    raise InvalidSignal(f"{field} must be a whole number from 0 to {most}")


def _aliases(record: Mapping[str, Any]) -> tuple[str, ...]:
    names = record.get("aliases")
    if names is None:
        return ()
    if not isinstance(names, list) or len(cast("list[object]", names)) > ALIAS_LIMIT:
        raise InvalidSignal(f"aliases must be a list of at most {ALIAS_LIMIT}")
    return tuple(_text(name, "aliases") for name in cast("list[object]", names))

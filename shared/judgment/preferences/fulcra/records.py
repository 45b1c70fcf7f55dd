"""A signal as a record of the store, and back.

The record is an `Event` of a data type of our own. `payload` holds the signal's canonical JSON as
text, which no store can round, reorder or drop a part of; the other fields repeat what somebody
looking at the timeline wants to see and are not read back. The record's id is the signal's, so
that a record sent again is the same record.
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from judgment.kit.hashing import canonical_json
from judgment.preferences.model import InvalidSignal, Signal
from judgment.preferences.signals import NAME_CHARACTERS, payload_of, signal_from, signal_id
from judgment.preferences.times import written

BASE_TYPE = "Event"
API_VERSION = "v1"
TYPE_NAME = "Judgment preference signals"
DESCRIPTION = (
    "What this account's owner prefers, as stated to agents. One record is one statement; "
    "`payload` is the statement in canonical JSON and the only field that is read back."
)
_TEXT = {"type": "string"}
FIELDS: dict[str, Any] = {
    "properties": {
        "payload": {**_TEXT, "minLength": 2, "description": "The statement, canonical JSON"},
        "key": {**_TEXT, "minLength": 1, "description": "What it is about, dots between parts"},
        "kind": {**_TEXT, "enum": ["preference", "fact"]},
        "scope": {**_TEXT, "description": "global, or platform:<name>"},
        "strength": {"type": "number", "minimum": -1, "maximum": 1},
    },
    "required": ["payload"],
}
"""The fields that we add to the base type."""

SENT = ("id", "start_time", "sources", *FIELDS["properties"])
"""The fields of every record that we send."""

SOURCE_PREFIX = "com.judgment.prefs.capture."
EARLIEST = datetime(2020, 1, 1, tzinfo=UTC)
"""No record begins before this, so that one window reads all; `payload` has the true time."""


def type_body() -> dict[str, Any]:
    """What the service is asked to make, once an account."""
    return {
        "name": TYPE_NAME,
        "description": DESCRIPTION,
        "record_spec": {"schema": json.dumps(FIELDS, sort_keys=True)},
    }


def lacking_fields(schema: Any) -> list[str]:
    """Which of our fields a type's schema does not declare, and what else it wants of a record."""
    fields = cast("dict[str, Any]", schema) if isinstance(schema, dict) else {}
    declared: Any = fields.get("properties")
    names = set(cast("dict[str, Any]", declared)) if isinstance(declared, dict) else set[str]()
    required: Any = fields.get("required")
    wanted = (
        [str(name) for name in cast("list[Any]", required)] if isinstance(required, list) else []
    )
    return sorted({*SENT} - names) + [
        f"a record without {name!a}" for name in wanted if name not in SENT
    ]


def record_of(signal: Signal, now: datetime) -> dict[str, Any]:
    """The record of a preference or fact.

    It begins when the statement was made, but not before 2020 and not after it was received (or
    `now`, where no store has received it).
    Raises InvalidSignal for consent and for an id that is not that of its content (a signal that
    came from an older system, and lies in the store already).
    """
    if signal.kind == "consent":
        raise InvalidSignal("consent is not sent to another store")
    payload = payload_of(signal)
    if signal.id != signal_id(payload):
        raise InvalidSignal("its id is of another store, where it is already")
    begins = max(EARLIEST, min(signal.observed_at, signal.recorded_at or now))
    return {
        "id": signal.id,
        "start_time": written(begins),
        "sources": [SOURCE_PREFIX + signal.source.platform],
        "payload": canonical_json(payload),
        "key": signal.spelling or signal.key,
        "kind": signal.kind,
        "scope": signal.scope,
        "strength": signal.strength,
    }


def signal_of(record: Any, received_at: datetime) -> Signal:
    """The signal in a record that the store gave back. Raises InvalidSignal.

    Its id is that of its content. A record that somebody gave another id keeps that as an alias,
    so that a correction may name either.
    """
    if not isinstance(record, dict):
        raise InvalidSignal("the record is no object")
    fields = cast("dict[str, Any]", record)
    text = fields.get("payload")
    if not isinstance(text, str):
        raise InvalidSignal("the record has no payload")
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidSignal("the payload is not JSON") from None
    begins = fields.get("start_time")
    if isinstance(payload, dict) and "observed_at" not in payload and isinstance(begins, str):
        payload = {**cast("dict[str, Any]", payload), "observed_at": begins}
    signal = signal_from(cast("dict[str, Any]", payload), received_at=received_at, strict=False)
    named = fields.get("id")
    if isinstance(named, str) and 0 < len(named) <= NAME_CHARACTERS and named.isprintable():
        own = signal_id(payload_of(signal))
        return signal if named == own else replace(signal, aliases=(named,))
    return signal


def is_uuid(text: str) -> bool:
    """Whether a name can be a record's id at the store."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False

"""From a command's options, or an item of a batch, to a signal; and what a correction replaces."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple, cast

from judgment.cli.preferences.inputs import STDIN, half_life, parsed, read_json
from judgment.kit.errors import InvalidRequest
from judgment.preferences.documents import Entry, view
from judgment.preferences.model import GLOBAL, InvalidSignal, Signal
from judgment.preferences.signals import captured_from, payload_of


class Heard(NamedTuple):
    """Where statements were heard, as far as they do not say it themselves."""

    platform: str | None
    agent: str | None
    session: str | None


def payload_from(options: Mapping[str, Any]) -> dict[str, Any]:
    """The payload that a capture's options state. Raises InvalidRequest for what cannot be one."""
    kind, strength = options["kind"], options["strength"]
    if strength is None:
        if kind != "fact":
            raise InvalidRequest("--strength is required for a preference: from -1 to 1.")
        strength = 1.0
    value = options["value"]
    found: dict[str, Any] = {
        "v": 1,
        "kind": kind,
        "key": options["key"],
        "scope": options["scope"],
        "value": read_json(STDIN, "--value") if value == STDIN else parsed(value, "--value"),
        "strength": strength,
        "confidence": options["confidence"],
        **half_life(options["half_life"]),
        "source": {
            "platform": options["platform"],
            "agent": options["agent"],
            "session": options["session"],
        },
        "supersedes": options["supersedes"],
    }
    if options["observed_at"] is not None:
        found["observed_at"] = options["observed_at"]
    if options["corrects"] and options["supersedes"] is not None:
        raise InvalidRequest("--corrects finds what it replaces: give it or --supersedes.")
    return found


def item_from(item: object, heard: Heard, sequence: int, now: datetime) -> tuple[Signal, bool]:
    """The signal of a batch's item, and whether it corrects what holds.

    An item is a payload of the stream, in which the source's parts may be left to `heard` and its
    place in the session to its place in the batch. Raises InvalidSignal.
    """
    if not isinstance(item, dict):
        raise InvalidSignal("an item must be an object")
    payload = dict(cast("dict[str, Any]", item))
    corrects = payload.pop("corrects", False)
    if not isinstance(corrects, bool):
        raise InvalidSignal("corrects must be true or false")
    source = payload.get("source", {})
    if not isinstance(source, dict):
        raise InvalidSignal("source must be an object")
    stated = {k: v for k, v in cast("dict[str, Any]", source).items() if v is not None}
    given = {k: v for k, v in heard._asdict().items() if v is not None}
    payload["source"] = {"sequence": sequence, **given, **stated}
    if payload.get("kind") == "fact":
        payload.setdefault("strength", 1.0)
    return captured_from(payload, received_at=now), corrects


def seen_by(signal: Signal) -> str | None:
    """The platform whose document a correction looks at: its own, else where it was heard."""
    return signal.platform or signal.source.platform


def holding(document: Mapping[str, Any] | None, key: str, now: datetime) -> Entry | None:
    """What holds for a key in a document."""
    entries = view(document, now) if document is not None else ()
    return next((entry for entry in entries if entry.key == key), None)


def correcting(signal: Signal, document: Mapping[str, Any] | None, now: datetime) -> Signal:
    """The same signal, superseding what holds for its key in `document`, where it may.

    A platform's statement retires no global one: it only stands above it.
    """
    held = holding(document, signal.key, now)
    if held is None or (held.scope != signal.scope and signal.scope != GLOBAL):
        return signal
    return captured_from(payload_of(replace(signal, supersedes=held.sources[0])), received_at=now)

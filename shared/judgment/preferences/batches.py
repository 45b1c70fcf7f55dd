"""What waits to be sent, as it lies in files: batches of signals, withdrawals, dead letters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from judgment.kit.hashing import canonical_json
from judgment.preferences.keys import checked_key
from judgment.preferences.model import InvalidSignal, Signal
from judgment.preferences.signals import from_stored
from judgment.preferences.times import read_moment

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

VERSION = 1


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A signal that the remote will not have, or an entry that is no signal (`id` empty)."""

    id: str
    reason: str
    at: str
    entry: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Withdrawal:
    """Statements about a key, up to a moment, that are to be suppressed at the remote.

    Of what waits, the order says what came before it, and not the times that were stated.
    """

    key: str
    before: datetime
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """One file: signals and entries that are none, or a withdrawal."""

    path: Path
    signals: tuple[Signal, ...] = ()
    unreadable: tuple[dict[str, Any], ...] = ()
    withdrawal: Withdrawal | None = None


def encoded(content: dict[str, Any]) -> bytes:
    """The bytes of a file."""
    return canonical_json({"v": VERSION, **content}).encode()


def content_of(path: Path) -> dict[str, Any] | None:
    """A file as it was encoded, or None for anything else."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(content, dict) or cast("dict[str, Any]", content).get("v") != VERSION:
        return None
    return cast("dict[str, Any]", content)


def batch_of(path: Path) -> Batch | None:
    """The batch in a file, or None where there is none to be read."""
    content = content_of(path)
    if content is None:
        return None
    if "withdraw" in content:
        asked = _withdrawal(content["withdraw"])
        return None if asked is None else Batch(path, withdrawal=asked)
    entries = content.get("signals")
    if not isinstance(entries, list):
        return None
    signals: list[Signal] = []
    unreadable: list[dict[str, Any]] = []
    for entry in cast("list[Any]", entries):
        try:
            signals.append(from_stored(entry))
        except InvalidSignal:
            unreadable.append(_writable(entry))
    return Batch(path, tuple(signals), tuple(unreadable))


def _writable(entry: object) -> dict[str, Any]:
    """An entry that is no signal, as an object that can be written down again."""
    found = cast("dict[str, Any]", entry) if isinstance(entry, dict) else {"entry": entry}
    try:
        encoded(found)
    except (ValueError, RecursionError):  # NaN, half a surrogate pair, too deep
        return {"key": key_of(found), "entry": ascii(found)}
    return found


def letter_of(path: Path) -> DeadLetter | None:
    """The dead letter in a file, or None where there is none to be read."""
    content = content_of(path)
    if content is None or not isinstance(content.get("entry"), dict):
        return None
    texts = [str(content.get(name, "")) for name in ("id", "reason", "at")]
    return DeadLetter(*texts, entry=content["entry"])


def key_of(entry: dict[str, Any]) -> str | None:
    """The key that an entry is about, however it is spelt; None where it names none."""
    try:
        return checked_key(entry.get("key"))[0]
    except InvalidSignal:
        return None


def grouped(batches: Iterable[Batch], most: int) -> Iterator[list[Batch]]:
    """Neighbours to be sent together, of up to `most` signals; a withdrawal stands alone."""
    group: list[Batch] = []
    for batch in batches:
        size = sum(len(member.signals) for member in group) + len(batch.signals)
        if group and (batch.withdrawal or group[-1].withdrawal or size > most):
            yield group
            group = []
        group.append(batch)
    if group:
        yield group


def _withdrawal(asked: Any) -> Withdrawal | None:
    try:
        before, _ = read_moment(asked["before"])
        return Withdrawal(str(asked["key"]), before, tuple(str(name) for name in asked["ids"]))
    except (KeyError, TypeError, InvalidSignal):
        return None

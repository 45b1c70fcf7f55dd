"""From signals to documents: one for everywhere, and one for each platform that differs.

A pure function of the signals and a moment. The order in which signals come, and how often, changes
no byte. Time passing changes weights only, and not the digest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from judgment.kit.hashing import canonical_json
from judgment.preferences.decay import OVERLAY_FLOOR, is_stale, weight_at
from judgment.preferences.documents import (
    DOCUMENT_VERSION,
    Document,
    digest_of_marks,
    mark,
    mark_above,
)
from judgment.preferences.model import GLOBAL, OrderKey, Signal
from judgment.preferences.signals import flags_of, order_key
from judgment.preferences.standing import Ignored, standing
from judgment.preferences.times import days_between, written

SHOWN_SOURCES = 8

Ranked = list[tuple[OrderKey, Signal]]
Entries = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Report:
    """What a compile met beside what it says.

    `cycles` are ids that superseded each other in a circle, newest first; `ignored_supersedes`
    those that retire nothing; `quarantined`, `superseded` and `repeats` are numbers of records.
    """

    cycles: tuple[tuple[str, ...], ...]
    ignored_supersedes: tuple[Ignored, ...]
    quarantined: int
    superseded: int
    repeats: int


@dataclass(frozen=True, slots=True)
class Compiled:
    """Documents by platform, None being the global one, and the report.

    A platform whose last statement is gone has no document: it reads the global one.
    """

    documents: dict[str | None, Document]
    report: Report


def compile_signals(signals: Iterable[Signal], now: datetime, quarantined: int = 0) -> Compiled:
    """The documents that `signals` make at `now`; `quarantined` records are only counted.

    Within a key and scope the latest statement wins (ruling 15). A platform's document is the
    global one with the platform's own statements above it, where they weigh at least the floor or
    stand alone. Entries are shared between documents: change none of them.
    """
    stand = standing(signals, now)
    scopes = ranked_by_scope(stand.signals, now)
    shared = {key: entry_of(ranked, now) for key, ranked in sorted(scopes.pop(GLOBAL, {}).items())}
    marks = {key: mark(key, entry) for key, entry in shared.items()}
    documents: dict[str | None, Document] = {
        None: _document(None, now, quarantined, shared, marks.values())
    }
    for scope in sorted(scopes):
        own = {key: entry_of(ranked, now) for key, ranked in scopes[scope].items()}
        entries, entry_marks = _overlaid(shared, marks, own)
        platform = scope.partition(":")[2]
        documents[platform] = _document(platform, now, quarantined, entries, entry_marks)
    report = Report(stand.cycles, stand.ignored, quarantined, len(stand.retired), stand.repeats)
    return Compiled(documents, report)


def encoded(document: Mapping[str, Any]) -> str:
    """The one text of a document: canonical JSON and a newline."""
    return canonical_json(document) + "\n"


def ranked_by_scope(signals: Iterable[Signal], now: datetime) -> dict[str, dict[str, Ranked]]:
    """Statements by scope and key, the latest first."""
    scopes: dict[str, dict[str, Ranked]] = {}
    for signal in signals:
        keys = scopes.get(signal.scope)
        if keys is None:
            keys = scopes[signal.scope] = {}
        ranked = keys.get(signal.key)
        if ranked is None:
            keys[signal.key] = [(order_key(signal, now), signal)]
        else:
            ranked.append((order_key(signal, now), signal))
    for keys in scopes.values():
        for ranked in keys.values():
            if len(ranked) > 1:
                ranked.sort(reverse=True)
    return scopes


def entry_of(ranked: Ranked, now: datetime) -> dict[str, Any]:
    """The entry of one key in one scope: what was said last, and on how much it rests."""
    (instant, *_), signal = ranked[0]
    age = days_between(instant, now)
    entry: dict[str, Any] = {
        "confidence": signal.confidence,
        "half_life_days": signal.half_life_days,
        "kind": signal.kind,
        "n_signals": len(ranked),
        "observed_at": written(signal.observed_at),
        "scope": signal.scope,
        "sources": [one.id for _, one in ranked[:SHOWN_SOURCES]],
        "strength": signal.strength,
        "value": signal.value,
        "weight": weight_at(signal.strength, signal.half_life_days, age),
    }
    if is_stale(signal.half_life_days, age):
        entry["stale"] = True
    if signal.recorded_at is not None and signal.recorded_at < signal.observed_at:
        entry["counted_from"] = written(signal.recorded_at)
    if flags := flags_of(signal, now):
        entry["flags"] = list(flags)
    if signal.spelling is not None:
        entry["spelling"] = signal.spelling
    return entry


def _overlaid(shared: Entries, marks: Mapping[str, str], own: Entries) -> tuple[Entries, list[str]]:
    """The merged entries, ordered by key, and their marks."""
    entries, lines = dict(shared), dict(marks)
    for key, entry in own.items():
        beneath = shared.get(key)
        if beneath is None:
            entries[key], lines[key] = entry, mark(key, entry)
        elif abs(entry["weight"]) >= OVERLAY_FLOOR:
            entries[key] = {**entry, "beneath": beneath}
            lines[key] = mark_above(mark(key, entry), marks[key])
    order = sorted(entries)
    return {key: entries[key] for key in order}, [lines[key] for key in order]


def _document(
    platform: str | None,
    now: datetime,
    quarantined: int,
    entries: Entries,
    marks: Iterable[str],
) -> Document:
    return {
        "v": DOCUMENT_VERSION,
        "platform": platform,
        "compiled_at": written(now),
        "digest": digest_of_marks(platform, quarantined, marks),
        "keys": entries,
        "quarantined": quarantined,
    }

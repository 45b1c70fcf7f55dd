"""Why a key holds what it holds: every statement about it, and what became of each.

The same rules as in `compiling`, asked for one key and answered for every candidate, not only for
the one that wins. And what differs between two documents, the passing of time left aside.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Literal, TypedDict

from judgment.kit.hashing import canonical_json
from judgment.preferences.compiling import entry_of, ranked_by_scope
from judgment.preferences.decay import OVERLAY_FLOOR
from judgment.preferences.model import GLOBAL, PLATFORM_SCOPE, Signal
from judgment.preferences.signals import order_key
from judgment.preferences.standing import first_of_each, standing

Verdict = Literal[
    "wins",
    "beneath the platform's",
    "below the floor",
    "older",
    "superseded",
    "another platform's",
]
VERDICTS: tuple[Verdict, ...] = (
    "wins",
    "beneath the platform's",
    "below the floor",
    "older",
    "superseded",
    "another platform's",
)
PASSING = frozenset(("weight", "stale"))
"""What time alone changes in an entry."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A statement about the key: its weight now (-1 to 1), and why it holds or not.

    `by` is the id of the statement that it lost against, where there is one.
    """

    signal: Signal
    weight: float
    stale: bool
    verdict: Verdict
    by: str | None


@dataclass(frozen=True, slots=True)
class Why:
    """The winner's id, or None where nothing holds, and every candidate: the winner first, then by
    verdict in the order of `VERDICTS`, the latest first."""

    key: str
    winner: str | None
    candidates: tuple[Candidate, ...]


class Changed(TypedDict):
    """An entry before and after, and the names of what differs."""

    before: dict[str, Any]
    after: dict[str, Any]
    fields: list[str]


class Difference(TypedDict):
    """What was added, removed and changed, by key; `same` counts the rest."""

    added: dict[str, Any]
    removed: dict[str, Any]
    changed: dict[str, Changed]
    same: int


def why(signals: Iterable[Signal], key: str, now: datetime, platform: str | None = None) -> Why:
    """Every statement about `key` (in NFC) as it counts at `now` for a platform; None: globally."""
    known = first_of_each(list(signals)).values()
    about = [signal for signal in known if signal.key == key and signal.kind != "consent"]
    stand = standing(about, now)
    verdicts = _verdicts(ranked_by_scope(stand.signals, now), key, now, platform)
    for lost, by in stand.retired.items():
        verdicts[lost] = ("superseded", by)
    latest_first = sorted(about, key=partial(order_key, now=now), reverse=True)
    candidates = [_candidate(one, verdicts[one.id], now) for one in latest_first]
    candidates.sort(key=lambda one: VERDICTS.index(one.verdict))
    winner = candidates[0].signal.id if candidates and candidates[0].verdict == "wins" else None
    return Why(key, winner, tuple(candidates))


def _candidate(signal: Signal, verdict: tuple[Verdict, str | None], now: datetime) -> Candidate:
    entry, _ = entry_of([signal], now)
    return Candidate(signal, entry["weight"], "stale" in entry, *verdict)


def _verdicts(
    scopes: Mapping[str, Mapping[str, list[Signal]]],
    key: str,
    now: datetime,
    platform: str | None,
) -> dict[str, tuple[Verdict, str | None]]:
    """What became of each statement that nobody superseded."""
    mine = PLATFORM_SCOPE + platform if platform is not None else None
    found: dict[str, tuple[Verdict, str | None]] = {}
    for scope, keys in scopes.items():
        first, *older = keys[key]
        found[first.id] = (
            ("wins", None) if scope in (GLOBAL, mine) else ("another platform's", None)
        )
        for one in older:
            found[one.id] = ("older", first.id)
    shared = scopes.get(GLOBAL, {}).get(key)
    own = scopes.get(mine, {}).get(key) if mine is not None else None
    if shared and own:
        if abs(entry_of(own, now)[0]["weight"]) >= OVERLAY_FLOOR:
            found[shared[0].id] = ("beneath the platform's", own[0].id)
        else:
            found[own[0].id] = ("below the floor", shared[0].id)
    return found


def diff(before: Mapping[str, Any], after: Mapping[str, Any]) -> Difference:
    """What differs between two documents, ordered by key; what time alone changes is left out."""
    old: dict[str, dict[str, Any]] = before.get("keys", {})
    new: dict[str, dict[str, Any]] = after.get("keys", {})
    changed: dict[str, Changed] = {}
    for key in sorted(old.keys() & new.keys()):
        if fields := _differing(old[key], new[key]):
            changed[key] = {"before": old[key], "after": new[key], "fields": fields}
    return {
        "added": {key: new[key] for key in sorted(new.keys() - old.keys())},
        "removed": {key: old[key] for key in sorted(old.keys() - new.keys())},
        "changed": changed,
        "same": len(old.keys() & new.keys()) - len(changed),
    }


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Names of the fields that differ."""
    names = (one.keys() | other.keys()) - PASSING
    return sorted(name for name in names if _text(name, one) != _text(name, other))


def _text(name: str, entry: Mapping[str, Any]) -> str | None:
    """A field as it is written, so that 1, 1.0 and true are told apart; None where it is absent."""
    if name not in entry:
        return None
    value = entry[name]
    if name == "beneath":
        value = {inner: value[inner] for inner in value if inner not in PASSING}
    return canonical_json(value)

"""Which statements still stand: repeats count once, and what was taken back is out.

A signal that names another as superseded retires it, for good and whoever is newer. It can only do
so within its own key, among preferences and facts, and within its scope, a global statement also
retiring a platform's. Everything else that it names is left alone and reported.

Named in a circle, all would be gone. The edge that points at the circle's newest member is void, so
that what was said last survives, unless something outside the circle supersedes it too (ruling 15).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from judgment.kit.hashing import canonical_json
from judgment.preferences.model import GLOBAL, Signal
from judgment.preferences.signals import order_key, stored

Reason = Literal["unknown", "itself", "another key", "consent", "another scope"]
REASONS: tuple[Reason, ...] = ("itself", "another scope", "consent", "another key", "unknown")
Edges = Mapping[str, Sequence[Signal]]
MOST_BEARERS = 64
"""An alias that more bear means nobody: it tells nothing apart, and a stream in which all bear it
and all name it would take the square of their number."""


@dataclass(frozen=True, slots=True)
class Ignored:
    """A `supersedes` that retires nothing: who names what, and why it does not count."""

    id: str
    names: str
    reason: Reason


@dataclass(frozen=True, slots=True)
class Standing:
    """The preferences and facts that stand, in no order, and what became of the others.

    `retired` maps each superseded id to the newest signal that supersedes it. `cycles` are ids,
    newest first. `repeats` counts records that share the id of another.
    """

    signals: list[Signal]
    retired: dict[str, str]
    cycles: tuple[tuple[str, ...], ...] = ()
    ignored: tuple[Ignored, ...] = ()
    repeats: int = 0


def standing(signals: Iterable[Signal], now: datetime) -> Standing:
    """What stands of `signals` at `now`; their order and repetition change nothing."""
    given = list(signals)
    known = first_of_each(given)
    repeats = len(given) - len(known)
    naming = [s for s in known.values() if s.supersedes is not None and s.kind != "consent"]
    if naming:
        return _retire(known, naming, now, repeats)
    return Standing([s for s in known.values() if s.kind != "consent"], {}, repeats=repeats)


def first_of_each(signals: Sequence[Signal]) -> dict[str, Signal]:
    """One signal for each id: the one that was stored first, whatever the others say."""
    known = {signal.id: signal for signal in signals}
    if len(known) == len(signals):
        return known
    known.clear()
    for signal in signals:
        other = known.setdefault(signal.id, signal)
        if other is not signal and _arrival(signal) < _arrival(other):
            known[signal.id] = signal
    return known


def _arrival(signal: Signal) -> tuple[bool, int, str]:
    return not signal.position, signal.position, canonical_json(stored(signal))


def _retire(
    known: Mapping[str, Signal], naming: Iterable[Signal], now: datetime, repeats: int
) -> Standing:
    edges, ignored = _edges(known, naming)
    rank = {
        signal.id: order_key(signal, now)
        for source, targets in edges.items()
        for signal in (known[source], *targets)
    }
    circles: list[list[str]] = []
    if any(rank[source] < rank[target.id] for source, to in edges.items() for target in to):
        circles = [sorted(c, key=rank.__getitem__, reverse=True) for c in _circles(edges)]
    newest_of = {member: circle[0] for circle in circles for member in circle}
    retired: dict[str, str] = {}
    for source in sorted(edges, key=rank.__getitem__):
        for target in edges[source]:
            if newest_of.get(source) != target.id:
                retired[target.id] = source
    return Standing(
        [s for s in known.values() if s.id not in retired and s.kind != "consent"],
        retired,
        tuple(sorted(tuple(circle) for circle in circles)),
        tuple(sorted(ignored, key=lambda one: one.id)),
        repeats,
    )


def _edges(
    known: Mapping[str, Signal], naming: Iterable[Signal]
) -> tuple[dict[str, list[Signal]], list[Ignored]]:
    """Who retires whom, and the namings that retire nobody."""
    called: dict[str, list[Signal]] = {}
    for signal in [one for one in known.values() if one.aliases]:
        for alias in signal.aliases:
            called.setdefault(alias, []).append(signal)
    edges: dict[str, list[Signal]] = {}
    ignored: list[Ignored] = []
    for signal in naming:
        name = signal.supersedes or ""
        bearers = called.get(name, ())
        named = {target.id: target for target in bearers} if len(bearers) <= MOST_BEARERS else {}
        if name in known:
            named[name] = known[name]
        objections = [(_objection(signal, target), target) for target in named.values()]
        targets = [target for objection, target in objections if objection is None]
        if targets:
            edges[signal.id] = targets
        else:
            ignored.append(Ignored(signal.id, name, _first(one for one, _ in objections)))
    return edges, ignored


def _first(objections: Iterable[object]) -> Reason:
    """One of several reasons, the same one in whatever order they come."""
    met = set(objections)
    for reason in REASONS:
        if reason in met:
            return reason
    return "unknown"


def _objection(signal: Signal, target: Signal) -> Reason | None:
    if target.id == signal.id:
        return "itself"
    if target.key != signal.key:
        return "another key"
    if target.kind == "consent":
        return "consent"
    if signal.scope not in (GLOBAL, target.scope):
        return "another scope"
    return None


def _circles(edges: Edges) -> list[list[str]]:
    """The groups of two and more that supersede each other in a circle (Tarjan, no recursion).

    Linear in the edges, however long a chain somebody writes.
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    path: list[str] = []
    on_path: set[str] = set()
    work: list[tuple[str, Iterator[Signal]]] = []
    found: list[list[str]] = []

    def enter(node: str) -> None:
        index[node] = low[node] = len(index)
        path.append(node)
        on_path.add(node)
        work.append((node, iter(edges.get(node, ()))))

    for root in edges:
        if root not in index:
            enter(root)
        while work:
            node, targets = work[-1]
            target = next(targets, None)
            if target is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    circle = _popped(path, node)
                    on_path.difference_update(circle)
                    found += [circle] if len(circle) > 1 else []
            elif target.id not in index:
                enter(target.id)
            elif target.id in on_path:
                low[node] = min(low[node], index[target.id])
    return found


def _popped(path: list[str], node: str) -> list[str]:
    """The end of the path down to `node`, taken off it."""
    taken: list[str] = []
    while not taken or taken[-1] != node:
        taken.append(path.pop())
    return taken

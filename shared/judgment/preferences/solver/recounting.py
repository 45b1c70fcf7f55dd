"""A count of ballots derived a second time, by other roads than `ballots` takes.

Points from pairs instead of places; strongest paths by widening from each candidate instead of
through each; the Smith set by who reaches everybody; the cycle by distances.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from judgment.kit.errors import InvalidRequest
from judgment.preferences.solver.ballots import (
    METHODS,
    Order,
    ballot_inputs,
    checked_candidates,
    merged_ballots,
)
from judgment.preferences.solver.problem import text_digest
from judgment.preferences.solver.reading import ballots_from

Merged = list[tuple[Order, int]]
Numbers = Mapping[str, Mapping[str, int]]


def recounted(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The trace that follows from a count's inputs. Raises InvalidRequest."""
    method, given = inputs.get("method"), inputs.get("candidates")
    if method not in METHODS or not isinstance(given, list):
        raise InvalidRequest(f"a count has candidates and one of the methods {', '.join(METHODS)}")
    names = checked_candidates(cast("list[Any]", given))
    merged = merged_ballots(ballots_from(inputs.get("ballots")), set(names))
    votes = _votes(merged, names)
    points = _points(votes, sum(times for _, times in merged)) if method == "borda" else None
    paths = {one: _widest(votes, one) for one in names} if points is None else None
    behind = points or dict.fromkeys(names, 0.0)
    ranks = {
        one: 1
        + sum(
            behind[other] > behind[one]
            or (paths is not None and paths[other][one] > paths[one][other])
            for other in votes[one]
        )
        for one in names
    }
    unbeaten = {
        one: [other for other in row if row[other] >= votes[other][one]]
        for one, row in votes.items()
    }
    undefeated = [one for one in names if len(_distances(unbeaten, one)) == len(names)]
    winner = undefeated[0] if len(undefeated) == 1 else None
    rederived = ballot_inputs(method, names, merged)
    return {
        "v": 1,
        "inputs": rederived,
        "digest": text_digest(rederived),
        "votes": votes,
        "points": points,
        "paths": paths,
        "winner": winner,
        "undefeated": undefeated,
        "cycle": [] if winner else _cycle(votes, undefeated),
        "ranking": [
            {"candidate": one, "rank": ranks[one], "points": points[one] if points else None}
            for one in sorted(names, key=lambda one: (ranks[one], one))
        ],
    }


def _votes(merged: Merged, names: list[str]) -> dict[str, dict[str, int]]:
    last = len(names)
    voted = [
        ({one: place for place, group in enumerate(order) for one in group}, times)
        for order, times in merged
    ]
    return {
        one: {
            other: sum(
                times for places, times in voted if places.get(one, last) < places.get(other, last)
            )
            for other in names
            if other != one
        }
        for one in names
    }


def _points(votes: Numbers, voters: int) -> dict[str, float]:
    """One for each preferred before another, a half for each pair left level."""
    return {
        one: sum(row[other] + (voters - row[other] - votes[other][one]) / 2 for other in row)
        for one, row in votes.items()
    }


def _widest(votes: Numbers, start: str) -> dict[str, int]:
    """The strongest path from `start` to each other: the strongest open end is final (Dijkstra)."""
    strength = {
        other: given if given > votes[other][start] else 0 for other, given in votes[start].items()
    }
    open_ends = set(strength)
    while open_ends:
        here = max(open_ends, key=lambda one: strength[one])
        open_ends.discard(here)
        for other in open_ends:
            step = votes[here][other] if votes[here][other] > votes[other][here] else 0
            strength[other] = max(strength[other], min(strength[here], step))
    return strength


def _distances(steps: Mapping[str, Iterable[str]], start: str) -> dict[str, int]:
    """Steps to each that can be reached, 0 to itself."""
    distances, edge = {start: 0}, [start]
    while edge:
        further = {other for one in edge for other in steps[one]} - distances.keys()
        distances.update(dict.fromkeys(further, distances[edge[0]] + 1))
        edge = list(further)
    return distances


def _cycle(votes: Numbers, among: list[str]) -> list[str]:
    """Of the shortest circles of majorities the first by names, from its first name on."""
    beaten_by = {
        one: [other for other in among if other != one and votes[other][one] > votes[one][other]]
        for one in among
    }
    # Distances are taken against the steps, so that back[a][b] is how far it is from b to a.
    back = {one: _distances(beaten_by, one) for one in among}
    lengths = {
        one: 1 + min((back[o][one] for o in beaten_by[one] if one in back[o]), default=0)
        for one in among
    }
    closed = [length for length in lengths.values() if length > 1]
    if not closed:
        return []
    start = next(one for one in among if lengths[one] == min(closed))
    circle = [start]
    for left in range(min(closed) - 1, 0, -1):
        circle.append(
            next(
                other
                for other in among
                if circle[-1] in beaten_by[other] and back[start].get(other) == left
            )
        )
    return circle

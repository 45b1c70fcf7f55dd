"""Ranked ballots: each voter puts candidates in order, and no number is asked of anybody.

`borda` (1781): a candidate gets a point from a ballot for each candidate it stands before and half
a point for each it stands level with. Who is not on a ballot stands level with the others that
are not, behind all that are; so the points of the places left over are shared out evenly.

`condorcet`: candidates are compared two by two. A candidate before which nobody is preferred by a
majority wins (Condorcet 1785). Majorities may go in a circle; then the smallest set whose members
beat everybody outside it (Smith 1973) is named, with one circle in it, and the order is that of
Schulze (2011, Social Choice and Welfare 36): a stands before b if the strongest path of majorities
from a to b is stronger than the strongest from b to a, a path being as strong as its weakest
step and a step as strong as the votes for it. A ballot that puts two level counts for neither.

Ties share a rank, as in `policies`. Limits: MAX_CANDIDATES, MAX_COMPARISONS.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, cast

from judgment.kit.errors import InvalidRequest
from judgment.preferences.solver.options import checked_text
from judgment.preferences.solver.problem import text_digest
from judgment.preferences.solver.text import listed, shown

METHODS = ("borda", "condorcet")
MAX_CANDIDATES = 200
MAX_COMPARISONS = 10_000_000
"""Different ballots times pairs of candidates: what one count may cost (about a second)."""
MAX_COUNT = 1_000_000_000

Order = tuple[tuple[str, ...], ...]
Votes = dict[str, dict[str, int]]


@dataclass(frozen=True, slots=True)
class Ballot:
    """Groups of candidates, the most wanted first; those in one group stand level.

    `count` voters voted like this. Raises InvalidRequest.
    """

    order: Order
    count: int = 1

    def __post_init__(self) -> None:
        groups: Any = self.order
        if not isinstance(groups, tuple | list) or not groups:
            raise InvalidRequest("a ballot needs at least one candidate")
        object.__setattr__(self, "order", tuple(_group(one) for one in cast("list[Any]", groups)))
        named = Counter(one for group in self.order for one in group)
        if twice := [one for one, times in named.items() if times > 1]:
            raise InvalidRequest(f"a ballot names {shown(min(twice))} twice")
        count: Any = self.count
        if type(count) is not int or not 1 <= count <= MAX_COUNT:
            raise InvalidRequest(f"a ballot's count must be a whole number from 1 to {MAX_COUNT}")


@dataclass(frozen=True, slots=True)
class Standing:
    """A candidate's rank from 1, ties equal, and its points where the method gives any."""

    candidate: str
    rank: int
    points: float | None


@dataclass(frozen=True, slots=True)
class Count:
    """The ranking best first; the Condorcet winner if there is one; the trace in JSON values.

    `undefeated` is the Smith set: the winner alone, or those among whom majorities do not decide.
    `cycle` is one shortest circle of majorities in it, from its first name on; empty where a tie
    and no circle is the reason.
    """

    ranking: tuple[Standing, ...]
    winner: str | None
    undefeated: tuple[str, ...]
    cycle: tuple[str, ...]
    trace: dict[str, Any]


def count(
    ballots: Iterable[Ballot], candidates: Iterable[str], *, method: str = "condorcet"
) -> Count:
    """Rank `candidates` by `ballots`. Raises InvalidRequest.

    The order of ballots and candidates shows nowhere; names only put ties in order and choose
    which of several cycles is named.
    """
    if method not in METHODS:
        raise InvalidRequest(f"method must be one of {', '.join(METHODS)}")
    names = checked_candidates(candidates)
    merged = merged_ballots(ballots, set(names))
    votes = _votes(merged, names)
    points = _points(merged, names) if method == "borda" else None
    paths = None if points else _strongest_paths(votes, names)
    undefeated = _smith(votes, names)
    ranks = _ranks(names, points, paths)
    ranking = tuple(
        Standing(one, ranks[one], points[one] if points else None)
        for one in sorted(names, key=lambda one: (ranks[one], one))
    )
    winner = undefeated[0] if len(undefeated) == 1 else None
    cycle = () if winner else _shortest_cycle(votes, undefeated)
    inputs = ballot_inputs(method, names, merged)
    trace: dict[str, Any] = {
        "v": 1,
        "inputs": inputs,
        "digest": text_digest(inputs),
        "votes": votes,
        "points": points,
        "paths": paths,
        "winner": winner,
        "undefeated": list(undefeated),
        "cycle": list(cycle),
        "ranking": [
            {"candidate": one.candidate, "rank": one.rank, "points": one.points} for one in ranking
        ],
    }
    return Count(ranking, winner, undefeated, cycle, trace)


def checked_candidates(candidates: Iterable[str]) -> list[str]:
    """Their names in order. Raises InvalidRequest."""
    names = sorted(checked_text("a candidate's name", one) for one in candidates)
    if not names:
        raise InvalidRequest("a vote needs at least one candidate")
    if len(names) > MAX_CANDIDATES:
        raise InvalidRequest(f"{len(names)} candidates, at most {MAX_CANDIDATES}")
    for one, after in pairwise(names):
        if one == after:
            raise InvalidRequest(f"two candidates are called {shown(one)}")
    return names


def merged_ballots(ballots: Iterable[Ballot], names: set[str]) -> list[tuple[Order, int]]:
    """Like ballots together, in one order. Raises InvalidRequest."""
    merged: Counter[Order] = Counter()
    for ballot in ballots:
        strangers = {one for group in ballot.order for one in group} - names
        if strangers:
            raise InvalidRequest(f"a ballot names nobody's candidate: {listed(sorted(strangers))}")
        merged[tuple(tuple(sorted(group)) for group in ballot.order)] += ballot.count
    if not merged:
        raise InvalidRequest("a vote needs at least one ballot")
    if len(merged) * len(names) ** 2 > MAX_COMPARISONS:
        raise InvalidRequest(
            f"{len(merged)} different ballots over {len(names)} candidates make more than "
            f"{MAX_COMPARISONS} comparisons"
        )
    return sorted(merged.items())


def ballot_inputs(
    method: str, names: Sequence[str], merged: Sequence[tuple[Order, int]]
) -> dict[str, Any]:
    """What a count rests on, as JSON values."""
    return {
        "method": method,
        "candidates": list(names),
        "ballots": [
            {"order": [list(group) for group in order], "count": times} for order, times in merged
        ],
    }


def _group(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        return (checked_text("a candidate's name", value),)
    if not isinstance(value, tuple | list) or not value:
        raise InvalidRequest("a ballot is a list of names, or of lists of names that stand level")
    return tuple(checked_text("a candidate's name", one) for one in cast("list[Any]", value))


def _places(order: Order, names: Sequence[str]) -> dict[str, int]:
    """The number of each candidate's group; who is not named comes last."""
    places = {one: place for place, group in enumerate(order) for one in group}
    return {one: places.get(one, len(order)) for one in names}


def _votes(merged: Sequence[tuple[Order, int]], names: Sequence[str]) -> Votes:
    """How many voters put one strictly before another."""
    votes: Votes = {one: {other: 0 for other in names if other != one} for one in names}
    for order, times in merged:
        places = _places(order, names)
        for one in names:
            row, here = votes[one], places[one]
            for other in row:
                if here < places[other]:
                    row[other] += times
    return votes


def _points(merged: Sequence[tuple[Order, int]], names: Sequence[str]) -> dict[str, float]:
    """By places: the points that a group's places are worth, shared out in it."""
    doubled = dict.fromkeys(names, 0)
    for order, times in merged:
        on_ballot = {one for group in order for one in group}
        behind = len(names)
        for group in (*order, tuple(one for one in names if one not in on_ballot)):
            behind -= len(group)
            # Twice the mean of behind, behind + 1, …, behind + len(group) - 1: a whole number.
            for one in group:
                doubled[one] += times * (2 * behind + len(group) - 1)
    return {one: points / 2 for one, points in doubled.items()}


def _strongest_paths(votes: Votes, names: Sequence[str]) -> Votes:
    """Schulze's strengths, by Floyd and Warshall's order of steps."""
    paths: Votes = {
        one: {
            other: votes[one][other] if votes[one][other] > votes[other][one] else 0
            for other in names
            if other != one
        }
        for one in names
    }
    for through in names:
        onward = paths[through]
        for one in names:
            if one != through:
                row = paths[one]
                reach = row[through]
                for other, strength in onward.items():
                    if other != one and row[other] < reach and row[other] < strength:
                        row[other] = min(reach, strength)
    return paths


def _ranks(
    names: Sequence[str], points: Mapping[str, float] | None, paths: Votes | None
) -> dict[str, int]:
    """One more than how many stand strictly before."""
    if points is not None:
        return {one: 1 + sum(points[other] > points[one] for other in names) for one in names}
    strong = paths or {}
    return {
        one: 1 + sum(strong[other][one] > strong[one][other] for other in strong[one])
        for one in names
    }


def _smith(votes: Votes, names: Sequence[str]) -> tuple[str, ...]:
    """The smallest set whose members each beat everybody outside it, by name."""
    wins = {one: sum(votes[one][o] > votes[o][one] for o in votes[one]) for one in names}
    ordered = sorted(names, key=lambda one: (-wins[one], one))
    size = 1
    while True:
        inside = ordered[:size]
        needed = {
            place
            for place, other in enumerate(ordered)
            if place >= size and any(votes[other][one] >= votes[one][other] for one in inside)
        }
        if not needed:
            return tuple(sorted(inside))
        size = max(needed) + 1


def _shortest_cycle(votes: Votes, among: Sequence[str]) -> tuple[str, ...]:
    """The first by names of the shortest circles of strict majorities, or nothing."""
    beats = {one: [o for o in among if o != one and votes[one][o] > votes[o][one]] for one in among}
    best: tuple[str, ...] = ()
    for start in among:
        paths, seen = [(start,)], {start}
        while paths and not (best and len(paths[0]) >= len(best)):
            closing = [path for path in paths if start in beats[path[-1]]]
            if closing:
                best = closing[0]
                break
            longer = [(*path, one) for path in paths for one in beats[path[-1]] if one not in seen]
            paths = list({path[-1]: path for path in reversed(longer)}.values())[::-1]
            seen |= {path[-1] for path in paths}
    return best

"""A count of ballots in plain words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations, pairwise
from typing import Any

from judgment.preferences.solver.text import shown


def ballot_words(trace: Mapping[str, Any]) -> Iterator[str]:
    """Points or paths, the majorities of each pair, who wins and why nobody does, the ranking."""
    votes, paths = trace["votes"], trace["paths"]
    names = trace["inputs"]["candidates"]
    for one, other in combinations(names, 2):
        yield _pair(one, other, votes, "votes")
        if paths and not trace["winner"]:
            yield _pair(one, other, paths, "strongest path")
    if trace["winner"]:
        yield f"{shown(trace['winner'])} is preferred to each other by a majority"
    else:
        level = ", ".join(shown(one) for one in trace["undefeated"])
        yield f"nobody is preferred to each other by a majority; undecided among {level}"
    circle = trace["cycle"]
    if circle:
        steps = [shown(one) for one in (*circle, circle[0])]
        yield f"majorities go in a circle: {' over '.join(steps)}"
    ranking = trace["ranking"]
    for one in ranking:
        if one["points"] is not None:
            yield f"{shown(one['candidate'])}: {one['points']:g} points"
    said = shown(ranking[0]["candidate"])
    for before, one in pairwise(ranking):
        said += (" = " if one["rank"] == before["rank"] else " > ") + shown(one["candidate"])
    yield f"ranking: {said}"


def _pair(one: str, other: str, numbers: Mapping[str, Any], what: str) -> str:
    first, second = numbers[one][other], numbers[other][one]
    if second > first:
        one, other, first, second = other, one, second, first
    sign = "over" if first > second else "level with"
    return f"{shown(one)} {sign} {shown(other)}: {what} {first} to {second}"

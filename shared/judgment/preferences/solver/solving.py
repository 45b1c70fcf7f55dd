"""Options, participants and a policy in; a ranking, what is out, and every number in between."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import fsum
from typing import TYPE_CHECKING, Any

from judgment.preferences.solver.policies import STALE_SHARE, TIE_BREAK, worst_first
from judgment.preferences.solver.problem import Stated, digest_of, stated
from judgment.preferences.solver.words import reasons_against

if TYPE_CHECKING:
    from judgment.preferences.solver.options import Constraint, Option, Participant

TRACE_VERSION = 1

Contributions = dict[str, float]
Place = tuple[float, ...]
Result = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Ranked:
    """An option's place from 1; equal ranks are ties. `score` is the policy's, six decimals.

    `heard` of `of` participants have an opinion on it.
    """

    option: str
    rank: int
    score: float
    heard: int
    of: int


@dataclass(frozen=True, slots=True)
class Excluded:
    """An option that is out, and each veto and unmet constraint that puts it there, in words."""

    option: str
    reasons: tuple[str, ...]

    @property
    def reason(self) -> str:
        """All of them on one line."""
        return "; ".join(self.reasons)


@dataclass(frozen=True, slots=True)
class Solution:
    """The ranking best first, the excluded by id, and the trace (JSON values only)."""

    ranking: tuple[Ranked, ...]
    excluded: tuple[Excluded, ...]
    trace: dict[str, Any]


def solve(
    options: Iterable[Option],
    participants: Iterable[Participant],
    *,
    policy: str = "weighted-sum",
    normalise: str = "mean",
    constraints: Iterable[Constraint] = (),
    veto_below: float = -0.5,
    forced_order: bool = False,
) -> Solution:
    """Rank `options` for `participants`; what each policy means stands in `policies`.

    Pure: no clock (weights are taken as they are given), no chance, no model. The trace holds of
    each participant only the opinions on keys that some option names. Raises InvalidRequest for
    anything empty, doubled, out of range, unknown or over the limits.
    """
    problem = stated(
        options,
        participants,
        policy=policy,
        normalise=normalise,
        constraints=constraints,
        veto_below=veto_below,
        forced_order=forced_order,
    )
    inputs = problem.inputs()
    counted = [_contributions(one["keys"]) for one in inputs["participants"]]
    results = {one.id: _result(problem, one, counted) for one in problem.options}
    _add_vetoes(problem, results)
    _add_unmet(problem, results)
    ranking, ties = _ranked(problem, results)
    excluded = tuple(
        Excluded(identity, reasons)
        for identity, one in results.items()
        if (reasons := reasons_against(inputs, one))
    )
    trace = {
        "v": TRACE_VERSION,
        "inputs": inputs,
        "digest": digest_of(inputs),
        "contributions": {
            one.id: own for one, own in zip(problem.participants, counted, strict=True)
        },
        "options": results,
        "ties": ties,
        "tie_break": TIE_BREAK if problem.forced_order else None,
        "ranking": [
            {"option": one.option, "rank": one.rank, "score": one.score} for one in ranking
        ],
        "excluded": [one.option for one in excluded],
    }
    return Solution(ranking, excluded, trace)


def _contributions(opinions: dict[str, Any]) -> Contributions:
    """What each opinion counts for: weight x confidence, half of it when stale."""
    return {
        key: one["weight"] * one["confidence"] * (STALE_SHARE if one["stale"] else 1.0) + 0.0
        for key, one in opinions.items()
    }


def _result(problem: Stated, option: Option, counted: Sequence[Contributions]) -> Result:
    """What one option is worth to each participant, in their order, and who says nothing."""
    keys = option.keys
    mean = problem.normalise == "mean"
    satisfaction: list[float] = []
    opinions: list[int] = []
    for own in counted:
        parts = [own[key] for key in keys if key in own]
        count = len(parts)
        if count > 1:
            satisfaction.append(fsum(parts) / count if mean else fsum(parts))
        else:
            satisfaction.append(parts[0] if parts else 0.0)
        opinions.append(count)
    silent: list[str] = []
    if 0 in opinions:
        people = zip(problem.participants, opinions, strict=True)
        silent = [one.id for one, count in people if not count]
    result: Result = {
        "satisfaction": satisfaction,
        "opinions": opinions,
        "silent": silent,
        "heard": len(opinions) - len(silent),
        "of": len(opinions),
        "vetoes": [],
        "unmet": [],
        "score": None,
        "rank": None,
    }
    if problem.policy.by_the_worst_off:
        result["worst_first"] = worst_first(satisfaction)
    return result


def _add_vetoes(problem: Stated, results: dict[str, Result]) -> None:
    if problem.veto_below is None:
        return
    for person in problem.participants:
        against = {key for key, one in person.opinions.items() if one.weight < problem.veto_below}
        for option in problem.options if against else ():
            results[option.id]["vetoes"] += [
                {"by": person.id, "key": key, "weight": person.opinions[key].weight}
                for key in option.keys
                if key in against
            ]


def _add_unmet(problem: Stated, results: dict[str, Result]) -> None:
    for place, constraint in enumerate(problem.constraints):
        for option in problem.options:
            found = (
                option.attributes.get(constraint.subject) if constraint.amount is not None else None
            )
            if not _is_met(constraint, option, found):
                results[option.id]["unmet"].append({"constraint": place, "found": found})


def _is_met(constraint: Constraint, option: Option, found: float | None) -> bool:
    """Fails closed: what is unknown of an option is not within a limit."""
    if constraint.kind == "requires":
        return constraint.subject in option.keys
    if constraint.kind == "excludes":
        return constraint.subject not in option.keys
    if found is None or constraint.amount is None:
        return False
    return (
        found <= constraint.amount if constraint.kind == "at_most" else found >= constraint.amount
    )


def _ranked(
    problem: Stated, results: dict[str, Result]
) -> tuple[tuple[Ranked, ...], list[list[str]]]:
    """The ranking with scores and ranks written into `results`, and the groups that tie."""
    place = _place_of(problem)
    placed: list[tuple[Place, str]] = []
    for identity, one in results.items():
        if not one["vetoes"] and not one["unmet"]:
            one["score"] = problem.policy.score(one["satisfaction"])
            placed.append((place(one), identity))
    placed.sort()
    ranking: list[Ranked] = []
    groups: list[list[str]] = []
    last: Place | None = None
    for number, (here, identity) in enumerate(placed, start=1):
        if here == last:
            groups[-1].append(identity)
        else:
            groups.append([identity])
        rank = number if problem.forced_order or here != last else ranking[-1].rank
        last = here
        one = results[identity]
        one["rank"] = rank
        ranking.append(Ranked(identity, rank, one["score"], one["heard"], one["of"]))
    return tuple(ranking), [group for group in groups if len(group) > 1]


def _place_of(problem: Stated) -> Callable[[Result], Place]:
    """What is compared, the smallest first: the score, or each participant from the worst-off."""
    if problem.policy.by_the_worst_off:
        return lambda one: tuple([-value for value in one["worst_first"]])
    return lambda one: (-one["score"],)

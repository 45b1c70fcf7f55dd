"""Every number of a trace derived a second time, from the inputs in the trace.

`solve` is written to be quick; this is written to be read beside the definitions in `policies`,
and shares with it those formulas, the checks of the inputs and their digest, no more. It works
out what the whole trace has to be and names every place where the given one is something else,
so nothing in a trace can be changed unnoticed: a derived number no longer follows, an input that
matters moves what follows, and one that does not matter (a confidence beside weight 0) breaks the
digest.

A digest keeps nobody from writing another trace of other inputs. That one is then true of those
inputs: whether they are the participants' own is not for arithmetic to say.
"""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Any, cast

from judgment.kit.errors import InvalidRequest
from judgment.preferences.solver.differences import is_object, named
from judgment.preferences.solver.policies import STALE_SHARE, TIE_BREAK, rounded, worst_first
from judgment.preferences.solver.problem import Stated, digest_of, stated
from judgment.preferences.solver.reading import (
    constraints_from,
    options_from,
    participants_from,
)
from judgment.preferences.solver.recounting import recounted

if TYPE_CHECKING:
    from judgment.preferences.solver.options import Constraint, Opinion, Option, Participant

DEFAULT_VETO = -0.5

Derived = dict[str, Any]


def verify(trace: Any) -> list[str]:
    """What in `trace` does not follow from its own inputs, one line each; empty when all does.

    Takes any value: one that is not a trace is a difference too. Nothing is raised.
    """
    try:
        inputs = _inputs(trace)
        if "ballots" in inputs:
            return named(recounted(inputs), trace)
        problem = _problem(inputs)
    except InvalidRequest as reason:
        return [f"the inputs cannot be read: {reason.message}"]
    return named(_derive(problem), trace)


def _inputs(trace: Any) -> dict[str, Any]:
    inputs: Any = cast("dict[str, Any]", trace).get("inputs") if is_object(trace) else None
    if not is_object(inputs):
        raise InvalidRequest("a trace is an object with inputs")
    return cast("dict[str, Any]", inputs)


def _problem(inputs: dict[str, Any]) -> Stated:
    """The problem that the trace says it solves. Raises InvalidRequest."""
    veto = inputs.get("veto_below")
    return stated(
        options_from(inputs.get("options")),
        participants_from(inputs.get("participants")),
        policy=inputs.get("policy"),
        normalise=inputs.get("normalise"),
        constraints=constraints_from(inputs.get("constraints")),
        veto_below=DEFAULT_VETO if veto is None else veto,
        forced_order=inputs.get("forced_order"),
    )


def _derive(problem: Stated) -> Derived:
    """The trace that follows."""
    inputs = problem.inputs()
    results = {option.id: _of_option(problem, option) for option in problem.options}
    ranked = [one for one in results if not results[one]["vetoes"] and not results[one]["unmet"]]
    places = {one: _place(problem, results[one]) for one in ranked}
    for one in ranked:
        results[one]["score"] = problem.policy.score(results[one]["satisfaction"])
        better = [other for other in ranked if places[other] > places[one]]
        before = [other for other in ranked if places[other] == places[one] and other < one]
        results[one]["rank"] = 1 + len(better) + (len(before) if problem.forced_order else 0)
    order = sorted(ranked, key=lambda one: (results[one]["rank"], one))
    level = {one: [other for other in order if places[other] == places[one]] for one in order}
    return {
        "v": 1,
        "inputs": inputs,
        "digest": digest_of(inputs),
        "contributions": {
            one.id: {key: _counts(one, key) for key in given["keys"]}
            for one, given in zip(problem.participants, inputs["participants"], strict=True)
        },
        "options": results,
        "ties": [tie for one, tie in level.items() if len(tie) > 1 and tie[0] == one],
        "tie_break": TIE_BREAK if problem.forced_order else None,
        "ranking": [
            {"option": one, "rank": results[one]["rank"], "score": results[one]["score"]}
            for one in order
        ],
        "excluded": sorted(one for one in results if one not in places),
    }


def _of_option(problem: Stated, option: Option) -> Derived:
    people = problem.participants
    silent = [one.id for one in people if not _held(one, option)]
    satisfaction = [_satisfaction(problem, one, option) for one in people]
    derived: Derived = {
        "satisfaction": satisfaction,
        "opinions": [len(_held(one, option)) for one in people],
        "silent": silent,
        "heard": len(people) - len(silent),
        "of": len(people),
        "vetoes": [
            {"by": one.id, "key": key, "weight": one.opinions[key].weight}
            for one in people
            for key in _held(one, option)
            if problem.veto_below is not None and one.opinions[key].weight < problem.veto_below
        ],
        "unmet": [
            {"constraint": place, "found": _found(condition, option)}
            for place, condition in enumerate(problem.constraints)
            if not _meets(condition, option)
        ],
        "score": None,
        "rank": None,
    }
    if problem.policy.by_the_worst_off:
        derived["worst_first"] = worst_first(satisfaction)
    return derived


def _held(person: Participant, option: Option) -> list[str]:
    return [key for key in option.keys if key in person.opinions]


def _counts(person: Participant, key: str) -> float:
    opinion: Opinion = person.opinions[key]
    full = opinion.weight * opinion.confidence
    return (full * STALE_SHARE if opinion.stale else full) + 0.0


def _satisfaction(problem: Stated, person: Participant, option: Option) -> float:
    counted = [_counts(person, key) for key in _held(person, option)]
    if not counted:
        return 0.0
    return fsum(counted) / len(counted) if problem.normalise == "mean" else fsum(counted)


def _found(condition: Constraint, option: Option) -> float | None:
    limited = condition.kind in ("at_most", "at_least")
    return option.attributes.get(condition.subject) if limited else None


def _meets(condition: Constraint, option: Option) -> bool:
    found, amount = _found(condition, option), condition.amount
    return {
        "requires": condition.subject in option.keys,
        "excludes": condition.subject not in option.keys,
        "at_most": found is not None and amount is not None and found <= amount,
        "at_least": found is not None and amount is not None and found >= amount,
    }[condition.kind]


def _place(problem: Stated, derived: Derived) -> list[float]:
    """The greater, the better."""
    if problem.policy.by_the_worst_off:
        return worst_first(derived["satisfaction"])
    return [rounded(problem.policy.score(derived["satisfaction"]))]

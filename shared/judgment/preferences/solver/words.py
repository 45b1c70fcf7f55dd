"""A trace in plain words, made when somebody asks. Whatever names it holds, a line stays a line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from judgment.preferences.solver.ballot_words import ballot_words
from judgment.preferences.solver.policies import POLICIES, STALE_SHARE, Policy, rounded
from judgment.preferences.solver.text import listed, quoted, shown

Result = Mapping[str, Any]


def words(trace: Mapping[str, Any], *, detail: bool = True) -> list[str]:
    """Every step from opinions to ranking, one a line, options in the order of their ids.

    Without `detail` a line for each opinion is left out; what remains is who was silent, what is
    out and why, the scores, what put each option before the next, and the ranking. `trace` is one
    that `solve` or `count` made, or that `verify` has nothing to say against.
    """
    inputs = trace["inputs"]
    if "ballots" in inputs:
        return list(ballot_words(trace))
    policy = POLICIES[inputs["policy"]]
    lines: list[str] = []
    for option in inputs["options"]:
        result = trace["options"][option["id"]]
        name = shown(option["id"])
        if option["title"]:
            lines.append(f"{name}: titled {quoted(option['title'])}")
        if detail:
            lines += [f"{name}: {line}" for line in _opinions(trace, option, result)]
        if result["silent"]:
            lines.append(
                f"{name}: heard {result['heard']} of {result['of']}, silent and counted as 0: "
                f"{listed(result['silent'])}"
            )
        lines += [f"{name}: {reason}" for reason in reasons_against(inputs, result)]
        if result["score"] is not None:
            lines.append(f"{name}: {policy.called} {result['score']:+.6f}")
    lines += [_comparison(trace, policy, one, after) for one, after in pairwise(trace["ranking"])]
    lines.append(_ranking(trace))
    return lines


def reasons_against(inputs: Mapping[str, Any], result: Result) -> tuple[str, ...]:
    """Each veto and unmet constraint of one option, by whom."""
    vetoes = [
        f"veto by {shown(one['by'])} on {shown(one['key'])} "
        f"({_below(one['weight'], inputs['veto_below'])} < {inputs['veto_below']!r})"
        for one in result["vetoes"]
    ]
    conditions = inputs["constraints"]
    unmet = [_unmet(conditions[one["constraint"]], one["found"]) for one in result["unmet"]]
    return (*vetoes, *unmet)


def _below(weight: float, threshold: float) -> str:
    """Six decimals, unless they would hide that it lies below."""
    short = f"{weight:.6f}"
    return short if float(short) < threshold else repr(weight)


def _unmet(condition: Mapping[str, Any], found: float | None) -> str:
    by, amount = condition["by"], condition["amount"]
    asked = "" if by is None else f", asked by {shown(by)}"
    subject = shown(condition["subject"])
    if amount is None:
        return f"out, {condition['kind']} {subject}{asked}"
    said = "is not given" if found is None else f"is {found!r}"
    return f"out, {subject} {said}, {condition['kind']} {amount!r}{asked}"


def _opinions(trace: Mapping[str, Any], option: Mapping[str, Any], result: Result) -> Iterator[str]:
    """Each participant's opinions on the option's keys, and what they come to if there are more."""
    inputs = trace["inputs"]
    combined = "mean" if inputs["normalise"] == "mean" else "sum"
    for place, person in enumerate(inputs["participants"]):
        who = shown(person["id"])
        for key in option["keys"]:
            if key in person["keys"]:
                counts = trace["contributions"][person["id"]][key]
                yield f"{who} {shown(key)} {_opinion(person['keys'][key], counts)}"
        count = result["opinions"][place]
        if count > 1:
            yield f"{who} {combined} of {count} {_signed(result['satisfaction'][place])}"


def _opinion(opinion: Mapping[str, Any], counts: float) -> str:
    said = f"weight {opinion['weight']:+.6f}"
    if opinion["confidence"] < 1:
        said += f", confidence {opinion['confidence']:.6f}"
    if opinion["stale"]:
        said += f", stale {STALE_SHARE}"
    full = opinion["confidence"] == 1 and not opinion["stale"]
    return said if full else f"{said}, counts {_signed(counts)}"


def _comparison(
    trace: Mapping[str, Any], policy: Policy, one: Mapping[str, Any], after: Mapping[str, Any]
) -> str:
    """Why the first does not stand behind the second."""
    names = shown(one["option"]), shown(after["option"])
    called, higher, lower = policy.called, one["score"], after["score"]
    if policy.by_the_worst_off:
        first, second = (trace["options"][each["option"]]["worst_first"] for each in (one, after))
        pairs = zip(first, second, strict=True)
        differing = ((place, pair) for place, pair in enumerate(pairs, 1) if pair[0] != pair[1])
        place, (higher, lower) = next(differing, (1, (higher, lower)))
        called = "worst-off" if place == 1 else f"number {place} from the worst-off"
    if higher != lower:
        return f"{names[0]} before {names[1]}: {called} {higher:+.6f} over {lower:+.6f}"
    if one["rank"] == after["rank"]:
        return f"{names[0]} level with {names[1]}: {called} {higher:+.6f} both"
    return (
        f"{names[0]} before {names[1]}: {called} {higher:+.6f} both, a tie broken by "
        f"{trace['tie_break']}"
    )


def _ranking(trace: Mapping[str, Any]) -> str:
    """`a > b = c | vetoed: d | excluded: e`, without the parts that name nobody."""
    said = ""
    last = None
    for one in trace["ranking"]:
        said += ("" if last is None else " = " if one["rank"] == last else " > ") + shown(
            one["option"]
        )
        last = one["rank"]
    results = trace["options"]
    vetoed = [one for one in trace["excluded"] if results[one]["vetoes"]]
    excluded = [one for one in trace["excluded"] if not results[one]["vetoes"]]
    parts = [said or "nothing is left"]
    for title, names in (("vetoed", vetoed), ("excluded", excluded)):
        if names:
            parts.append(f"{title}: {', '.join(shown(one) for one in names)}")
    return f"ranking: {' | '.join(parts)}"


def _signed(number: float) -> str:
    return f"{rounded(number):+.6f}"

"""Decisions → profile. Pure: the same decisions give the same profile, whatever their order.

What decisions with options, times and confidences support is computed here: category patterns,
option preferences, confidence calibration, timing, occasion noise. The other signals need
stimuli that come with part 2 and stay absent, which reads as sparse.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any
from uuid import UUID

from judgment.contract.profile import CATEGORIES
from judgment.kit.hashing import digest
from judgment.profile.decision import Decision, in_order
from judgment.profile.model import PlayerDecisionProfile
from judgment.profile.shapes import SPARSE_BELOW
from judgment.profile.weighing import Weighing, weigh

READING_WORDS_A_MINUTE = 238
READING_MS_A_WORD = 60_000 / READING_WORDS_A_MINUTE
QUICK_BELOW_PACE = 1.0
DELIBERATE_FROM_PACE = 4.0
RISK_CUTS = (0.35, 0.65)
PSEUDO_DECISIONS = 4
PERSONAL_THEME = "personal"
_NUMBERING = re.compile(r"[\s#(,:-]*\d+(\s*(of|/)\s*\d+)?\)?$")


def build(decisions: Iterable[Decision]) -> PlayerDecisionProfile:
    """The profile that these decisions support, without texts (`composer` writes those)."""
    ordered = in_order(decisions)
    firsts = [d for d in ordered if d.retest_of is None]
    patterns: dict[str, Any] = {}
    tallies: dict[str, Any] = {}
    held: dict[UUID, bool] = {}
    for category in CATEGORIES:
        inside = [d for d in firsts if d.category == category]
        if not inside:
            continue
        weighing = weigh(inside)
        patterns[category] = _pattern(inside, weighing)
        tallies[category] = dict(weighing.tallies)
        held.update(weighing.held)
    again = repeats(ordered)
    signals = {
        "confidence_calibration": _calibration(ordered, held, again),
        "timing_signature": _timing(ordered),
        "occasion_noise": _occasion_noise(again),
    }
    documents: dict[str, Any] = {name: document for name, document in signals.items() if document}
    documents |= {
        "category_patterns": patterns,
        "context_rules": [],
        "option_preferences": tallies,
    }
    return PlayerDecisionProfile(games_analyzed=len(ordered), documents=documents)


def repeats(ordered: Sequence[Decision]) -> dict[UUID, bool]:
    """Each decision made before, by id, and whether it came out as the time before.

    A repeat is a retest, or the same options offered again in any order; the answers are compared
    by what the option offers, never by its position or id.
    """
    last: dict[str, str] = {}
    by_id: dict[UUID, str] = {}
    found: dict[UUID, bool] = {}
    for decision in ordered:
        key = _offer(decision)
        if decision.retest_of is not None:
            key = by_id.get(decision.retest_of, key)
        by_id[decision.id] = key
        chosen = decision.chosen
        answer = digest(_content(chosen.to_json())) if chosen else decision.chosen_option_id
        if key in last:
            found[decision.id] = last[key] == answer
        last[key] = answer
    return found


def pace(decision: Decision) -> float | None:
    """Response time over the time that reading title and options takes, or None when untimed."""
    if not decision.response_ms:
        return None
    texts = [decision.scenario_title]
    texts += [f"{option.label} {option.description}" for option in decision.options]
    words = sum(len(text.split()) for text in texts)
    return decision.response_ms / (max(words, 1) * READING_MS_A_WORD)


def _offer(decision: Decision) -> str:
    """What was decided between: category and options, whatever their order and ids."""
    offered = sorted(digest(_content(option.to_json())) for option in decision.options)
    return digest([decision.category, *offered])


def _content(option: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in option.items() if key != "id"}


def _pattern(inside: Sequence[Decision], weighing: Weighing) -> dict[str, Any]:
    risk, speed = _risk(inside), _speed(inside)
    return {
        "decisions": len(inside),
        "kind": _kind(inside),
        **weighing.document,
        "risk": risk,
        "risk_tolerance": _risk_level(risk),
        "speed": speed,
        "decision_speed": _speed_level(speed),
    }


def _kind(inside: Sequence[Decision]) -> dict[str, Any] | None:
    """The one title of all decisions, numbering taken off, or None where there are several.

    A personal scenario's title comes from the owner's personal context and is never used: texts
    made from the profile must not carry it (ruling 5).
    """
    if any(d.theme == PERSONAL_THEME for d in inside):
        return None
    titles = {_NUMBERING.sub("", d.scenario_title).strip() for d in inside}
    title = titles.pop()
    return None if titles or not title else {"title": title, "n": len(inside)}


def _risk(inside: Sequence[Decision]) -> dict[str, float]:
    """Where between the safest and the riskiest option on offer the choices lie, shrunk to 0.5."""
    places: list[float] = []
    for decision in inside:
        known = [o.risk for o in decision.options if o.risk is not None]
        chosen = decision.chosen
        if chosen is None or chosen.risk is None or len(known) < 2 or min(known) == max(known):
            continue
        places.append((chosen.risk - min(known)) / (max(known) - min(known)))
    shrunk = (sum(places) + 0.5 * PSEUDO_DECISIONS) / (len(places) + PSEUDO_DECISIONS)
    return {"n": len(places), "taken": round(shrunk, 4)}


def _risk_level(risk: Mapping[str, float]) -> str:
    low, high = RISK_CUTS
    if risk["n"] < SPARSE_BELOW or low < risk["taken"] < high:
        return "medium"
    return "low" if risk["taken"] <= low else "high"


def _speed(inside: Sequence[Decision]) -> dict[str, float]:
    paces = [p for p in map(pace, inside) if p is not None]
    return {"n": len(paces), "pace": round(median(paces), 4) if paces else 0.0}


def _speed_level(speed: Mapping[str, float]) -> str:
    if speed["n"] < SPARSE_BELOW:
        return "balanced"
    if speed["pace"] < QUICK_BELOW_PACE:
        return "quick"
    return "deliberate" if speed["pace"] >= DELIBERATE_FROM_PACE else "balanced"


def _calibration(
    ordered: Sequence[Decision], held: Mapping[UUID, bool], again: Mapping[UUID, bool]
) -> dict[str, float] | None:
    """Stated confidence against what holds: a later retest decides, else the other decisions."""
    outcomes = dict(held)
    for decision in ordered:
        if decision.retest_of is not None and decision.id in again:
            outcomes[decision.retest_of] = again[decision.id]
    judged = [
        (d.confidence, outcomes[d.id])
        for d in ordered
        if d.confidence is not None and d.id in outcomes
    ]
    if not judged:
        return None
    n, holding = len(judged), sum(kept for _, kept in judged)
    mean = sum(confidence for confidence, _ in judged) / n
    gap = (mean - holding / n) * n / (n + PSEUDO_DECISIONS)
    return {
        "n": n,
        "mean_confidence": round(mean, 4),
        "held_count": holding,
        "held": round(holding / n, 4),
        "overconfidence": round((gap + 1) / 2, 4),
    }


def _timing(ordered: Sequence[Decision]) -> dict[str, float] | None:
    timed = [(d.response_ms, p) for d in ordered if d.response_ms and (p := pace(d)) is not None]
    if not timed:
        return None
    n, middle = len(timed), median(p for _, p in timed)
    deliberation = middle / (middle + 2)
    return {
        "n": n,
        "seconds": round(median(ms for ms, _ in timed) / 1000, 3),
        "pace": round(middle, 4),
        "deliberation": round(
            (deliberation * n + 0.5 * PSEUDO_DECISIONS) / (n + PSEUDO_DECISIONS), 4
        ),
    }


def _occasion_noise(again: Mapping[UUID, bool]) -> dict[str, float] | None:
    if not again:
        return None
    n, same = len(again), sum(again.values())
    return {"n": n, "same": same, "noise": round((n - same + 1) / (n + 2), 4)}

"""Decisions → profile. Pure: the same decisions give the same profile, whatever their order.

A profile is made by taking in one decision after another (`advance`) and reading off what they add
up to (`profile_of`). So it can be carried forward from what was kept of earlier ones, and comes out
the same as from the beginning: `build` is nothing but that from the beginning.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from statistics import median
from typing import Any

from judgment.contract.profile import CATEGORIES
from judgment.profile.accumulation import (
    Case,
    CategoryPart,
    Finished,
    Judged,
    Marks,
    MemoryMarks,
    State,
)
from judgment.profile.advance import advance
from judgment.profile.decision import Decision, in_order
from judgment.profile.model import PlayerDecisionProfile
from judgment.profile.readings import PSEUDO_DECISIONS, signal_documents
from judgment.profile.shapes import SPARSE_BELOW
from judgment.profile.weighing import weigh

QUICK_BELOW_PACE = 1.0
DELIBERATE_FROM_PACE = 4.0
RISK_CUTS = (0.35, 0.65)
ONE_KIND_FROM = 0.75


def build(decisions: Iterable[Decision]) -> PlayerDecisionProfile:
    """The profile that these decisions support, without texts (`composer` writes those)."""
    return profile_of(gathered(decisions, MemoryMarks()))


def gathered(decisions: Iterable[Decision], marks: Marks) -> State:
    """Everything that a profile is carried forward from, from the beginning."""
    state = State()
    for decision in in_order(decisions):
        advance(state, decision, marks)
    return state


def profile_of(state: State) -> PlayerDecisionProfile:
    """The profile after the decisions taken in; finishes the domains that are at hand."""
    owner = state.owner
    for name, part in state.categories.items():
        owner.finished[name] = _finished(part)
    owner.finished = {name: owner.finished[name] for name in CATEGORIES if name in owner.finished}
    documents: dict[str, Any] = {
        **signal_documents(owner),
        "category_patterns": {name: done.pattern for name, done in owner.finished.items()},
        "context_rules": [],
        "option_preferences": {name: done.tallies for name, done in owner.finished.items()},
    }
    return PlayerDecisionProfile(games_analyzed=owner.decisions, documents=documents)


def _finished(part: CategoryPart) -> Finished:
    weighing = weigh(part.cases)
    risk, speed = _risk(part), _speed(part)
    pattern: dict[str, Any] = {
        "decisions": part.decisions,
        "kind": _kind(part),
        **weighing.document,
        "risk": risk,
        "risk_tolerance": _risk_level(risk),
        "speed": speed,
        "decision_speed": _speed_level(speed),
    }
    return Finished(pattern, dict(weighing.tallies), _judged(part.cases, weighing.held))


def _kind(part: CategoryPart) -> dict[str, Any] | None:
    """The title of three quarters of the decisions or more, and of how many; None without one."""
    title = max(part.titles, key=lambda each: (part.titles[each], each), default=None)
    if title is None or part.titles[title] < ONE_KIND_FROM * part.decisions:
        return None
    return {"title": title, "n": part.titles[title]}


def _judged(cases: Sequence[Case], held: Mapping[str, bool]) -> Judged:
    """Confident decisions against what holds: the last retest decides, else the other decisions."""
    known = [
        (case.confidence, outcome)
        for case in cases
        if case.confidence is not None
        and (outcome := held.get(case.id) if case.held is None else case.held) is not None
    ]
    return Judged(len(known), sum(c for c, _ in known), sum(outcome for _, outcome in known))


def _risk(part: CategoryPart) -> dict[str, float]:
    """Where between the safest and the riskiest option on offer the choices lie, shrunk to 0.5."""
    shrunk = (part.places + 0.5 * PSEUDO_DECISIONS) / (part.placed + PSEUDO_DECISIONS)
    return {"n": part.placed, "taken": shrunk}


def _risk_level(risk: Mapping[str, float]) -> str:
    low, high = RISK_CUTS
    if risk["n"] < SPARSE_BELOW or low < risk["taken"] < high:
        return "medium"
    return "low" if risk["taken"] <= low else "high"


def _speed(part: CategoryPart) -> dict[str, float]:
    """The median pace of the timed among the latest 240; `n` counts all that were timed."""
    paces = [case.pace for case in part.cases if case.pace is not None]
    return {"n": part.timed, "pace": median(paces) if paces else 0.0}


def _speed_level(speed: Mapping[str, float]) -> str:
    if speed["n"] < SPARSE_BELOW:
        return "balanced"
    if speed["pace"] < QUICK_BELOW_PACE:
        return "quick"
    return "deliberate" if speed["pace"] >= DELIBERATE_FROM_PACE else "balanced"

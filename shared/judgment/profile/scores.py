"""The two scores, each a sum of terms that only evidence can raise (ruling 22, ADR 047).

`sync_score` (0 to 100) says how much of the owner's judgment is on record: breadth over four
domains and twelve signals. `model_confidence` (0 to 1) says how far what is on record can be
relied on: mostly how many decisions stand behind it. Neither says how good or how predictable
the owner is.

Every term is a reliability r(n) = n / (n + 4), n the decisions behind it. The 4 is measured: over
348 people with 12 real decisions each, the weights from one half of a person's choices correlate
0.59 with those from the other half, which is n / (n + 4.2) at n = 6 (Spearman-Brown). Values are
rounded to two decimals so that anyone can add the terms again by hand.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from judgment.contract.profile import CATEGORIES, ScoreExplanation, ScoreTerm
from judgment.profile.signals import SIGNALS, in_number

if TYPE_CHECKING:
    from judgment.profile.model import PlayerDecisionProfile

HALF_RELIABLE = 4
SYNC_PER_CATEGORY = 10.0
SYNC_PER_SIGNAL = 5.0
CONFIDENCE_DECISIONS = 0.6
CONFIDENCE_PER_CATEGORY = 0.04
CONFIDENCE_PER_SIGNAL = 0.02
SYNC_FORMULA = "10 · r(decisions) per domain + 5 · r(decisions) per signal; r(n) = n / (n + 4)"
CONFIDENCE_FORMULA = (
    "0.60 · r(all decisions) + 0.04 · r(decisions) per domain + 0.02 · r(decisions) per signal; "
    "r(n) = n / (n + 4)"
)


def reliability(supporting: int) -> float:
    """n / (n + 4), rounded to two decimals: 0 at 0, one half at 4, three quarters at 12."""
    return round(supporting / (supporting + HALF_RELIABLE), 2)


def sync_score(profile: PlayerDecisionProfile) -> float:
    """0 to 100: how much of the owner's judgment is on record."""
    return _total(_breadth(profile, SYNC_PER_CATEGORY, SYNC_PER_SIGNAL))


def model_confidence(profile: PlayerDecisionProfile) -> float:
    """0 to 1: how far the profile can be relied on."""
    return _total(_confidence(profile))


def explain_sync_score(profile: PlayerDecisionProfile) -> ScoreExplanation:
    """The sync score with the terms it is the sum of."""
    return _explained(_breadth(profile, SYNC_PER_CATEGORY, SYNC_PER_SIGNAL), SYNC_FORMULA)


def explain_model_confidence(profile: PlayerDecisionProfile) -> ScoreExplanation:
    """The model confidence with the terms it is the sum of."""
    return _explained(_confidence(profile), CONFIDENCE_FORMULA)


def explain_kept(score: float) -> ScoreExplanation:
    """A score that an existing Sync app owns: we pass it on and cannot take it apart."""
    term = ScoreTerm(
        name="kept",
        meaning="the number that the existing Sync app stored for this owner",
        value=score,
        weight=1.0,
        contribution=score,
    )
    return ScoreExplanation(score=score, formula="kept from the Sync app", kept=True, terms=[term])


class _Term(NamedTuple):
    """A term before it is put into words: a read needs only the sum."""

    name: str
    supporting: int
    unit: str
    weight: float

    @property
    def contribution(self) -> float:
        return round(self.weight * reliability(self.supporting), 6)


def _confidence(profile: PlayerDecisionProfile) -> list[_Term]:
    every = _Term("decisions", profile.games_analyzed, "decisions in all", CONFIDENCE_DECISIONS)
    return [every, *_breadth(profile, CONFIDENCE_PER_CATEGORY, CONFIDENCE_PER_SIGNAL)]


def _breadth(profile: PlayerDecisionProfile, per_category: float, per_signal: float) -> list[_Term]:
    decided = {pattern.category: pattern.decisions for pattern in profile.patterns}
    categories = [
        _Term(f"category:{name}", decided.get(name, 0), f"decisions in {name}", per_category)
        for name in CATEGORIES
    ]
    signals = [
        _Term(f"signal:{s.name}", profile.signal(s.name).evidence, s.unit, per_signal)
        for s in SIGNALS
    ]
    return categories + signals


def _total(terms: Iterable[_Term]) -> float:
    return round(sum(term.contribution for term in terms), 6)


def _explained(terms: list[_Term], formula: str) -> ScoreExplanation:
    said = [
        ScoreTerm(
            name=term.name,
            meaning=f"{term.supporting} {in_number(term.supporting, term.unit)}",
            value=reliability(term.supporting),
            weight=term.weight,
            contribution=term.contribution,
        )
        for term in terms
    ]
    return ScoreExplanation(score=_total(terms), formula=formula, kept=False, terms=said)

"""Which round an owner is offered next: pure, deterministic, and told everything it depends on.

In this order: a retest where one falls due in the count of rounds; a sequel whose outcome waits to
be told; of what the owner has not seen, the round that feeds the signals with least data; and when
nothing unseen may be offered, a retest again. A round that is open still never comes here: it is
shown again as it was (`offering`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.kit.hashing import sha256_hex
from judgment.profile.shapes import RICH_FROM

if TYPE_CHECKING:
    from judgment.contract.rounds import CanonicalTheme
    from judgment.scenarios.model import Scenario

TWIN_DISTANCE = 10
"""Rounds that lie at least between the two of a matched pair, counted from one to the other."""
SEQUEL_DISTANCE = 3
"""Rounds from a decision to the sequel that tells how it turned out, at least."""
CENTURY_DAYS = 36_525

ANY_ROUND = frozenset(
    {
        "reasoning_style_distribution",
        "attention_distribution",
        "authenticity",
        "confidence_calibration",
        "timing_signature",
    }
)
"""Signals that every answer with a reason, a confidence and a time feeds."""
PREMISE = frozenset({"self_awareness"})
MAJORITY = frozenset({"peer_reading", "dissent_profile"})
COUNTER_ARGUMENT = frozenset({"persuadability"})
PAIR = frozenset({"name_bias_signal"})
OUTCOME = frozenset({"learning_rate"})
RETEST = frozenset({"occasion_noise"})


@dataclass(frozen=True)
class Settings:
    """A decision is asked again after so many days, and in one of so many rounds (ruling 23).

    Raises ValueError for less than no day or one round, and for more than a century.
    """

    retest_after_days: int = 30
    retest_one_in: int = 20

    def __post_init__(self) -> None:
        if not 0 <= self.retest_after_days <= CENTURY_DAYS or self.retest_one_in < 1:
            raise ValueError("retests come after 0 to 36525 days, in one of at least one round")


@dataclass(frozen=True)
class Candidate:
    """A scenario that may be offered to anybody: canonical, not archived.

    `feeds` are the signals that answering it gives evidence for.
    """

    id: UUID
    theme: str
    feeds: frozenset[str] = ANY_ROUND
    pair: str | None = None
    sequel_of: UUID | None = None


@dataclass(frozen=True)
class Answered:
    """What the owner decided on one scenario, in the end.

    `first_round` and `last_round` count the owner's rounds from 1; `times` counts the decisions;
    `decision_id` and `last_at` are of the latest.
    """

    scenario_id: UUID
    decision_id: UUID
    first_round: int
    last_round: int
    last_at: datetime
    times: int = 1


@dataclass(frozen=True)
class History:
    """One owner: how many rounds they played, on what, and the evidence by signal."""

    user_id: UUID
    rounds: int = 0
    answered: Mapping[UUID, Answered] = field(default_factory=dict[UUID, Answered])
    evidence: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True)
class Choice:
    """What to serve. `retest_of`: the latest decision on it; `outcome_of`: the one it tells of."""

    scenario_id: UUID
    retest_of: UUID | None = None
    outcome_of: UUID | None = None


def candidate(scenario: Scenario) -> Candidate:
    """What the choice needs to know of a scenario that is canonical and not archived."""
    stimuli = scenario.stimuli
    feeds = ANY_ROUND
    for present, signals in (
        (stimuli.premise, PREMISE),
        (stimuli.states_majority, MAJORITY),
        (stimuli.counter_arguments, COUNTER_ARGUMENT),
        (stimuli.pair, PAIR),
        (stimuli.outcomes or stimuli.sequel_of, OUTCOME),
    ):
        if present:
            feeds |= signals
    return Candidate(scenario.id, scenario.theme, feeds, stimuli.pair, stimuli.sequel_of)


def choose(
    history: History,
    candidates: Iterable[Candidate],
    *,
    theme: CanonicalTheme | None,
    now: datetime,
    settings: Settings,
) -> Choice | None:
    """The owner's next round, or None where nothing can be offered now.

    Equal arguments give an equal answer, in whatever order the candidates come.
    """
    known = {c.id: c for c in candidates}
    fitting = [c for c in known.values() if theme is None or c.theme == theme]
    retest = _retest(history, known, fitting, now, settings)
    if retest is not None and history.rounds % settings.retest_one_in == settings.retest_one_in - 1:
        return retest
    unseen = [c for c in fitting if _may_come(c, history, known)]
    waiting = [c for c in unseen if c.sequel_of is not None]
    if waiting:
        return _sequel(history, waiting)
    if unseen:
        best = min(unseen, key=lambda c: (-_weight(c, history.evidence), _lot(history, c)))
        return Choice(best.id)
    return retest


def _may_come(candidate: Candidate, history: History, known: Mapping[UUID, Candidate]) -> bool:
    """Whether it is unseen, far enough from its twin, and its story has got that far."""
    if candidate.id in history.answered:
        return False
    if candidate.sequel_of is not None:
        before = history.answered.get(candidate.sequel_of)
        return before is not None and _rounds_since(before.first_round, history) >= SEQUEL_DISTANCE
    return _far_from_twin(candidate, history, known)


def _rounds_since(number: int, history: History) -> int:
    """How many rounds after round `number` the next one comes."""
    return history.rounds + 1 - number


def _far_from_twin(c: Candidate, history: History, known: Mapping[UUID, Candidate]) -> bool:
    if c.pair is None:
        return True
    twins = (o for o in known.values() if o.pair == c.pair and o.id != c.id)
    met = (history.answered[twin.id] for twin in twins if twin.id in history.answered)
    return all(_rounds_since(twin.last_round, history) >= TWIN_DISTANCE for twin in met)


def _sequel(history: History, waiting: Sequence[Candidate]) -> Choice:
    """The one whose outcome has waited longest."""

    def asked_in(candidate: Candidate) -> tuple[int, UUID]:
        assert candidate.sequel_of is not None
        return history.answered[candidate.sequel_of].first_round, candidate.id

    first = min(waiting, key=asked_in)
    assert first.sequel_of is not None
    return Choice(first.id, outcome_of=history.answered[first.sequel_of].decision_id)


def _weight(candidate: Candidate, evidence: Mapping[str, int]) -> float:
    """The sum of the need of what it feeds: 1 without evidence, 0 from 12 pieces on."""
    counts = sorted(evidence.get(signal, 0) for signal in candidate.feeds)
    return sum(RICH_FROM - min(max(count, 0), RICH_FROM) for count in counts) / RICH_FROM


def _lot(history: History, candidate: Candidate) -> str:
    """A fixed draw, so that owners differ and one owner's repeated call does not."""
    return sha256_hex(history.user_id.bytes + candidate.id.bytes)


def _retest(
    history: History,
    known: Mapping[UUID, Candidate],
    fitting: Sequence[Candidate],
    now: datetime,
    settings: Settings,
) -> Choice | None:
    """The decision to ask again: least often asked, then oldest.

    Not a story whose outcome was told, because the owner knows now how it ends; and not one of a
    pair before the other was met, because the two are to be compared as they were first met.
    """
    before = now - timedelta(days=settings.retest_after_days)
    told = {c.sequel_of for c in known.values() if c.id in history.answered}
    halves = {c.pair for c in known.values() if c.id not in history.answered}
    due = [
        history.answered[c.id]
        for c in fitting
        if c.id in history.answered
        and c.sequel_of is None
        and c.id not in told
        and (c.pair is None or c.pair not in halves)
        and history.answered[c.id].last_at <= before
        and _far_from_twin(c, history, known)
    ]
    if not due:
        return None
    first = min(due, key=lambda a: (a.times, a.last_at, a.scenario_id))
    return Choice(first.scenario_id, retest_of=first.decision_id)

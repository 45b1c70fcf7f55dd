"""Profile → what agents read: the projection of seed 000 §3, in one place.

Internal shapes may change; what leaves here changes only with `schema_version`. Sentences come
from `observe`, numbers from `scores`, missing texts from `composer` (ruling 37): pure, bounded,
never stored, never from decisions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from judgment.contract.profile import (
    AgentContextRule,
    AgentProfile,
    AgentSignalSummary,
    CategoryTendency,
    SignalEvidence,
)
from judgment.profile import drivers, scores
from judgment.profile.composer import VERSION, compose
from judgment.profile.observe import driver_names, observe_signal, trend_of
from judgment.profile.signals import SIGNALS

if TYPE_CHECKING:
    from judgment.profile.model import PlayerDecisionProfile
    from judgment.profile.shapes import CategoryPattern


def distil(
    profile: PlayerDecisionProfile,
    user_id: UUID,
    sync_score: float,
    *,
    summary_games: int | None = None,
    summary_stale: bool = False,
) -> AgentProfile:
    """What an agent reads. `sync_score` is 0 to 100.

    Where a text is missing although decisions were analysed, composer-1 writes it now; a summary
    of ours then has no `summary_generated_at`, because nothing was generated and kept, and is
    never stale. Else `summary_games` and `summary_stale` say how fresh the stored texts are.
    """
    summary, version = profile.summary_text, profile.summary_model_version
    generated_at, block = profile.summary_generated_at, profile.agent_context_block
    if profile.games_analyzed and (summary is None or block is None):
        composed = compose(profile)
        block = block or composed.agent_context_block
        if summary is None:
            summary, version, generated_at = composed.summary_text, VERSION, None
            summary_games, summary_stale = profile.games_analyzed, False
    return AgentProfile(
        user_id=user_id,
        sync_score=sync_score,
        games_played=profile.games_analyzed,
        model_confidence=scores.model_confidence(profile),
        signals=signal_summaries(profile),
        category_tendencies=category_tendencies(profile),
        context_rules=context_rules(profile),
        summary_text=summary,
        summary_generated_at=generated_at,
        summary_model_version=version,
        agent_context_block=block,
        summary_games_analyzed=None if summary is None else summary_games,
        summary_stale=summary is not None and summary_stale,
    )


def signal_summaries(profile: PlayerDecisionProfile) -> list[AgentSignalSummary]:
    """The twelve signals in table order, unknown ones included: they say what they need."""
    found: list[AgentSignalSummary] = []
    for signal in SIGNALS:
        reading = profile.signal(signal.name)
        found.append(
            AgentSignalSummary(
                signal=signal.name,
                description=signal.description,
                state=reading.state,
                one_line=observe_signal(signal, reading).text,
            )
        )
    return found


def category_tendencies(profile: PlayerDecisionProfile) -> list[CategoryTendency]:
    """One per domain with a decision, most decided first; unevidenced values are neutral."""
    return [_tendency(pattern) for pattern in profile.patterns]


def context_rules(profile: PlayerDecisionProfile) -> list[AgentContextRule]:
    """The stored rules, surest first."""
    return [
        AgentContextRule(
            trigger=rule.trigger, behavior_shift=rule.behavior_shift, confidence=rule.confidence
        )
        for rule in profile.rules
    ]


def signal_evidence(profile: PlayerDecisionProfile) -> list[SignalEvidence]:
    """How many decisions back each signal, and what would move it to its next state."""
    found: list[SignalEvidence] = []
    for signal in SIGNALS:
        reading = profile.signal(signal.name)
        found.append(
            SignalEvidence(
                signal=signal.name,
                state=reading.state,
                supporting_decisions=reading.evidence,
                needs=signal.needs(reading.evidence),
            )
        )
    return found


def _tendency(pattern: CategoryPattern) -> CategoryTendency:
    names = driver_names(pattern) or (drivers.NO_DRIVER,)
    trend = trend_of(pattern)
    return CategoryTendency(
        category=pattern.category,
        primary_driver=names[0],
        secondary_drivers=list(names[1:]),
        risk_tolerance=pattern.risk,
        decision_speed=pattern.speed,
        games_in_category=pattern.decisions,
        recent_trend=trend.text if trend else pattern.trend_text,
    )

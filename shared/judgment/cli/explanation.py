"""A score's explanation as lines of text, its terms added up again on the reader's side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgment.contract.profile import ProfileExplanation, ScoreExplanation

TOLERANCE = 1e-6


class SumMismatch(ValueError):
    """The terms do not add up to the score that was served."""


def added_up(name: str, score: ScoreExplanation) -> float:
    """The sum of the terms. Raises SumMismatch unless each and all of them give the score."""
    for term in score.terms:
        if abs(term.weight * term.value - term.contribution) > TOLERANCE:
            raise SumMismatch(f"{name}: {term.name} is not its weight times its value")
    total = sum(term.contribution for term in score.terms)
    if not score.kept and abs(total - score.score) > TOLERANCE:
        raise SumMismatch(f"{name}: the terms add up to {total:g}, not to {score.score:g}")
    return total


def explanation_lines(explanation: ProfileExplanation) -> Iterator[str]:
    """What `judgment why` prints. Raises SumMismatch."""
    yield from _score_lines("Sync score (0-100)", explanation.sync_score)
    yield ""
    yield from _score_lines("Model confidence (0-1)", explanation.model_confidence)
    yield ""
    yield "Signals"
    for signal in explanation.signals:
        known = f"{signal.supporting_decisions} decisions"
        yield f"  {signal.state:<10} {signal.signal:<30} {known:<14} {signal.needs}".rstrip()


def _score_lines(name: str, score: ScoreExplanation) -> Iterator[str]:
    total = added_up(name, score)
    yield f"{name}: {score.score:.4g}"
    if score.kept:
        yield "  This number is kept by the Sync app that the decisions come from."
    yield f"  {score.formula}"
    for term in score.terms:
        product = f"{term.weight:.4g} x {term.value:.4g}"
        yield f"  {product:>20} = {term.contribution:<10.4g} {term.name}: {term.meaning}"
    if score.terms:
        yield f"  {'sum':>20} = {total:.4g}"

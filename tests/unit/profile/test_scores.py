"""Both scores rise with evidence alone, and anyone can add their terms again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgment.profile import scores
from judgment.profile.build import build
from judgment.profile.model import SIGNALS_STORED, PlayerDecisionProfile
from tests.unit.profile.decisions import histories
from tests.unit.profile.strategies import lives

EMPTY = PlayerDecisionProfile(games_analyzed=0, documents={})


@pytest.mark.promise("R-22")
@given(histories(least=1) | lives(least=1), st.data())
@settings(max_examples=300, deadline=None)
def test_one_more_decision_never_lowers_a_score(history, data) -> None:
    left_out = data.draw(st.sampled_from(history))
    fewer = [d for d in history if d.id != left_out.id and d.retest_of != left_out.id]
    before, after = build(fewer), build(history)
    assert scores.sync_score(before) <= scores.sync_score(after)
    assert scores.model_confidence(before) <= scores.model_confidence(after)


@pytest.mark.promise("R-22")
@given(histories() | lives())
@settings(max_examples=40, deadline=None)
def test_the_terms_add_up_to_the_score_by_hand(history) -> None:
    profile = build(history)
    for explained, score in (
        (scores.explain_sync_score(profile), scores.sync_score(profile)),
        (scores.explain_model_confidence(profile), scores.model_confidence(profile)),
    ):
        assert explained.score == score
        assert sum(t.contribution for t in explained.terms) == pytest.approx(score, abs=1e-9)
        for term in explained.terms:
            assert term.contribution == pytest.approx(term.weight * term.value, abs=1e-9)
            assert 0 <= term.value <= 1


@pytest.mark.promise("R-22")
def test_nothing_known_is_zero_and_everything_known_is_the_whole_scale() -> None:
    plenty = {column: {"n": 100_000} for column in SIGNALS_STORED}
    domains = ("governance", "values-culture", "resource-allocation", "team-dynamics")
    plenty["category_patterns"] = {name: {"decisions": 100_000} for name in domains}
    full = replace(EMPTY, games_analyzed=400_000, documents=plenty)
    assert (scores.sync_score(EMPTY), scores.model_confidence(EMPTY)) == (0, 0)
    assert scores.sync_score(full) == pytest.approx(100)
    assert scores.model_confidence(full) == pytest.approx(1)


@pytest.mark.promise("R-22")
def test_a_kept_score_is_said_to_be_kept() -> None:
    kept = scores.explain_kept(61.5)
    assert kept.kept
    assert sum(t.contribution for t in kept.terms) == kept.score == 61.5


@pytest.mark.parametrize(("decisions", "value"), [(0, 0.0), (4, 0.5), (12, 0.75), (96, 0.96)])
def test_reliability_is_a_half_at_four_decisions(decisions, value) -> None:
    assert scores.reliability(decisions) == value

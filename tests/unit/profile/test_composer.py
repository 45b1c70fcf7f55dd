"""composer-1 is deterministic, bounded, frank about what is missing, and says the best first."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judgment.contract.profile import CATEGORIES, CONTEXT_BLOCK_LIMIT, SUMMARY_LIMIT
from judgment.profile.build import build
from judgment.profile.composer import FRAME, compose
from judgment.profile.model import PlayerDecisionProfile
from tests.unit.profile.decisions import decision, histories, option


def crowded(word: str) -> PlayerDecisionProfile:
    """A profile with more to say than fits; drivers without tallies are said without counts."""
    patterns = {
        c: {
            "decisions": 50,
            "drivers": [
                {"name": f"{c} {word} {i}", "weight": 9, "sd": 1, "share": 0.06} for i in range(16)
            ],
        }
        for c in CATEGORIES
    }
    rules = [
        {"trigger": f"t{i}", "behavior_shift": f"{i} " + word * 60, "confidence": i / 20}
        for i in range(20)
    ]
    documents = {"category_patterns": patterns, "context_rules": rules}
    return PlayerDecisionProfile(games_analyzed=200, documents=documents)


@pytest.mark.promise("P1-4-composer")
@pytest.mark.parametrize("word", ["plain", "zürich", "判断力判断", "🙂🙃"])
def test_a_block_that_would_be_too_long_ends_in_whole_lines_and_counts_the_rest(word) -> None:
    profile = crowded(word)
    whole = compose(profile)
    block = whole.agent_context_block
    assert len(block.encode()) <= CONTEXT_BLOCK_LIMIT
    assert len(whole.summary_text) <= SUMMARY_LIMIT
    said = {f"- {o.text}" for o in whole.observations}
    items = [line for line in block.splitlines() if line.startswith("- ")]
    assert set(items) < said
    left_out = int(block.splitlines()[-1].removeprefix("Left out for length: ").split()[0])
    assert left_out >= len(said) - len(items) > 0
    assert whole.summary_text.endswith("More is on record than fits here.")


@pytest.mark.promise("P1-4-composer")
@given(histories(least=1))
@settings(max_examples=60, deadline=None)
def test_the_same_profile_gives_the_same_texts_and_both_say_what_is_unknown(history) -> None:
    profile = build(history)
    first, second = compose(profile), compose(profile)
    assert first == second
    assert f"{len(history)} recorded decision" in first.summary_text
    assert FRAME in first.agent_context_block
    assert "signals without enough evidence" in first.agent_context_block
    assert first.agent_context_block.splitlines()[-1] == "Left out: nothing."


@pytest.mark.promise("P1-4-composer")
def test_domains_with_most_decisions_and_strongest_pulls_come_first() -> None:
    options = [option(0, price=1.0, commitment=0.5), option(1, price=0.0, commitment=0.45)]
    much = [decision(n, options, 0, category="team-dynamics") for n in range(20)]
    little = [decision(100 + n, options, 1) for n in range(5)]
    block = compose(build([*little, *much])).agent_context_block
    assert block.index("Team dynamics, 20") < block.index("Governance, 5")
    assert block.index("a lower price") < block.index("No pull that could be told")


@pytest.mark.promise("P1-4-composer")
def test_too_little_to_tell_is_said_so() -> None:
    options = [option(0, price=1.0), option(1, price=0.0)]
    texts = compose(build([decision(1, options, 0)]))
    assert "1 recorded decision." in texts.summary_text
    assert "too few decisions to tell" in texts.summary_text
    assert "Too few decisions to tell" in texts.agent_context_block


@given(st.integers(1, 2_000))
def test_a_count_of_decisions_is_never_rounded(games) -> None:
    text = compose(PlayerDecisionProfile(games_analyzed=games, documents={})).summary_text
    assert f"Drawn from {games} recorded decision" in text

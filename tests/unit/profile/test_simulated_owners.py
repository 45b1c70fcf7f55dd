"""One owner per signal, who differs from a neutral one in that trait alone: it shows there only."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import pytest

from judgment.profile.build import build
from judgment.profile.composer import compose
from judgment.profile.drivers import DRIVERS
from judgment.profile.language import drivers_in, style_of
from judgment.profile.signals import SIGNALS
from tests.unit.profile.signal_recomputation import all_sentences
from tests.unit.profile.simulated import (
    DRIVER_SENTENCES,
    NEUTRAL,
    STYLE_SENTENCES,
    Owner,
    play,
)

if TYPE_CHECKING:
    from judgment.profile.model import PlayerDecisionProfile

LOW, MIDDLE, HIGH = 0, 1, 2
NEUTRAL_PLACES = {
    **{s.name: MIDDLE for s in SIGNALS},
    "reasoning_style_distribution": LOW,
    "attention_distribution": LOW,
    "name_bias_signal": LOW,
}
"""What a neutral owner shows: half and half; no style, driver or name that leads."""

OWNERS: dict[str, tuple[str, int, Owner]] = {
    "argues from principle": ("reasoning_style_distribution", HIGH, Owner(style="principled")),
    "argues from feeling": ("reasoning_style_distribution", HIGH, Owner(style="intuition")),
    "speaks of speed alone": ("attention_distribution", HIGH, Owner(attention="speed")),
    "is sure of everything": ("confidence_calibration", HIGH, Owner(confidence=0.98)),
    "is sure of nothing": ("confidence_calibration", LOW, Owner(confidence=0.15)),
    "takes time": ("timing_signature", HIGH, Owner(pace=6.0)),
    "decides fast": ("timing_signature", LOW, Owner(pace=0.5)),
    "yields to argument": ("persuadability", HIGH, Owner(moved=0.9)),
    "never yields": ("persuadability", LOW, Owner(moved=0.05)),
    "reads others": ("peer_reading", HIGH, Owner(peers=0.95)),
    "misreads others": ("peer_reading", LOW, Owner(peers=0.1)),
    "dissents": ("dissent_profile", HIGH, Owner(dissent=0.9)),
    "goes along": ("dissent_profile", LOW, Owner(dissent=0.05)),
    "means what they say": ("authenticity", HIGH, Owner(authentic=0.95)),
    "says something else": ("authenticity", LOW, Owner(authentic=0.1)),
    "learns": ("learning_rate", HIGH, Owner(adjusted=0.95)),
    "does not learn": ("learning_rate", LOW, Owner(adjusted=0.05)),
    # A retest settles what holds as well: who varies and knows it is less sure.
    "varies": ("occasion_noise", HIGH, Owner(noise=0.9, confidence=0.45)),
    "is steady": ("occasion_noise", LOW, Owner(noise=0.0)),
    "knows themself": ("self_awareness", HIGH, Owner(foresight=0.95)),
    "surprises themself": ("self_awareness", LOW, Owner(foresight=0.1)),
    "goes by names": ("name_bias_signal", HIGH, Owner(name_bias=0.63)),
}


@cache
def profile_of(owner: Owner, seed: int = 1) -> PlayerDecisionProfile:
    return build(play(owner, seed))


def places(profile: PlayerDecisionProfile) -> dict[str, int]:
    """Where each signal's sentence stands: below, between or above its cuts."""
    found = {}
    for signal in SIGNALS:
        reading = profile.signal(signal.name)
        shares = {"share": max(reading.shares.values(), default=0.0)}
        found[signal.name] = signal.place({**shares, **reading.numbers}[signal.measure])
    return found


@pytest.mark.promise("P2-4-simulated", "P2-2")
def test_a_neutral_owner_has_twelve_rich_signals_and_no_trait() -> None:
    profile = profile_of(NEUTRAL)
    assert {s.name: profile.signal(s.name).state for s in SIGNALS} == {
        s.name: "rich" for s in SIGNALS
    }
    assert places(profile) == NEUTRAL_PLACES


def test_every_signal_has_an_owner() -> None:
    assert {name for name, _, _ in OWNERS.values()} == {s.name for s in SIGNALS}


@pytest.mark.promise("P2-4-simulated")
@pytest.mark.parametrize("trait", OWNERS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_trait_moves_its_signal_to_its_side_and_no_other(trait, seed) -> None:
    signal, side, owner = OWNERS[trait]
    assert places(profile_of(owner, seed)) == {**NEUTRAL_PLACES, signal: side}


@pytest.mark.promise("P2-4-simulated", "P1-4-distil")
@pytest.mark.parametrize("trait", ["neutral", *OWNERS])
def test_every_sentence_about_a_simulated_owner_can_be_made_again_from_their_rounds(trait) -> None:
    owner = OWNERS[trait][2] if trait in OWNERS else NEUTRAL
    block = compose(profile_of(owner)).agent_context_block
    lines = [line.removeprefix("- ") for line in block.splitlines() if line.startswith("- ")]
    assert sorted(lines) == sorted(all_sentences(play(owner)))


def test_a_sentence_of_another_owner_is_caught() -> None:
    truth = all_sentences(play(NEUTRAL))
    for _, _, owner in OWNERS.values():
        lines = {o.text for o in compose(profile_of(owner)).observations}
        assert lines - set(truth)


def test_what_owners_write_is_heard_as_it_was_meant() -> None:
    for style, text in STYLE_SENTENCES.items():
        assert (style_of(text), drivers_in(text, DRIVERS)) == (style, frozenset())
    for driver, text in DRIVER_SENTENCES.items():
        assert (style_of(text), drivers_in(text, DRIVERS)) == (None, {driver})


def test_a_rationale_in_another_language_leaves_the_three_signals_of_words_unknown() -> None:
    rounds = [
        replace(d, rationale="Das ist für mich eine Frage der Moral und nicht der Kosten.")
        for d in play(NEUTRAL)
    ]
    profile = build(rounds)
    for name in ("reasoning_style_distribution", "attention_distribution", "authenticity"):
        assert profile.signal(name).state == "sparse"

"""The table of twelve holds together: columns, components, sentences, needs."""

from __future__ import annotations

from math import comb
from string import Formatter

import pytest

from judgment.profile import values
from judgment.profile.drivers import DRIVERS, NO_DRIVER, SCENARIO_DRIVERS
from judgment.profile.model import SIGNALS_STORED, read_signal
from judgment.profile.observe import observe_signal
from judgment.profile.shapes import state_of
from judgment.profile.signals import BETA, SIGNALS, Signal, in_number

STORED = {
    "confidence_calibration": {"mean_confidence": 0.8, "held_count": 6},
    "timing_signature": {"seconds": 30.5, "pace": 2.2},
    "persuadability": {"changed": 3},
    "peer_reading": {"right": 3},
    "dissent_profile": {"against": 3},
    "authenticity": {"matches": 3},
    "learning_rate": {"changed": 3},
    "occasion_noise": {"same": 3},
    "self_awareness": {"right": 3},
    "name_bias_signal": {"differed": 3, "expected": 1.5},
    "reasoning_style_distribution": {"leading_count": 7},
    "attention_distribution": {"leading_part": 0.5},
}


@pytest.mark.promise("000-3.1", "P1-4")
def test_there_are_twelve_and_each_has_a_column() -> None:
    assert [s.name for s in SIGNALS] == list(SIGNALS_STORED)
    assert len(SIGNALS) == len(set(SIGNALS_STORED)) == 12


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda s: s.name)
def test_each_row_of_the_table_is_complete(signal: Signal) -> None:
    assert signal.measure in {c.name for c in signal.components}
    assert 0 < signal.cuts[0] < signal.cuts[1] < 1
    assert all((signal.inputs, signal.formula, signal.shrinkage, signal.stimulus, signal.unit))
    assert signal.source
    assert all(0 <= c.neutral <= 1 for c in signal.components)
    fields = [{f for _, f, _, _ in Formatter().parse(t) if f} for t in signal.sentences]
    assert all("n" in names for names in fields)


@pytest.mark.promise("000-3.1")
@pytest.mark.parametrize("signal", SIGNALS, ids=lambda s: s.name)
@pytest.mark.parametrize("place", [0, 1, 2])
def test_each_sentence_can_be_said_from_stored_numbers(signal: Signal, place: int) -> None:
    measured = (0.0, sum(signal.cuts) / 2, 1.0)[place]
    stored = {"n": 14, **STORED[signal.name]}
    if signal.measure == "share":
        stored["shares"] = {"people": measured}
    stored[signal.measure] = measured
    text = observe_signal(signal, read_signal(stored)).text
    assert "14" in text
    assert "{" not in text
    assert text.split("{")[0][:5] == signal.sentences[place][:5]


def claimed_outright(signal: Signal, rate: float, n: int, *, places: tuple[int, ...]) -> float:
    """How often a yes at that rate ends, after n cases, in an outer sentence without "Perhaps"."""
    return sum(
        comb(n, k) * rate**k * (1 - rate) ** (n - k)
        for k in range(n + 1)
        if (share := (k + 1) / (n + 2), template := signal.sentence(share, n))
        and signal.place(share) in places
        and not template.startswith("Perhaps ")
    )


SHARES = [s for s in SIGNALS if s.shrinkage == BETA]


@pytest.mark.parametrize("signal", SHARES, ids=lambda s: s.name)
@pytest.mark.parametrize("n", [4, 6, 8, 12, 18, 30, 60])
def test_chance_seldom_makes_a_plain_sentence_of_half_and_half(signal: Signal, n: int) -> None:
    assert claimed_outright(signal, 0.5, n, places=(0, 2)) < 0.08


@pytest.mark.parametrize("name", ["dissent_profile", "learning_rate"])
@pytest.mark.parametrize("n", [4, 6, 8, 12, 18, 30, 60])
def test_picking_one_of_four_at_random_is_neither_dissent_nor_learning(name: str, n: int) -> None:
    [signal] = [s for s in SIGNALS if s.name == name]
    assert claimed_outright(signal, 0.75, n, places=(2,)) < 0.08


@pytest.mark.parametrize("signal", SHARES, ids=lambda s: s.name)
def test_a_trait_that_never_fails_is_said_plainly_when_there_is_enough_of_it(signal) -> None:
    assert signal.sentence(21 / 22, 20) == signal.sentences[2]
    assert signal.sentence(1 / 22, 20) == signal.sentences[0]
    assert signal.sentence(5 / 6, 4).startswith("Perhaps ")


@pytest.mark.promise("R-21")
@pytest.mark.parametrize(
    ("supporting", "state"),
    [(0, "sparse"), (3, "sparse"), (4, "developing"), (11, "developing"), (12, "rich")],
)
def test_states_follow_the_number_of_supporting_decisions(supporting, state) -> None:
    assert state_of(supporting) == state


def test_needs_count_down_to_the_next_state() -> None:
    [noise] = [s for s in SIGNALS if s.name == "occasion_noise"]
    assert noise.needs(1) == "3 more repeated decisions to be developing"
    assert noise.needs(7) == "5 more repeated decisions to be rich"
    assert noise.needs(12) == "nothing more"


@pytest.mark.parametrize(
    ("count", "unit", "words"),
    [
        (1, "decisions in governance", "decision in governance"),
        (2, "decisions in governance", "decisions in governance"),
        (1, "rationales that show a style", "rationale that shows a style"),
        (1, "rationales that name a driver on offer", "rationale that names a driver on offer"),
        (1, "self-predictions", "self-prediction"),
        (0, "matched pairs", "matched pairs"),
    ],
)
def test_one_of_a_thing_is_said_in_the_singular(count: int, unit: str, words: str) -> None:
    assert in_number(count, unit) == words


def test_every_driver_has_two_directions_with_a_wire_name_and_words_of_their_own() -> None:
    rows = DRIVERS.values()
    names = [name for row in rows for name in (row.name, row.less_name)]
    words = [text for row in rows for text in (row.more, row.less)]
    assert len(set(names)) == len(set(words)) == 2 * len(DRIVERS) == 34
    assert NO_DRIVER not in names
    assert [values.name(name) for name in names] == names
    assert all(text and text[-1].isalpha() and text == text.strip().lower() for text in words)
    assert len(SCENARIO_DRIVERS) == 12

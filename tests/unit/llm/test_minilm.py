"""The offline embedder with its real weights, where they can be fetched."""

from __future__ import annotations

import math

import pytest

from infra.assets import AssetMissing, fetched, locked
from infra.local.places import Places
from judgment.kit.deadline import Deadline
from judgment.llm.embeddings import cosine
from judgment.llm.minilm import DIMENSIONS, VERSION, MiniLm
from judgment.llm.model import ModelFailure

LONG = Deadline.after(3_600)
RELATED = [
    ("A man is eating food.", "A man is eating a meal.", 0.93),
    ("The stock market crashed today.", "Shares plunged on Wall Street.", 0.57),
]
UNRELATED = [
    ("The cat sits on the mat.", "Quantum physics describes subatomic particles.", 0.0),
    ("I love pizza.", "The train is late.", 0.01),
]


@pytest.fixture(scope="module")
def minilm() -> MiniLm:
    """The model, or a skip that says what is missing."""
    try:
        files = [
            fetched(locked()[name], Places.default().assets)
            for name in ("minilm-weights", "minilm-tokenizer")
        ]
    except AssetMissing as missing:
        pytest.skip(str(missing))
    return MiniLm(*files)


def alike(minilm: MiniLm, one: str, other: str) -> float:
    return cosine(*minilm.embed([one, other], deadline=LONG).vectors)


@pytest.mark.promise("P2-1-embeddings")
@pytest.mark.parametrize(("one", "other", "expected"), RELATED + UNRELATED)
def test_related_sentences_are_alike_and_others_are_not(
    minilm: MiniLm, one: str, other: str, expected: float
):
    assert alike(minilm, one, other) == pytest.approx(expected, abs=0.01)


@pytest.mark.promise("P2-1-embeddings")
def test_the_numbers_are_those_the_models_makers_publish(minilm: MiniLm):
    """Quickstart of the Sentence Transformers documentation, to its four digits."""
    lovely, sunny, drove = minilm.embed(
        ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."],
        deadline=LONG,
    ).vectors
    assert cosine(lovely, sunny) == pytest.approx(0.6660, abs=1e-4)
    assert cosine(lovely, drove) == pytest.approx(0.1046, abs=1e-4)
    assert cosine(sunny, drove) == pytest.approx(0.1411, abs=1e-4)


def test_a_text_has_the_same_vector_alone_and_among_others(minilm: MiniLm):
    texts = [f"Choice {n} {'was hard ' * (n % 7)}" for n in range(20)]
    together = minilm.embed(texts, deadline=LONG)
    assert together.model_version == VERSION
    assert together.calls == ()
    for text, vector in zip(texts[::9], together.vectors[::9], strict=True):
        assert len(vector) == DIMENSIONS
        assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)
        assert cosine(vector, minilm.embed([text], deadline=LONG).vectors[0]) > 0.99999


@pytest.mark.parametrize("text", ["", " ", "\x00", "\ud800", "é" * 50_000, "🙂"])
def test_any_text_has_a_vector(minilm: MiniLm, text: str):
    [vector] = minilm.embed([text], deadline=LONG).vectors
    assert math.hypot(*vector) == pytest.approx(1, abs=1e-5)


def test_no_text_and_no_time(minilm: MiniLm):
    assert minilm.embed([], deadline=LONG).vectors == ()
    with pytest.raises(ModelFailure, match="timeout"):
        minilm.embed(["x"], deadline=Deadline.after(-1))

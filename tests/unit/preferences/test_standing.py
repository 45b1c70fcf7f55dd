"""What retires what where names are shared: one alias may mean several statements at once."""

from __future__ import annotations

import json
import math
import random
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.preferences.compiling import compile_signals
from judgment.preferences.documents import InvalidDocument, read_document, view
from judgment.preferences.explaining import why
from judgment.preferences.signals import order_key
from judgment.preferences.standing import MOST_BEARERS, standing
from tests.unit.preferences.statements import KEYS, NOW, days_ago, kept, said

if TYPE_CHECKING:
    from judgment.preferences.model import Signal

ALIASES = ("a0", "a1", "a2")


@st.composite
def entangled(draw: st.DrawFn) -> list[Signal]:
    """Statements about one key that name each other by ids and by names that several bear."""
    made = [
        said(
            value=number,
            strength=draw(st.sampled_from((0.5, 0.01))),
            scope=draw(st.sampled_from(("global", "global", "platform:codex"))),
            observed_at=days_ago(draw(st.integers(0, 4))),
        )
        for number in range(draw(st.integers(1, 8)))
    ]
    names = st.sampled_from([*(one.id for one in made), *ALIASES])
    return kept(
        [
            replace(
                signal,
                aliases=tuple(sorted(draw(st.sets(st.sampled_from(ALIASES), max_size=2)))),
                supersedes=draw(st.one_of(st.none(), names)),
            )
            for signal in made
        ]
    )


def retired(life: list[Signal]) -> dict[str, str]:
    """Who is retired and by whom, found by walking every road there is."""
    edges = {
        (one.id, other.id)
        for one in life
        for other in life
        if one.supersedes is not None
        and one.id != other.id
        and (one.supersedes == other.id or one.supersedes in other.aliases)
        and one.scope in ("global", other.scope)
    }
    roads = set(edges)
    while more := {(a, d) for a, b in roads for c, d in edges if b == c} - roads:
        roads |= more
    rank = {one.id: order_key(one, NOW) for one in life}
    found: dict[str, str] = {}
    for by, lost in sorted(edges, key=lambda edge: rank[edge[0]]):
        circle = {one for one in rank if (one, lost) in roads and (lost, one) in roads}
        if by in circle and max(circle, key=rank.__getitem__) == lost:
            continue
        found[lost] = by
    return found


@pytest.mark.promise("P3-core-compile", "P3-core", "P3-defect-12")
@given(entangled(), st.randoms(use_true_random=False))
def test_a_name_that_several_bear_retires_all_of_them_but_the_newest_of_a_circle(
    life: list[Signal], chance: random.Random
) -> None:
    expected = retired(life)
    shuffled = chance.sample(life, len(life))
    for order in (life, shuffled):
        assert standing(order, NOW).retired == expected
    assert standing(life, NOW).cycles == standing(shuffled, NOW).cycles
    documents = compile_signals(life, NOW).documents
    for platform in (None, "codex"):
        holds = view(documents.get(platform, documents[None]), NOW)
        assert [one.sources[0] for one in holds] == (
            [winner] if (winner := why(life, KEYS[0], NOW, platform).winner) else []
        )


@pytest.mark.promise("P3-core-compile")
def test_a_chain_longer_than_any_stack_is_followed_to_its_end() -> None:
    chain = kept([said(value=n, observed_at=days_ago(0)) for n in range(5_000)])
    linked = [replace(one, supersedes=before.id) for before, one in zip(chain, chain[1:])]  # noqa: B905, RUF007
    ring = [replace(chain[0], supersedes=chain[-1].id), *linked]
    found = standing(ring, NOW)
    assert [one.value for one in found.signals] == [4_999]
    assert [len(circle) for circle in found.cycles] == [5_000]
    assert standing([chain[0], *linked], NOW).cycles == ()


@pytest.mark.promise("P3-core-compile", "P3-refuse")
def test_a_name_that_everybody_bears_means_nobody_and_is_reported() -> None:
    def all_bearing(count: int) -> list[Signal]:
        one = said(value=1)
        return kept(
            [replace(one, id=f"i{n}", aliases=("a",), supersedes="a") for n in range(count)]
        )

    few = standing(all_bearing(MOST_BEARERS), NOW)
    assert [one.id for one in few.signals] == [f"i{MOST_BEARERS - 1}"]
    crowd = all_bearing(5_000)
    many = standing(crowd, NOW)
    assert (len(many.signals), many.retired, many.cycles) == (5_000, {}, ())
    assert {one.reason for one in many.ignored} == {"unknown"}
    by_id = standing([*crowd, replace(said(supersedes="i7"), position=9_999, recorded_at=NOW)], NOW)
    assert list(by_id.retired) == ["i7"]


@pytest.mark.promise("P3-defect-04", "P3-refuse")
@pytest.mark.parametrize(
    "spoilt",
    [
        {"strength": "x"},
        {"half_life_days": 0},
        {"observed_at": "yesterday"},
        {"observed_at": "2026-06-01T12:00:00"},
        {"sources": None},
        {"strength": math.nan, "half_life_days": None},
        {"strength": 9.99, "half_life_days": None},
        {"confidence": math.nan, "strength": 1, "half_life_days": None},
        {"confidence": 2, "strength": 1, "half_life_days": None},
        {"confidence": None, "strength": 1, "half_life_days": None},
        {"beneath": 5},
    ],
    ids=str,
)
def test_a_document_that_was_spoilt_is_refused_and_no_other_error_escapes(
    spoilt: dict[str, Any],
) -> None:
    signal = said(strength=0.01, half_life_days=1, observed_at=days_ago(2))
    document = compile_signals([signal], NOW).documents[None]
    entry = {**document["keys"][signal.key], **spoilt}
    with pytest.raises(InvalidDocument):
        view({**document, "keys": {signal.key: entry}}, NOW)
    deep = entry = document["keys"][signal.key]
    for _ in range(3_000):
        deep = {**entry, "beneath": deep}
    with pytest.raises(InvalidDocument):
        view({**document, "keys": {signal.key: deep}}, NOW + timedelta(days=1))


@pytest.mark.promise("P3-defect-04", "P3-refuse")
@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999"])
def test_a_document_with_a_number_that_is_not_finite_is_refused_when_it_is_read(
    number: str,
) -> None:
    document = compile_signals([said(value={"deep": [0.25]})], NOW).documents[None]
    text = json.dumps(document)
    assert read_document(text)["keys"] == document["keys"]
    with pytest.raises(InvalidDocument):
        read_document(text.replace("0.25", number))

"""What holds of every compile: the same bytes, the latest statement, circles, floors, decay."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from judgment.preferences.compiling import compile_signals, encoded
from judgment.preferences.decay import OVERLAY_FLOOR, weight_at
from judgment.preferences.documents import digest_of, read_document, view
from judgment.preferences.explaining import diff, why
from judgment.preferences.signals import order_key, read_lines, stored
from tests.unit.preferences.statements import (
    KEYS,
    NOW,
    days_ago,
    kept,
    lives,
    read_again,
    said,
    statements,
)

if TYPE_CHECKING:
    from judgment.preferences.model import Signal

LATER = st.floats(0, 4_000).map(lambda days: NOW + timedelta(days=days))
PLATFORMS = (None, "codex", "hermes", "chatgpt")


def surviving(life: list[Signal]) -> dict[str, str]:
    """Who is retired, worked out slowly: follow every chain from everybody, void each circle once.

    An oracle that shares nothing with the code under test: a circle is what comes back to itself,
    and its newest member is not retired by the member that names it.
    """
    by_id = {signal.id: signal for signal in life}

    def target(signal: Signal) -> Signal | None:
        named = by_id.get(signal.supersedes or "")
        if named is None or named.id == signal.id or named.key != signal.key:
            return None
        return named if signal.scope in ("global", named.scope) else None

    retired: dict[str, str] = {}
    for signal in life:
        named = target(signal)
        if named is None:
            continue
        walk, step = [named], target(named)
        while step is not None and step.id != named.id and len(walk) <= len(life):
            walk.append(step)
            step = target(step)
        in_circle = step is not None and step.id == named.id
        is_in_it = in_circle and any(member.id == signal.id for member in walk)
        newest = max(walk, key=lambda one: order_key(one, NOW)) if in_circle else None
        if is_in_it and newest is not None and newest.id == named.id:
            continue
        retired[named.id] = signal.id
    return retired


@pytest.mark.promise("P3-core", "P3-core-compile", "001-compile")
@given(lives(), st.randoms(use_true_random=False), LATER)
def test_order_and_repetition_change_no_byte(life: list[Signal], chance: Any, now: Any) -> None:
    once = compile_signals(life, now)
    shuffled = life + chance.choices(life, k=len(life)) if life else []
    chance.shuffle(shuffled)
    again = compile_signals(shuffled, now)
    assert {k: encoded(d) for k, d in once.documents.items()} == {
        k: encoded(d) for k, d in again.documents.items()
    }
    assert replace(again.report, repeats=0) == once.report
    for document in once.documents.values():
        assert digest_of(read_document(encoded(document))) == document["digest"]


@pytest.mark.promise("P3-core-compile", "R-15", "P3-defect-12", "P3-defect-14", "001-precedence")
@given(lives())
def test_the_latest_statement_that_stands_wins_its_scope(life: list[Signal]) -> None:
    retired = surviving(life)
    compiled = compile_signals(life, NOW)
    assert compiled.report.superseded == len(retired)
    stands = [signal for signal in life if signal.id not in retired]
    for key in KEYS:
        mine = [one for one in stands if one.key == key and one.scope == "global"]
        entry = compiled.documents[None]["keys"].get(key)
        if not mine:
            assert entry is None
            continue
        best = max(mine, key=lambda one: order_key(one, NOW))
        assert entry["sources"][0] == best.id
        assert entry["n_signals"] == len(mine)
        assert json.dumps(entry["value"]) == json.dumps(best.value)


@pytest.mark.promise("P3-core-compile")
@given(lives())
def test_a_key_that_was_stated_globally_never_vanishes_in_a_circle(life: list[Signal]) -> None:
    """Superseding takes away what it names; it cannot take away everything that was ever said."""
    stated = {s.key for s in life if s.scope == "global"}
    assert stated == compile_signals(life, NOW).documents[None]["keys"].keys()


@pytest.mark.promise("P3-core-compile")
@given(st.integers(2, 40), st.integers(0, 39), st.booleans())
def test_a_circle_keeps_its_newest_and_is_reported(size: int, start: int, with_tail: bool) -> None:
    ring = [said(value=n, observed_at=days_ago(size - n)) for n in range(size)]
    turn = ring[start % size :] + ring[: start % size]
    circle = [replace(s, supersedes=turn[i - 1].id) for i, s in enumerate(turn)]
    life = kept(circle)
    newest = max(life, key=lambda one: order_key(one, NOW))
    if with_tail:
        life = kept([*circle, said(value="tail", observed_at=days_ago(99), supersedes=newest.id)])
    compiled = compile_signals(life, NOW)
    entry = compiled.documents[None]["keys"][KEYS[0]]
    assert entry["value"] == ("tail" if with_tail else newest.value)
    assert entry["n_signals"] == 1
    [reported] = compiled.report.cycles
    assert (len(reported), reported[0]) == (size, newest.id)


@pytest.mark.promise("P3-core-overlay", "P3-core-decay", "P3-defect-13", "001-inject")
@given(lives(), LATER)
def test_a_stored_document_says_later_what_a_fresh_compile_would(
    life: list[Signal], later: Any
) -> None:
    assume(all(s.observed_at <= NOW for s in life))
    early, fresh = compile_signals(life, NOW).documents, compile_signals(life, later).documents
    for platform in PLATFORMS:
        before = early.get(platform, early[None])
        after = fresh.get(platform, fresh[None])
        assert view(read_document(encoded(before)), later) == view(after, later)


@pytest.mark.promise("P3-core-compile", "P3-defect-21")
@given(lives(), LATER)
def test_time_alone_changes_a_document_only_where_a_platforms_entry_fades_below_the_floor(
    life: list[Signal], later: Any
) -> None:
    assume(all(s.observed_at <= NOW for s in life))
    early, fresh = compile_signals(life, NOW).documents, compile_signals(life, later).documents
    assert early.keys() == fresh.keys()
    assert early[None]["digest"] == fresh[None]["digest"]
    for platform in early:
        hides = [e for e in early[platform]["keys"].values() if "beneath" in e]
        still = [e for e in fresh[platform]["keys"].values() if "beneath" in e]
        if len(hides) == len(still):
            assert early[platform]["digest"] == fresh[platform]["digest"]
            found = diff(early[platform], fresh[platform])
            assert [found["added"], found["removed"], found["changed"]] == [{}, {}, {}]


@pytest.mark.promise("P3-core-overlay", "R-15", "P3-defect-13")
@given(st.floats(-1, 1), st.floats(-1, 1), st.floats(1, 400), st.floats(0, 4_000))
@example(OVERLAY_FLOOR, 1.0, 90.0, 0.0)
def test_a_platforms_entry_hides_a_global_one_above_the_floor_alone(
    own: float, shared: float, half_life: float, age: float
) -> None:
    life = [
        said(value="shared", strength=shared, half_life_days=None),
        said(value="own", strength=own, half_life_days=half_life, scope="platform:codex",
             observed_at=days_ago(age)),
    ]  # fmt: skip
    document = compile_signals(life, NOW).documents["codex"]
    hidden = abs(weight_at(own, half_life, age)) >= OVERLAY_FLOOR
    [entry] = view(document, NOW)
    assert entry.value == ("own" if hidden else "shared")
    assert document["keys"][KEYS[0]]["value"] == entry.value  # also to who weighs nothing anew
    assert why(life, KEYS[0], NOW, "codex").winner == life[hidden].id


@pytest.mark.promise("P3-core-overlay", "P3-defect-13", "R-15")
@given(st.sampled_from((-1, 1)), st.floats(OVERLAY_FLOOR, 1), st.floats(0.1, 400), st.floats(0, 9))
@example(1, 0.8, 90.0, 4.0)
@example(-1, 0.8, 90.0, 4.1)
def test_a_stored_platforms_entry_makes_way_once_it_has_faded_and_not_before(
    sign: int, strength: float, half_life: float, half_lives: float
) -> None:
    life = kept(
        [
            said(value="shared", strength=0.01, half_life_days=None),
            said(value="own", strength=sign * strength, half_life_days=half_life,
                 scope="platform:codex"),
        ]
    )  # fmt: skip
    later = NOW + timedelta(days=half_life * half_lives)
    document = read_document(encoded(compile_signals(life, NOW).documents["codex"]))
    age = (later - NOW).total_seconds() / 86_400
    holds = abs(weight_at(strength, half_life, age)) >= OVERLAY_FLOOR
    [entry] = view(document, later)
    assert (entry.value, entry.scope) == (
        ("own", "platform:codex") if holds else ("shared", "global")
    )
    assert (entry,) == view(compile_signals(life, later).documents["codex"], later)
    assert why(life, KEYS[0], later, "codex").winner == entry.sources[0]


@pytest.mark.promise("P3-defect-03")
def test_a_platform_whose_last_statement_goes_has_no_document() -> None:
    own = said(value="verbose", scope="platform:codex", observed_at=days_ago(2))
    taken_back = said(value="brief", supersedes=own.id, observed_at=days_ago(1))
    assert set(compile_signals([own], NOW).documents) == {None, "codex"}
    after = compile_signals([own, taken_back], NOW).documents
    assert set(after) == {None}
    assert [e.value for e in view(after[None], NOW)] == ["brief"]


@pytest.mark.promise("P3-defect-01", "R-15")
@given(st.permutations(["tabs", "spaces", "both", "neither"]), st.floats(0.01, 1))
def test_the_last_word_of_a_session_holds_whatever_its_hash(
    words: list[str], strength: float
) -> None:
    session = [
        said(value=word, strength=strength, observed_at=days_ago(0), source={"sequence": place})
        for place, word in enumerate(words)
    ]
    for order in (session, session[::-1]):
        entry = compile_signals(order, NOW).documents[None]["keys"][KEYS[0]]
        assert entry["value"] == words[-1]


@pytest.mark.promise("P3-core-decay", "001-decay")
@given(
    st.floats(-1, 1), st.floats(1e-9, 1e9), st.floats(1e-9, 1e9), st.floats(1e-9, 1e9)
)  # fmt: skip
def test_a_weight_is_the_formula_and_only_ever_fades(
    strength: float, half_life: float, age: float, more: float
) -> None:
    weight = weight_at(strength, half_life, age)
    assert weight == pytest.approx(strength * math.exp2(-age / half_life), abs=5.1e-7)
    assert abs(weight_at(strength, half_life, age + more)) <= abs(weight) <= abs(strength) + 5e-7
    assert math.copysign(1, weight) == 1 or weight < 0
    assert weight_at(strength, None, age) == pytest.approx(strength, abs=5.1e-7)


@pytest.mark.promise("P3-core-signal", "P3-core")
@given(statements())
def test_a_signal_comes_back_from_its_own_payload_and_from_a_store(signal: Signal) -> None:
    assert read_again(signal) == signal
    [stored_one] = kept([signal])
    [again], bad = read_lines([json.dumps(stored(stored_one))])
    assert (again, bad) == (stored_one, [])


@pytest.mark.promise("P3-defect-04", "P3-core-compile")
@given(
    st.lists(st.one_of(st.binary(max_size=60), st.text(max_size=60).map(str.encode)), max_size=8)
)
def test_a_line_that_is_no_signal_is_set_aside_and_stops_nothing(junk: list[bytes]) -> None:
    good = json.dumps(stored(said(observed_at=days_ago(1)))).encode()
    lines = [good, *(line.replace(b"\n", b" ") for line in junk)]
    signals, bad = read_lines(lines)
    blank = sum(1 for line in lines if not line.strip())
    assert len(signals) + len(bad) + blank == len(lines)
    compiled = compile_signals(signals, NOW, len(bad))
    assert compiled.report.quarantined == compiled.documents[None]["quarantined"] == len(bad)
    assert KEYS[0] in compiled.documents[None]["keys"]


@pytest.mark.promise("P3-core-why", "P3-core-overlay")
@given(lives(), st.sampled_from(PLATFORMS))
def test_why_names_every_statement_once_and_the_one_that_is_compiled(
    life: list[Signal], platform: str | None
) -> None:
    documents = compile_signals(life, NOW).documents
    holds = {entry.key: entry for entry in view(documents.get(platform, documents[None]), NOW)}
    for key in KEYS:
        found = why(life, key, NOW, platform)
        about = sorted(signal.id for signal in life if signal.key == key)
        assert sorted(one.signal.id for one in found.candidates) == about
        verdicts = Counter(one.verdict for one in found.candidates)
        assert verdicts["wins"] == (key in holds)
        if key in holds:
            assert found.winner == holds[key].sources[0] == found.candidates[0].signal.id
            assert found.candidates[0].weight == holds[key].weight
        known = {signal.id for signal in life}
        assert all(one.by in known for one in found.candidates if one.by is not None)

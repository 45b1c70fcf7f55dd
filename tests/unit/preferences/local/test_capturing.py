"""The stream of a local store: each signal once, gapless, all or none, whatever its end is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgment.kit.errors import Conflict, Refusal
from judgment.preferences.model import InvalidSignal, Signal
from judgment.preferences.signals import from_stored
from tests.unit.preferences.local.stores import NOW, Clock, lines, opened, statement

pytestmark = pytest.mark.promise("P3-cli-files")


def test_signals_stand_in_the_stream_at_gapless_positions(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.append([statement("a"), statement("b")])
    store.append([statement("c")])
    signals, bad = store.signals()
    assert [(s.key, s.position, s.recorded_at) for s in signals] == [
        ("a", 1, NOW), ("b", 2, NOW), ("c", 3, NOW),
    ]  # fmt: skip
    assert bad == []


def test_the_same_statement_sent_again_is_kept_once_where_it_was(tmp_path: Path) -> None:
    store = opened(tmp_path)
    first = store.append([statement("a"), statement("b")])
    before = (store.root / "signals.jsonl").read_bytes()
    again = store.append([statement("b"), statement("a"), statement("a")])
    assert [one.is_new for one in (*first, *again)] == [True, True, False, False, False]
    assert [one.signal.position for one in again] == [2, 1, 1]
    assert (store.root / "signals.jsonl").read_bytes() == before


@pytest.mark.promise("P3-defect-02")
@pytest.mark.parametrize("change", [
    {"scope": "platform:codex"}, {"kind": "fact", "half_life_days": 90}, {"strength": 0.7},
    {"value": False}, {"value": 1},
])  # fmt: skip
def test_a_statement_that_differs_in_anything_is_another_one(
    tmp_path: Path, change: dict[str, Any]
) -> None:
    kept = opened(tmp_path).append([statement("a"), statement("a", **change)])
    assert [one.is_new for one in kept] == [True, True]


def test_a_whole_batch_is_refused_for_one_bad_statement(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.append([statement("a")])
    before = (store.root / "signals.jsonl").read_bytes()
    with pytest.raises(InvalidSignal):
        store.append([statement("b"), statement("c", strength=2)])
    assert (store.root / "signals.jsonl").read_bytes() == before


@pytest.mark.promise("P3-defect-17", "P3-ledger-chain")
@pytest.mark.parametrize("key", ["consent.disclosure.bob", "consent.grant", "x"])
def test_nobody_captures_a_grant_or_a_ledger_entry(tmp_path: Path, key: str) -> None:
    store = opened(tmp_path)
    forged = statement(key, {"keys": ["x"], "audience": "bob", "purpose": "read"}, kind="consent")
    with pytest.raises(InvalidSignal, match="granted, not captured"):
        store.append([forged])
    stored = {**forged, "v": 1, "id": "forged", "position": 1}
    with pytest.raises(InvalidSignal, match="granted"):
        store.receive([from_stored(stored)])
    store.append([statement(key, {"effect": "allow", "audience": "bob", "key_glob": "*"})])
    store.compile()
    assert (store.ledger(), store.grants().events) == ([], ())
    assert not store.grants().open("x", "bob", "read", NOW)


def received(name: str, **change: Any) -> Signal:
    """A signal as another store names it."""
    return from_stored({**statement("a"), "v": 1, "id": name, "position": 9, **change})


def test_a_signal_of_another_store_keeps_its_name_and_conflicts_with_another_of_that_name(
    tmp_path: Path,
) -> None:
    store = opened(tmp_path)
    kept = store.receive([received("theirs", recorded_at="2026-06-02T00:00:00Z")])
    assert (kept[0].signal.id, kept[0].signal.position) == ("theirs", 1)
    assert kept[0].signal.recorded_at is not None
    assert kept[0].signal.recorded_at.day == 2
    assert not store.receive([received("theirs")])[0].is_new
    with pytest.raises(Conflict):
        store.receive([received("new"), received("theirs", strength=0.1)])
    assert [s.id for s in store.signals()[0]] == ["theirs"]


def test_a_name_within_a_value_is_not_taken_for_a_signals(tmp_path: Path) -> None:
    store = opened(tmp_path)
    name = store.append([statement("b")])[0].signal.id
    other = opened(tmp_path / "other")
    other.append([statement("a", {"id": name}), statement("c", f'"id":"{name}"')])
    assert other.append([statement("b")])[0].is_new
    assert not other.append([statement("b")])[0].is_new


def test_many_at_once_are_found_again_as_few_are(tmp_path: Path) -> None:
    store = opened(tmp_path)
    many = [statement(f"k{n}") for n in range(50)]
    assert all(one.is_new for one in store.append(many))
    assert not any(one.is_new for one in store.append(many))
    assert not store.append(many[7:8])[0].is_new
    assert [s.position for s in store.signals()[0]] == list(range(1, 51))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(cut=st.integers(0, 2_000), junk=st.binary(max_size=8).filter(lambda b: b"\n" not in b))
def test_a_torn_end_is_never_read_and_never_glued_to_what_follows(
    tmp_path_factory: pytest.TempPathFactory, cut: int, junk: bytes
) -> None:
    """The file ends at any byte, with anything behind it: what was whole stays whole."""
    store = opened(tmp_path_factory.mktemp("torn"))
    store.append([statement("a"), statement("b\u00e9"), statement("c")])
    path = store.root / "signals.jsonl"
    data = path.read_bytes()
    path.write_bytes(data[: cut % (len(data) + 1)] + junk)
    before, _ = store.signals()
    store.append([statement("d")])
    after, bad = store.signals()
    assert after[: len(before)] == before
    assert [s.key for s in after[len(before) :]] == ["d"]
    assert [s.position for s in after] == list(range(1, len(after) + 1))
    assert len(bad) <= (1 if junk else 0)
    assert path.read_bytes().endswith(b"\n")


def test_a_whole_last_line_without_its_line_feed_counts(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.append([statement("a")])
    path = store.root / "signals.jsonl"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert [s.key for s in store.signals()[0]] == ["a"]
    store.append([statement("b")])
    assert [record["key"] for record in lines(path)] == ["a", "b"]


@pytest.mark.promise("P3-defect-04")
@pytest.mark.parametrize("line", [
    b'{"v":1,"recorded_at":"garbage"}', b"{", b"[]", b"\xff\xfe", b"null", b"NaN", b'{"v":2}',
])  # fmt: skip
def test_a_line_that_is_no_signal_is_set_aside_and_counted(tmp_path: Path, line: bytes) -> None:
    store = opened(tmp_path)
    store.append([statement("a")])
    with (store.root / "signals.jsonl").open("ab") as file:
        file.write(line + b"\n")
    store.append([statement("b")])
    outcome = store.compile()
    assert [bad.position for bad in outcome.quarantined] == [2]
    document = store.document()
    assert document is not None
    assert (sorted(document["keys"]), document["quarantined"]) == (["a", "b"], 1)
    assert [s.position for s in store.signals()[0]] == [1, 2]


def test_a_clock_that_goes_back_loses_no_order(tmp_path: Path) -> None:
    clock = Clock()
    store = opened(tmp_path, clock)
    store.append([statement("a")])
    clock.now = NOW.replace(year=2025)
    store.append([statement("b")])
    assert [s.position for s in store.signals()[0]] == [1, 2]


def test_the_stores_own_names_cannot_be_remembered_over(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.remember(definition_id="d")
    assert store.meta() == {"v": 1, "definition_id": "d"}
    with pytest.raises(ValueError, match="ledger"):
        store.remember(ledger={})
    store.remember(definition_id=None)
    assert store.meta() == {"v": 1}


def test_a_meta_file_that_cannot_be_read_is_said_and_left_as_it_is(tmp_path: Path) -> None:
    store = opened(tmp_path)
    store.append([statement("a")])
    path = store.root / "meta.json"
    for text in ("{", "[]", json.dumps({"v": 7})):
        path.write_text(text)
        with pytest.raises(Refusal, match=r"meta\.json cannot be read"):
            store.compile()
        assert path.read_text() == text
    assert [s.key for s in store.signals()[0]] == ["a"]

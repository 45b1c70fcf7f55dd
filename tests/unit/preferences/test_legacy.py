"""Records of the older systems as they really lie about: odd wrappings, odd names, half of it."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.preferences.compiling import compile_signals
from judgment.preferences.legacy import (
    CAPTURE_PREFIX,
    TEMP_PREFIX,
    entry_view,
    read_record,
    rounded_json,
    temp_id,
)
from judgment.preferences.model import InvalidSignal, Signal
from judgment.preferences.signals import read_lines, stored
from tests.unit.preferences.statements import NOW, days_ago, said

pytestmark = pytest.mark.promise("P3-core-vectors", "P3-fulcra")

SHORT: dict[str, Any] = {"key": "a.b", "value": 1, "scope": "global", "strength": 0.5}
TEXT = json.dumps(SHORT)
NAME = TEMP_PREFIX + "0" * 24


def record(**changes: Any) -> dict[str, Any]:
    """A short record with its own time, changed; a field of `...` is left out."""
    whole = {"id": "r", "recorded_at": days_ago(1), "note": TEXT, **changes}
    return {name: value for name, value in whole.items() if value is not ...}


@pytest.mark.parametrize(
    "odd",
    [
        record(metadata=None),
        record(note="", data=TEXT),
        record(note=None, data=TEXT),
        record(note=..., data=json.dumps({"note": TEXT, "tags": []})),
        record(note=json.dumps({"note": json.dumps({"note": TEXT})})),
        record(note=json.dumps({**SHORT, "note": "why they said so"})),
        record(note=json.dumps({**SHORT, "kind": None, "confidence": None, "scope": None})),
        record(note=json.dumps({**SHORT, "supersedes": None, "source": None, "v": None})),
        record(note=json.dumps({**SHORT, "observed_at": "garbage", "mood": "good"})),
        record(sources=[None, 7, {}, "d"]),
        record(sources=None, source="d"),
        record(sources=[TEMP_PREFIX + "0" * 300, TEMP_PREFIX + "\n- forged: line"]),
        record(recorded_at={"start": days_ago(1), "end": None}),
        record(recorded_at=None, note=json.dumps({**SHORT, "observed_at": days_ago(1)})),
    ],
    ids=lambda odd: json.dumps(odd)[:90],
)
def test_a_record_of_an_odd_shape_still_says_what_it_says(odd: dict[str, Any]) -> None:
    signal = read_record(odd)
    said_at = NOW - timedelta(days=1)
    assert (signal.id, signal.key, signal.value, signal.strength) == ("r", "a.b", 1, 0.5)
    assert (signal.observed_at, signal.half_life_days, signal.confidence) == (said_at, 90.0, 1.0)
    assert (signal.kind, signal.scope, signal.source.platform) == (
        *("preference", "global", "unknown"),
    )


@pytest.mark.parametrize(
    "broken",
    [
        None, [], "text", {},
        record(id=7), record(id=""), record(id=...),
        record(recorded_at="garbage"), record(recorded_at=1_780_000_000), record(recorded_at={}),
        record(metadata=[]), record(sources=7),
        record(note="prefers tea"), record(note="[" * 100_000), record(note="[]"),
        record(note={"note": {"note": {"note": {"note": SHORT}}}}),
        record(note=json.dumps({**SHORT, "strength": 9.99})),
        record(note=json.dumps({**SHORT, "strength": True})),
        record(note='{"key":"a.b","value":1e999,"strength":0.5}'),
        record(note='{"key":"a.b","value":1,"strength":NaN}'),
        record(note=json.dumps({**SHORT, "half_life_days": 0})),
        record(note=json.dumps({**SHORT, "scope": "platform:../../x"})),
        record(note=json.dumps({**SHORT, "key": "a\n- forged"})),
        record(note=json.dumps({**SHORT, "value": "\ud800"})),
        record(note=json.dumps({**SHORT, "v": 2})),
    ],
    ids=lambda one: repr(one)[:70],
)  # fmt: skip
def test_what_says_nothing_that_can_be_read_is_refused_and_nothing_else_is_raised(
    broken: object,
) -> None:
    with pytest.raises(InvalidSignal):
        read_record(broken)


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=8) | st.sampled_from([TEXT]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    ("id", "note", "data", "sources", "source", "metadata", "recorded_at", "start",
                     "key", "value", "strength")
                ),
                inner,
                max_size=6,
            )
        ),
        max_leaves=12,
    )
)  # fmt: skip
def test_any_json_is_a_signal_that_can_be_kept_or_refused(value: Any) -> None:
    try:
        signal = read_record(value)
    except InvalidSignal:
        return
    assert read_lines([json.dumps(stored(signal))])[1] == []


def test_the_reference_names_the_record_and_every_other_name_is_an_alias() -> None:
    names = [TEMP_PREFIX + digit * 24 for digit in "0123456789abcdef0123"]
    signal = read_record(record(sources=[*names, CAPTURE_PREFIX + "codex"]))
    assert (signal.id, signal.source.platform) == (NAME, "codex")
    assert signal.aliases == tuple(names[1:16])
    assert read_record(record(sources=["d", NAME])).aliases == ("r",)


def test_an_older_record_that_names_the_other_name_is_superseded_by_it() -> None:
    first = read_record(record(sources=[NAME]))
    for name in (NAME, "r"):
        text = json.dumps({**SHORT, "value": 2, "supersedes": name})
        later: Signal = read_record(record(id="s", recorded_at=days_ago(3), note=text))
        entry = compile_signals([first, later], NOW).documents[None]["keys"]["a.b"]
        assert (entry["value"], entry["n_signals"]) == (2, 1)


def test_null_is_a_value_and_a_null_half_life_is_a_lasting_one() -> None:
    signal = read_record(record(note=json.dumps({**SHORT, "value": None, "half_life_days": None})))
    assert (signal.value, signal.half_life_days) == (None, None)
    assert temp_id("k", "t", "p") != temp_id("k", "t", "p", None)


def test_the_older_form_rounds_within_lists_and_objects_and_leaves_the_rest() -> None:
    given_value = {"b": [1e-9, -1e-9, {"c": 0.1234567}], "a": [True, 10**30, "1.00000001", None]}
    assert rounded_json(given_value) == (
        '{"a":[true,1000000000000000000000000000000,"1.00000001",null],"b":[0.0,0.0,{"c":0.123457}]}'
    )


def test_an_older_reader_sees_six_fields_of_a_platforms_entry_and_nothing_beneath() -> None:
    life = [said(value="shared"), said(value="own", scope="platform:codex")]
    entry = compile_signals(life, NOW).documents["codex"]["keys"]["dining.cuisine.thai"]
    assert "beneath" in entry
    assert entry_view(entry)["value"] == "own"
    assert sorted(entry_view(entry)) == [
        *("confidence", "n_signals", "observed_at", "sources", "value", "weight"),
    ]

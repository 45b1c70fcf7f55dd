"""Whatever lies in the account is read as a signal or refused by name; nothing else happens."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.preferences.fulcra.records import lacking_fields, signal_of
from judgment.preferences.model import InvalidSignal, Signal
from judgment.preferences.signals import payload_of, signal_id
from tests.unit.preferences.fulcra.hosts import NOW

pytestmark = pytest.mark.promise("P3-fulcra")
FIELDS = ["v", "kind", "key", "scope", "value", "strength", "confidence", "half_life_days",
          "observed_at", "source", "supersedes", "payload", "id", "start_time"]  # fmt: skip
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["global", "preference", "platform:codex", "2026-06-01T00:00:00Z", "a.b"])
)
ANYTHING = st.recursive(
    LEAVES,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), inner, max_size=8)
    ),
    max_leaves=12,
)


@given(record=ANYTHING, payload=ANYTHING)
def test_anything_at_all_is_a_signal_or_refused(record: Any, payload: Any) -> None:
    if isinstance(record, dict):
        record = {**record, "payload": json.dumps(payload)}
    with suppress(InvalidSignal):
        found = signal_of(record, NOW)
        assert isinstance(found, Signal)
        assert found.id == signal_id(payload_of(found))


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 50_000, "NaN", "", "\x00", "1" * 5000])
def test_a_payload_that_would_break_a_parser_is_refused(text: str) -> None:
    with pytest.raises(InvalidSignal):
        signal_of({"payload": text, "id": "x"}, NOW)


@given(schema=ANYTHING)
def test_any_schema_but_one_that_takes_us_lacks_something(schema: Any) -> None:
    assert lacking_fields(schema)

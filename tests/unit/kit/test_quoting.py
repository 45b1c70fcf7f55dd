"""Untrusted text becomes one inert line, and reads back as what it was."""

from __future__ import annotations

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.kit.quoting import escape, quote

HOSTILE = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            '<>`~\n\r\t\v\x1b\x00\x85\u2028\u2029\u202e\u2066\u200b\ufeff\ufe0f\u3164\\"'
        ),
        st.characters(categories=["Cf", "Cc", "Co", "Cn", "Zl", "Zp", "Zs"]),
    )
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | HOSTILE,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(HOSTILE, inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@pytest.mark.promise("P3-adapters-budget")
@given(VALUES)
def test_a_quoted_value_is_one_visible_line_and_reads_back(value: object):
    line = quote(value)
    assert json.loads(line) == value
    assert not set(line) & set("<>`")
    assert all(c == " " or unicodedata.category(c)[0] not in "CZ" for c in line), (
        "controls, directions and the invisible are escaped"
    )


@pytest.mark.parametrize(
    "unseen", ["\ufe0f", "\u034f", "\u115f", "\u3164", "\uffa0", "\u2800", "\U000e0101"]
)
def test_what_cannot_be_seen_is_spelt_out(unseen: str):
    assert unseen not in quote(unseen)
    assert json.loads(quote(unseen)) == unseen


def test_letters_of_any_script_stay_as_they_are():
    for text in ("naïve café", "日本語", "тишина", "שלום", "😀"):
        assert quote(text) == f'"{text}"'


def test_the_same_object_is_quoted_the_same_in_whatever_order_it_came():
    assert (
        quote({"b": 1, "a": [1.0, True]})
        == quote({"a": [1.0, True], "b": 1})
        == '{"a":[1.0,true],"b":1}'
    )


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_what_is_no_number_is_refused(number: float):
    with pytest.raises(ValueError, match="JSON compliant"):
        quote([number])


def test_plain_text_keeps_its_backslashes():
    assert escape("a\\b\u202e") == "a\\b\\u202e"

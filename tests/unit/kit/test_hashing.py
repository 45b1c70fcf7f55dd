"""Equal values give equal text, and unequal ones do not."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.kit.hashing import canonical_json, digest, sha256_hex

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_a_digest_is_sha_256_in_lower_case_hexadecimal() -> None:
    assert sha256_hex("é") == sha256_hex("é".encode()) == hashlib.sha256("é".encode()).hexdigest()
    assert len(sha256_hex(b"")) == 64


def test_half_a_surrogate_has_a_digest_too() -> None:
    assert sha256_hex("\ud800") != sha256_hex("\udfff")


@given(value=JSON)
def test_the_canonical_form_reads_back_as_the_value(value: Any) -> None:
    if "inf" not in repr(value):
        assert json.loads(canonical_json(value)) == value


@given(value=st.dictionaries(st.text(), JSON.filter(lambda v: "inf" not in repr(v)), min_size=2))
def test_the_order_of_keys_does_not_matter(value: dict[str, Any]) -> None:
    other = dict(reversed(value.items()))
    assert canonical_json(other) == canonical_json(value)
    assert digest(other) == digest(value)


def test_the_canonical_form_has_no_spaces_and_keeps_letters() -> None:
    assert canonical_json({"b": [1, "ü"], "a": None}) == '{"a":null,"b":[1,"ü"]}'


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_what_json_cannot_say_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="JSON"):
        canonical_json(value)
    with pytest.raises(TypeError):
        canonical_json({1, 2})

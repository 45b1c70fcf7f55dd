"""Keys are long, random and recognisable; ids are read in one form only."""

from __future__ import annotations

import re
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.kit.ids import key_prefix, new_agent_key, new_id, parse_uuid


@pytest.mark.promise("000-4-keys")
def test_a_key_is_sync_and_43_url_safe_characters() -> None:
    keys = {new_agent_key() for _ in range(200)}
    assert len(keys) == 200
    assert all(re.fullmatch(r"sync_[A-Za-z0-9_-]{43}", key) for key in keys)
    assert {len(key) for key in keys} == {48}


@pytest.mark.promise("000-10.3")
def test_the_shown_prefix_tells_keys_apart_and_opens_nothing() -> None:
    key = new_agent_key()
    assert key.startswith(key_prefix(key))
    assert len(key_prefix(key)) == 12
    assert key_prefix("x") == "x"


def test_ids_are_random() -> None:
    assert new_id().version == 4
    assert new_id() != new_id()


@given(value=st.uuids())
def test_an_id_is_read_in_its_canonical_form_whatever_the_case(value: uuid.UUID) -> None:
    assert parse_uuid(str(value)) == parse_uuid(str(value).upper()) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "me",
        "0f1d7f0c3c574a3c9d0f7f1c7a2b9e11",
        "{0f1d7f0c-3c57-4a3c-9d0f-7f1c7a2b9e11}",
        "urn:uuid:0f1d7f0c-3c57-4a3c-9d0f-7f1c7a2b9e11",
        " 0f1d7f0c-3c57-4a3c-9d0f-7f1c7a2b9e11",
        "0f1d7f0c-3c57-4a3c-9d0f-7f1c7a2b9e1",
    ],
)
def test_any_other_writing_of_an_id_is_none(text: str) -> None:
    assert parse_uuid(text) is None

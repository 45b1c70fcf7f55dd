"""A principal survives the flat strings of an authorizer's context, whoever it is."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.contract.principal import Principal
from judgment.contract.scopes import Scope

AGENTS = st.builds(
    Principal,
    kind=st.just("agent"),
    user_id=st.uuids(),
    key_id=st.uuids(),
    key_prefix=st.text(st.characters(codec="ascii", categories=["L", "N"]), max_size=12),
    scopes=st.frozensets(st.sampled_from([scope.value for scope in Scope])),
)
OWNERS = st.builds(Principal, kind=st.just("owner"), user_id=st.uuids(), is_admin=st.booleans())


@given(principal=AGENTS | OWNERS)
def test_a_principal_reads_back_as_it_was_written(principal: Principal) -> None:
    assert Principal.from_context(principal.to_context()) == principal


@given(principal=AGENTS | OWNERS)
def test_api_gateway_sees_strings_only(principal: Principal) -> None:
    context = principal.to_context()
    assert all(isinstance(value, str) for value in context.values())


@given(principal=AGENTS | OWNERS, extra=st.text())
def test_what_the_gateway_adds_to_the_context_is_ignored(principal: Principal, extra: str) -> None:
    context: dict[str, Any] = {**principal.to_context(), "integrationLatency": 3, "via": extra}
    assert Principal.from_context(context) == principal


@pytest.mark.promise("000-4-validate")
@pytest.mark.parametrize(
    "context",
    [
        {},
        {"kind": "agent"},
        {"kind": "admin", "user_id": "0f1d7f0c-3c57-4a3c-9d0f-7f1c7a2b9e11"},
        {"kind": "agent", "user_id": "me"},
        {"kind": "agent", "user_id": ""},
        {"kind": "agent", "user_id": "0f1d7f0c-3c57-4a3c-9d0f-7f1c7a2b9e11", "key_id": "k"},
    ],
    ids=str,
)
def test_a_context_that_is_not_ours_is_refused(context: dict[str, str]) -> None:
    with pytest.raises((KeyError, ValueError)):
        Principal.from_context(context)


@pytest.mark.parametrize("text", ["True", "1", "yes", "", "false"])
def test_only_the_word_true_makes_an_admin(text: str) -> None:
    context = {"kind": "owner", "user_id": "0f1d7f0c-3c57-4a3c-9d0f-7f1c7a2b9e11"}
    assert Principal.from_context({**context, "is_admin": text}).is_admin is False
    assert Principal.from_context({**context, "is_admin": "true"}).is_admin is True

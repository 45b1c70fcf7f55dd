"""The closed vocabulary of refusals, the same in the contract, the code and the gateway."""

from __future__ import annotations

import json

import pytest
from pydantic import ValidationError

from infra.gateway_responses import GATEWAY_RESPONSES
from judgment.contract.errors import ErrorCode, Problem, UnauthorizedProblem
from judgment.kit import errors

# Seed 000 §4 and the architecture's wire rules.
VOCABULARY = {
    "invalid_request": 400,
    "unauthorized": 401,
    "profile_access_disabled": 403,
    "forbidden": 403,
    "not_found": 404,
    "conflict": 409,
    "too_large": 413,
    "rate_limited": 429,
    "internal_error": 500,
    "unavailable": 503,
}


def refusals(root: type[errors.Refusal] = errors.Refusal) -> list[type[errors.Refusal]]:
    """The tree of refusals, root first."""
    return [root, *(leaf for branch in root.__subclasses__() for leaf in refusals(branch))]


@pytest.mark.promise("000-4-errors", "000-12")
def test_the_contract_knows_exactly_the_vocabulary() -> None:
    assert list(ErrorCode.__args__) == list(VOCABULARY)


@pytest.mark.promise("000-4-errors")
def test_each_code_has_one_refusal_with_its_status() -> None:
    ours = [r for r in refusals() if r.__module__ == errors.__name__]
    assert {r.code: r.status for r in ours} == VOCABULARY
    assert len(ours) == len(VOCABULARY)


@pytest.mark.promise("000-4-errors", "P1-6")
@pytest.mark.parametrize("row", GATEWAY_RESPONSES, ids=lambda row: row.type)
def test_the_gateways_own_answers_speak_the_contract(row) -> None:
    body = json.loads(row.body)
    model = UnauthorizedProblem if row.status == 401 else Problem
    problem = model.model_validate(body)
    assert VOCABULARY[problem.code] == row.status


@pytest.mark.promise("R-19")
def test_the_401_body_is_the_one_of_the_ruling() -> None:
    wanted = (
        '{"code":"unauthorized","error":"Unauthorized","message":"Missing or invalid Sync API key.'
        ' Send header: Authorization: Bearer <key>"}'
    )
    bodies = {row.body for row in GATEWAY_RESPONSES if row.status == 401}
    assert bodies == {wanted}


@pytest.mark.promise("000-4-errors")
def test_an_absent_retry_time_is_left_out_and_a_present_one_is_at_least_a_second() -> None:
    assert Problem(code="not_found", message="m").model_dump() == {
        "code": "not_found",
        "message": "m",
    }
    limited = Problem(code="rate_limited", message="m", retry_after_seconds=1)
    assert limited.model_dump()["retry_after_seconds"] == 1
    with pytest.raises(ValidationError):
        Problem(code="rate_limited", message="m", retry_after_seconds=0)


def test_only_a_401_may_carry_error() -> None:
    with pytest.raises(ValidationError):
        Problem.model_validate({"code": "not_found", "message": "m", "error": "Not found"})
    with pytest.raises(ValidationError):
        Problem.model_validate({"code": "teapot", "message": "m"})

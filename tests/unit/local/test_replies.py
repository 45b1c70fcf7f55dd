"""Replies of doors, and the gateway's own words."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infra.gateway_responses import GATEWAY_RESPONSES, gateway_response
from infra.local.gateway.replies import MalformedReply, own_response, rendered
from judgment.contract.errors import Problem, UnauthorizedProblem

_AWS_TYPES = {
    *("ACCESS_DENIED", "API_CONFIGURATION_ERROR", "AUTHORIZER_CONFIGURATION_ERROR"),
    *("AUTHORIZER_FAILURE", "BAD_REQUEST_BODY", "BAD_REQUEST_PARAMETERS", "DEFAULT_4XX"),
    *("DEFAULT_5XX", "EXPIRED_TOKEN", "INTEGRATION_FAILURE", "INTEGRATION_TIMEOUT"),
    *("INVALID_API_KEY", "INVALID_SIGNATURE", "MISSING_AUTHENTICATION_TOKEN"),
    *("QUOTA_EXCEEDED", "REQUEST_TOO_LARGE", "RESOURCE_NOT_FOUND", "THROTTLED"),
    *("UNAUTHORIZED", "UNSUPPORTED_MEDIA_TYPE", "WAF_FILTERED"),
}


@pytest.mark.promise("000-4", "R-19", "R-20")
def test_every_response_type_of_api_gateway_has_a_row_in_the_contracts_form() -> None:
    assert {row.type for row in GATEWAY_RESPONSES} == _AWS_TYPES
    for row in GATEWAY_RESPONSES:
        problem = Problem if row.status != 401 else UnauthorizedProblem
        shown = problem.model_validate_json(row.body)
        retry = dict(row.headers).get("Retry-After")
        assert retry == (str(shown.retry_after_seconds) if shown.retry_after_seconds else None)
        assert row.body.isascii()
        assert "$" not in row.body  # API Gateway would take it for a variable


@pytest.mark.promise("R-19")
def test_the_401_is_the_one_that_the_ruling_gives_and_challenges() -> None:
    row = gateway_response("UNAUTHORIZED")
    assert row.body == (
        '{"code":"unauthorized","error":"Unauthorized","message":"Missing or invalid Sync API '
        'key. Send header: Authorization: Bearer <key>"}'
    )
    assert dict(row.headers)["WWW-Authenticate"] == 'Bearer realm="sync"'
    assert own_response("UNAUTHORIZED").body == row.body.encode()


@pytest.mark.promise("R-20")
@pytest.mark.parametrize(
    ("type_", "status", "code"),
    [
        ("AUTHORIZER_FAILURE", 503, "unavailable"),
        ("AUTHORIZER_CONFIGURATION_ERROR", 503, "unavailable"),
        ("INTEGRATION_TIMEOUT", 503, "unavailable"),
        ("INTEGRATION_FAILURE", 503, "unavailable"),
        ("UNSUPPORTED_MEDIA_TYPE", 400, "invalid_request"),
        ("MISSING_AUTHENTICATION_TOKEN", 404, "not_found"),
        ("WAF_FILTERED", 403, "forbidden"),
        ("REQUEST_TOO_LARGE", 413, "too_large"),
        ("THROTTLED", 429, "rate_limited"),
        ("DEFAULT_5XX", 500, "internal_error"),
    ],
)
def test_the_gateways_statuses_are_the_ruled_ones(type_: str, status: int, code: str) -> None:
    row = gateway_response(type_)
    assert (row.status, json.loads(row.body)["code"]) == (status, code)


@pytest.mark.parametrize(
    "reply",
    [
        None,
        "text",
        [],
        {},
        {"body": "x"},
        {"statusCode": None},
        {"statusCode": "abc"},
        {"statusCode": 99},
        {"statusCode": 600},
        {"statusCode": 200, "body": {"not": "text"}},
        {"statusCode": 200, "headers": ["a"]},
        {"statusCode": 200, "multiValueHeaders": {"A": "not a list"}},
        {"statusCode": 200, "unknown": 1},
    ],
)
def test_what_is_no_proxy_response_is_refused(reply: Any) -> None:
    with pytest.raises(MalformedReply):
        rendered(reply)


def test_headers_leave_as_api_gateway_sends_them() -> None:
    response = rendered(
        {
            "statusCode": "201",
            "headers": {"WWW-Authenticate": "B", "X-A": "1", "Content-Length": "999"},
            "multiValueHeaders": {"x-a": ["2", "3"]},
            "body": "done",
        }
    )
    assert response.status == 201
    assert response.headers == (
        ("x-amzn-Remapped-WWW-Authenticate", "B"),
        ("x-a", "2"),
        ("x-a", "3"),
        ("Content-Type", "application/json"),
    )

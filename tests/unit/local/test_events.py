"""The events have the form that the developer guide of API Gateway gives."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from infra.local.gateway.events import HttpRequest, Stamp, authorizer_event, proxy_event
from infra.local.gateway.routing import Match
from judgment.contract.routes import Route

_ROUTE = Route("POST", "/things/{name}", "door", "none", "")
_STAMP = Stamp("id-1", datetime(2026, 11, 30, 12, 0, 5, tzinfo=UTC), "127.0.0.1:8642")

# "Input format of a Lambda function for proxy integration", API Gateway developer guide.
_DOCUMENTED = {
    *("resource", "path", "httpMethod", "headers", "multiValueHeaders"),
    *("queryStringParameters", "multiValueQueryStringParameters", "pathParameters"),
    *("stageVariables", "requestContext", "body", "isBase64Encoded"),
}


def _event(**changes: Any) -> dict[str, Any]:
    request = {
        "method": "POST",
        "path": "/things/a%20b",
        "query": "",
        "headers": (("host", "evil.example"), ("authorization", "Bearer x")),
        "client": "192.0.2.7",
        "body": b"",
    }
    return proxy_event(
        HttpRequest(**{**request, **changes}), Match(_ROUTE, {"name": "a b"}), _STAMP
    )


@pytest.mark.promise("P1-9")
def test_the_event_has_exactly_the_documented_keys() -> None:
    event = _event()
    assert set(event) == _DOCUMENTED
    assert event["resource"] == "/things/{name}"
    assert event["path"] == "/things/a%20b"
    assert event["pathParameters"] == {"name": "a b"}


def test_repeated_parameters_and_headers_are_all_there_and_the_single_map_holds_the_last() -> None:
    event = _event(
        query="limit=1&limit=2&empty=&q=a+b%26",
        headers=(("x-one", "first"), ("x-one", "second")),
    )
    assert event["queryStringParameters"] == {"limit": "2", "empty": "", "q": "a b&"}
    assert event["multiValueQueryStringParameters"]["limit"] == ["1", "2"]
    assert event["headers"]["X-One"] == "second"
    assert event["multiValueHeaders"]["X-One"] == ["first", "second"]


def test_absent_parts_are_null_and_not_empty() -> None:
    event = _event()
    for name in ("queryStringParameters", "multiValueQueryStringParameters", "body"):
        assert event[name] is None


@pytest.mark.promise("R-27")
def test_the_domain_name_is_the_configured_one_whatever_the_host_header_says() -> None:
    event = _event()
    assert event["requestContext"]["domainName"] == "127.0.0.1:8642"
    assert event["headers"]["Host"] == "evil.example"


def test_a_client_cannot_claim_another_address_in_place_of_its_own() -> None:
    event = _event(headers=(("x-forwarded-for", "203.0.113.9"), ("x-forwarded-proto", "http")))
    assert event["headers"]["X-Forwarded-For"] == "203.0.113.9, 192.0.2.7"
    assert event["headers"]["X-Forwarded-Proto"] == "https"
    assert event["requestContext"]["identity"]["sourceIp"] == "192.0.2.7"


def test_bodies_are_text_and_bytes_that_are_none_are_replaced() -> None:
    assert _event(body="gr\u00fc\u00df".encode())["body"] == "gr\u00fc\u00df"
    assert _event(body=b"a\xffb")["body"] == "a\ufffdb"


def test_the_authorizer_sees_the_request_without_its_body() -> None:
    question = authorizer_event(_event(body=b"secret"))
    assert set(question) == (_DOCUMENTED - {"body", "isBase64Encoded"}) | {"type", "methodArn"}
    assert question["type"] == "REQUEST"
    assert question["methodArn"].endswith("/live/POST/things/a%20b")

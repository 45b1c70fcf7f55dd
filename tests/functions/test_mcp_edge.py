"""What the MCP door refuses before the SDK sees it, and that no other status gets out."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.mcp import edge
from judgment.contract.principal import Principal
from judgment.entry.event import BODY_LIMIT
from judgment.kit.errors import Unauthorized
from tests.fakes.gateway import META, mcp_door, proxy_event
from tests.fakes.rest_api import FakeRest

if TYPE_CHECKING:
    from functions.mcp.door import McpDoor

VERSION = "io.modelcontextprotocol/protocolVersion"
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
MODERN = {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "tools/list"}


@pytest.fixture(scope="module")
def door() -> Iterator[McpDoor]:
    with mcp_door(FakeRest()) as made:
        yield made


def error_of(reply: dict[str, Any]) -> int:
    """The JSON-RPC error code of a reply."""
    assert reply["headers"]["Content-Type"] == "application/json"
    body = json.loads(reply["body"])
    assert body["jsonrpc"] == "2.0"
    return body["error"]["code"]


@pytest.mark.promise("P1-7", "R-20")
@pytest.mark.parametrize("method", ["GET", "DELETE", "HEAD", "OPTIONS", "PUT", "PATCH"])
def test_any_method_but_post_is_405_before_anything_else(door: McpDoor, method: str) -> None:
    event = proxy_event("{", method=method, headers={"Origin": "https://evil"}, principal=None)
    reply = door(event, None)
    assert reply["statusCode"] == 405
    assert reply["headers"]["Allow"] == "POST"


@pytest.mark.promise("P1-refuse", "R-20", "P1-refuse-mcp")
@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("https://evil.test", 403),
        ("null", 403),
        ("https://console.test.evil.test", 403),
        ("", 403),
        ("https://console.test", 200),
        ("https://CONSOLE.test/", 200),
    ],
)
def test_only_a_named_origin_may_call(door: McpDoor, origin: str, status: int) -> None:
    assert door(proxy_event(PING, headers={"Origin": origin}), None)["statusCode"] == status


@pytest.mark.promise("P1-refuse", "P1-refuse-mcp")
@pytest.mark.parametrize("batch", [[], [PING], [PING, PING]], ids=len)
def test_a_batch_is_told_what_to_do_instead(door: McpDoor, batch: list[Any]) -> None:
    reply = door(proxy_event(json.dumps(batch)), None)
    assert reply["statusCode"] == 400
    assert "one message a call" in json.loads(reply["body"])["error"]["message"]


@pytest.mark.promise("P1-refuse", "P1-refuse-mcp")
def test_no_second_spelling_of_a_header_hides_the_first(door: McpDoor) -> None:
    event = proxy_event(PING, headers={"Origin": "https://evil.test"})
    event["multiValueHeaders"] = {
        **event["multiValueHeaders"],
        "origin": ["https://console.test"],
    }
    assert door(event, None)["statusCode"] == 403


@pytest.mark.promise("R-19", "P1-refuse")
@pytest.mark.parametrize(
    "principal", [None, Principal("owner", UUID("7b0c4a56-6f0e-4a39-9d0e-1f6f0a4b2c11"))]
)
def test_without_an_agents_key_the_answer_is_the_one_401(
    door: McpDoor, principal: Principal | None
) -> None:
    reply = door(proxy_event(PING, principal=principal), None)
    assert reply["statusCode"] == 401
    assert reply["headers"]["WWW-Authenticate"] == 'Bearer realm="sync"'
    assert json.loads(reply["body"]) == {
        "code": "unauthorized",
        "error": "Unauthorized",
        "message": Unauthorized.default,
    }


@pytest.mark.promise("P1-refuse", "P1-refuse-mcp")
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("{", edge.PARSE_ERROR),
        ("", edge.PARSE_ERROR),
        ("[" * 100_000, edge.PARSE_ERROR),
        ([PING], edge.INVALID_REQUEST),
        ([], edge.INVALID_REQUEST),
        ("null", edge.INVALID_REQUEST),
        ({**PING, "jsonrpc": "1.0"}, edge.INVALID_REQUEST),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, edge.INVALID_REQUEST),
        ({**PING, "id": None}, edge.INVALID_REQUEST),
        ({**PING, "id": True}, edge.INVALID_REQUEST),
        ({**PING, "id": 1.5}, edge.INVALID_REQUEST),
        ({**PING, "id": {}}, edge.INVALID_REQUEST),
        ({**PING, "params": []}, edge.INVALID_PARAMS),
        ({**PING, "params": "x"}, edge.INVALID_PARAMS),
    ],
)
def test_a_body_that_is_not_one_request_is_400(door: McpDoor, body: Any, code: int) -> None:
    reply = door(proxy_event(body), None)
    assert reply["statusCode"] == 400
    assert error_of(reply) == code


@pytest.mark.promise("P1-refuse", "R-20", "P1-refuse-mcp")
def test_five_mebibytes_are_413_and_the_limit_itself_is_not(door: McpDoor) -> None:
    assert door(proxy_event("x" * 5 * 1024 * 1024), None)["statusCode"] == 413
    padding = "x" * (BODY_LIMIT - len(json.dumps({**PING, "params": {"p": ""}})))
    fits = proxy_event({**PING, "params": {"p": padding}})
    assert door(fits, None)["statusCode"] == 200
    assert door({**fits, "body": fits["body"] + " "}, None)["statusCode"] == 413
    encoded = base64.b64encode(b"x" * 5 * 1024 * 1024).decode()
    big = {**proxy_event(encoded), "isBase64Encoded": True}
    assert door(big, None)["statusCode"] == 413


def test_a_base64_body_is_read_and_a_broken_one_refused(door: McpDoor) -> None:
    good = base64.b64encode(json.dumps(PING).encode()).decode()
    assert door({**proxy_event(good), "isBase64Encoded": True}, None)["statusCode"] == 200
    assert door({**proxy_event("%%%"), "isBase64Encoded": True}, None)["statusCode"] == 400


@pytest.mark.promise("R-20")
@pytest.mark.parametrize(
    ("header", "value", "status"),
    [
        ("Content-Type", "text/plain", 400),
        ("Content-Type", "", 400),
        ("Content-Type", "Application/JSON; charset=utf-8", 200),
        ("Accept", "text/html", 200),
        ("Accept", "", 200),
        ("Mcp-Session-Id", "made-up", 200),
        ("MCP-Protocol-Version", "1999-01-01", 400),
        ("MCP-Protocol-Version", "2024-11-05", 200),
    ],
)
def test_headers_are_read_leniently_but_for_media_type_and_version(
    door: McpDoor, header: str, value: str, status: int
) -> None:
    reply = door(proxy_event(PING, headers={header: value}), None)
    assert reply["statusCode"] == status
    assert "Mcp-Session-Id" not in {name.title() for name in reply["headers"]}


@pytest.mark.promise("P1-refuse", "P1-7", "P1-refuse-mcp")
@pytest.mark.parametrize(
    ("headers", "params", "code"),
    [
        (MODERN, {}, -32602),
        (MODERN, {"_meta": {VERSION: "2026-07-28"}}, -32602),
        (MODERN, {"_meta": {**META, VERSION: "2025-11-25"}}, -32020),
        ({"MCP-Protocol-Version": "2026-07-28"}, {"_meta": META}, -32020),
        ({}, {"_meta": META}, -32020),
        ({"MCP-Protocol-Version": "2025-11-25"}, {"_meta": META}, -32020),
        (
            {**MODERN, "MCP-Protocol-Version": "2027-01-01"},
            {"_meta": {**META, VERSION: "2027-01-01"}},
            -32022,
        ),
    ],
)
def test_a_request_of_2026_must_say_the_same_in_header_and_body(
    door: McpDoor, headers: dict[str, str], params: dict[str, Any], code: int
) -> None:
    event = proxy_event(
        {"jsonrpc": "2.0", "id": 4, "method": "tools/list", "params": params}, headers=headers
    )
    reply = door(event, None)
    assert reply["statusCode"] == 400
    assert json.loads(reply["body"])["error"]["code"] == code


@pytest.mark.parametrize("header", ["2025-11-25", "2026-07-28", "1999-01-01"])
def test_initialize_is_a_handshake_whatever_version_its_header_says(
    door: McpDoor, header: str
) -> None:
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    reply = door(proxy_event(message, headers={"MCP-Protocol-Version": header}), None)
    told = json.loads(reply["body"])["result"]
    assert told["protocolVersion"] == "2025-06-18"
    assert told["capabilities"] == {"tools": {"listChanged": False}}


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_a_notification_is_accepted_with_no_body(door: McpDoor, version: str) -> None:
    message = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    reply = door(proxy_event(message, headers={"MCP-Protocol-Version": version}), None)
    assert (reply["statusCode"], reply["body"]) == (202, "")


@pytest.mark.promise("R-20")
def test_an_unknown_method_is_404_in_2026_and_a_plain_error_before(door: McpDoor) -> None:
    old = door(proxy_event({**PING, "method": "prompts/list"}), None)
    event = proxy_event(
        {**PING, "method": "prompts/list", "params": {"_meta": META}},
        headers={**MODERN, "Mcp-Method": "prompts/list"},
    )
    new = door(event, None)
    assert (old["statusCode"], new["statusCode"]) == (200, 404)
    assert {json.loads(r["body"])["error"]["code"] for r in (old, new)} == {-32601}


@pytest.mark.parametrize(("inner", "outer"), [(500, 503), (502, 503), (406, 400), (415, 400)])
def test_a_status_of_the_sdk_outside_the_set_is_mapped_into_it(inner: int, outer: int) -> None:
    settled = edge.settle({"statusCode": inner, "headers": {}, "body": "Internal Server Error"})
    assert settled["statusCode"] == outer
    assert "Internal Server Error" not in settled["body"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
METHODS = st.sampled_from(
    ["initialize", "ping", "tools/list", "tools/call", "server/discover", "subscriptions/listen",
     "resources/read", "logging/setLevel", "completion/complete", "notifications/cancelled"]
)  # fmt: skip


@pytest.mark.promise("R-20")
@settings(max_examples=150, deadline=None)
@given(
    method=METHODS | st.text(max_size=8),
    params=st.dictionaries(
        st.sampled_from(["name", "arguments", "_meta", "protocolVersion", "cursor", "uri"]), JSON
    ),
    declared=st.booleans(),
    header=st.sampled_from([None, "2025-03-26", "2025-11-25", "2026-07-28", "x"]),
    request_id=st.integers() | st.text(max_size=4) | st.just(...),
)
def test_whatever_is_asked_the_status_is_one_of_the_set(
    door: McpDoor, method: str, params: Any, declared: bool, header: str | None, request_id: Any
) -> None:
    message = {"jsonrpc": "2.0", "method": method, "params": dict(params)}
    if declared:
        message["params"]["_meta"] = META
    if request_id is not ...:
        message["id"] = request_id
    headers = {"Mcp-Method": method.encode("ascii", "replace").decode()}
    if header:
        headers["MCP-Protocol-Version"] = header
    reply = door(proxy_event(message, headers=headers), None)
    assert reply["statusCode"] in edge.STATUSES - {503}
    if reply["statusCode"] != 202:
        body = json.loads(reply["body"])
        assert body["jsonrpc"] == "2.0"
        assert "pydantic" not in reply["body"]

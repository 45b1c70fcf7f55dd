"""Preferences over MCP: each tool is one call of REST, its values untouched, its effect once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from http.client import RemoteDisconnected
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from functions.mcp.tools import find
from judgment.kit.errors import InvalidRequest
from tests.fakes.gateway import KEY, mcp_door
from tests.fakes.mcp_calls import ERAS, Ask, call, legacy, modern, problem, result
from tests.fakes.rest_api import FakeRest
from tests.fakes.rest_preferences import (
    CAPTURE,
    CAPTURED,
    PATH,
    SOLVE,
    entry,
    page,
    solved,
    why,
    with_preferences,
)

if TYPE_CHECKING:
    from functions.mcp.door import McpDoor

BOB = "7b0c4a56-0000-4a39-9d0e-1f6f0a4b2c11"


@pytest.fixture
def rest() -> FakeRest:
    return with_preferences(FakeRest())


@pytest.fixture
def door(rest: FakeRest) -> Iterator[McpDoor]:
    with mcp_door(rest) as made:
        yield made


@pytest.mark.promise("P3-mcp")
@ERAS
@pytest.mark.parametrize(
    ("name", "arguments", "method", "target", "answer"),
    [
        ("prefs.get", {"platform": "codex", "below": "dining", "limit": 5}, "GET",
         f"{PATH}?platform=codex&below=dining&purpose=read&limit=5", page()),
        ("prefs.get", {"owner": BOB, "purpose": "solve", "cursor": "c1"}, "GET",
         f"{PATH}?owner={BOB}&purpose=solve&limit=40&cursor=c1", page()),
        ("prefs.why", {"key": "dining.cuisine.thai"}, "GET",
         f"{PATH}/why?key=dining.cuisine.thai", why()),
        ("prefs.solve", SOLVE, "POST", f"{PATH}/solve", solved()),
        ("prefs.capture", CAPTURE, "POST", f"{PATH}/signals", CAPTURED),
    ],
)  # fmt: skip
def test_a_tool_is_one_call_of_rest_in_the_callers_name(
    door: McpDoor,
    rest: FakeRest,
    era: Ask,
    name: str,
    arguments: dict[str, Any],
    method: str,
    target: str,
    answer: Any,
) -> None:
    told = result(door(call(era, name, **arguments), None))
    assert told["isError"] is False
    assert told["structuredContent"] == answer == json.loads(told["content"][0]["text"])
    [request] = rest.requests
    assert (request.method, str(request.url)) == (method, f"https://api.test{target}")
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.headers["X-Judgment-Via"] == "mcp"


@pytest.mark.promise("P3-mcp", "P3-defect-15")
@ERAS
def test_what_the_owner_said_reaches_rest_as_it_was_said(
    door: McpDoor, rest: FakeRest, era: Ask
) -> None:
    door(call(era, "prefs.capture", **CAPTURE), None)
    assert rest.last.headers["Content-Type"] == "application/json"
    sent = json.loads(rest.last.content)
    assert sent == CAPTURE
    assert "half_life_days" not in sent["signals"][0], "absent and null are two things"
    kept = sent["signals"][0]["value"]
    assert (repr(kept["exactly"]), kept["count"]) == ("1e-09", 12345678901234567890)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.promise("P3-mcp", "P3-defect-15")
@settings(max_examples=60, deadline=None)
@given(value=JSON)
def test_any_value_goes_in_and_comes_out_unchanged(value: Any) -> None:
    rest = with_preferences(FakeRest())
    rest.answers[PATH] = (200, page(entry(value=value or 0)))
    asked = {"signals": [{**CAPTURE["signals"][0], "value": value}]}
    with mcp_door(rest) as door:
        door(call(modern, "prefs.capture", **asked), None)
        assert json.loads(rest.last.content) == asked
        told = result(door(call(modern, "prefs.get"), None))
    [kept] = told["structuredContent"]["entries"]
    [shown] = json.loads(told["content"][0]["text"])["entries"]
    assert kept["value"] == shown["value"] == (value or 0)
    assert repr(kept["value"]) == repr(value or 0), "1 and 1.0 and True are three values"


@pytest.mark.promise("P3-mcp", "P3-defect-20")
@ERAS
def test_each_capture_has_a_key_of_its_own_that_its_repetition_keeps(
    door: McpDoor, rest: FakeRest, era: Ask
) -> None:
    rest.fail.append(RemoteDisconnected("closed"))
    for _ in range(2):
        assert result(door(call(era, "prefs.capture", **CAPTURE), None))["isError"] is False
    keys = [request.headers["Idempotency-Key"] for request in rest.requests]
    lost, again, next_one = keys
    assert lost == again != next_one
    assert rest.requests[0].content == rest.requests[1].content


@pytest.mark.promise("P3-mcp")
def test_a_solve_that_was_lost_is_asked_again_under_the_same_correlation(
    door: McpDoor, rest: FakeRest
) -> None:
    rest.fail.append(RemoteDisconnected("closed"))
    assert result(door(call(modern, "prefs.solve", **SOLVE), None))["isError"] is False
    first, second = rest.requests
    assert first.content == second.content
    assert first.headers["X-Correlation-Id"] == second.headers["X-Correlation-Id"]
    assert "Idempotency-Key" not in first.headers


WRONG = [
    ("prefs.get", {"limit": 0}, "limit"),
    ("prefs.get", {"limit": 201}, "limit"),
    ("prefs.get", {"platform": "../../x"}, "platform"),
    ("prefs.get", {"platform": ""}, "platform"),
    ("prefs.get", {"purpose": "write"}, "purpose"),
    ("prefs.get", {"owner": "bob"}, "owner"),
    ("prefs.get", {"keys": ["a"]}, "keys"),
    ("prefs.why", {}, "key"),
    ("prefs.why", {"key": ""}, "key"),
    ("prefs.solve", {**SOLVE, "policy": "fair"}, "policy"),
    ("prefs.solve", {**SOLVE, "options": []}, "options"),
    ("prefs.solve", {"options": SOLVE["options"]}, "participants"),
    ("prefs.capture", {"signals": []}, "signals"),
    ("prefs.capture", {"key": "a", "value": 1}, "signals"),
    ("prefs.capture", {"signals": [{**CAPTURE["signals"][0], "strength": 2}]},
     "signals.0.strength"),
    ("prefs.capture", {"signals": [{**CAPTURE["signals"][0], "kind": "consent"}]},
     "signals.0.kind"),
    ("prefs.capture", {"signals": [{**CAPTURE["signals"][0], "half_life_days": 0}]},
     "signals.0.half_life_days"),
    ("prefs.capture", {"signals": [{**CAPTURE["signals"][0], "owner": BOB}]}, "signals.0.owner"),
]  # fmt: skip


@pytest.mark.promise("P3-mcp", "P3-refuse", "P3-defect-17")
@ERAS
@pytest.mark.parametrize(("name", "arguments", "where"), WRONG)
def test_a_wrong_argument_is_refused_before_rest_and_names_the_field(
    door: McpDoor, rest: FakeRest, era: Ask, name: str, arguments: dict[str, Any], where: str
) -> None:
    told = problem(door(call(era, name, **arguments), None))
    assert told["code"] == "invalid_request"
    assert told["message"].startswith(f"{where}: ")
    assert "http" not in told["message"]
    assert rest.requests == []


@pytest.mark.promise("P3-refuse", "P3-defect-09")
@pytest.mark.parametrize(
    "value", [float("nan"), float("inf"), {"deep": [float("-inf")]}, "\ud800"], ids=repr
)
def test_what_json_has_no_word_for_is_refused(value: Any) -> None:
    tool = find("prefs.capture")
    assert tool is not None
    with pytest.raises(InvalidRequest, match="not valid JSON"):
        tool.body({"signals": [{**CAPTURE["signals"][0], "value": value}]})


@pytest.mark.promise("P3-refuse")
def test_a_not_a_number_in_the_message_itself_captures_nothing(
    door: McpDoor, rest: FakeRest
) -> None:
    event = call(legacy, "prefs.capture", **CAPTURE)
    event["body"] = event["body"].replace("1e-09", "NaN")
    assert "NaN" in event["body"]
    reply = door(event, None)
    assert reply["statusCode"] == 400 or problem(reply)["code"] == "invalid_request"
    assert rest.requests == []


@pytest.mark.promise("P3-mcp")
@ERAS
@pytest.mark.parametrize("status", [200, 202, 204])
def test_only_the_routes_own_status_is_a_capture(
    door: McpDoor, rest: FakeRest, era: Ask, status: int
) -> None:
    rest.answers[f"{PATH}/signals"] = (status, CAPTURED)
    assert problem(door(call(era, "prefs.capture", **CAPTURE), None))["code"] == "unavailable"


REFUSALS = [
    (403, {"code": "forbidden", "message": "Nothing here is open to you."}),
    (403, {"code": "profile_access_disabled", "message": "Agent access is switched off."}),
    (409, {"code": "conflict", "message": "This id is another signal's."}),
    (429, {"code": "rate_limited", "message": "Later.", "retry_after_seconds": 60}),
    (503, {"code": "unavailable", "message": "Try again shortly."}),
]


@pytest.mark.promise("P3-mcp", "R-20")
@ERAS
@pytest.mark.parametrize("name", ["prefs.get", "prefs.capture", "prefs.solve"])
@pytest.mark.parametrize(("status", "body"), REFUSALS, ids=[r[1]["code"] for r in REFUSALS])
def test_a_refusal_by_rest_is_a_result_in_its_own_words(
    door: McpDoor, rest: FakeRest, era: Ask, name: str, status: int, body: dict[str, Any]
) -> None:
    rest.refuse(status, body)
    arguments = {"prefs.capture": CAPTURE, "prefs.solve": SOLVE}.get(name, {})
    assert problem(door(call(era, name, **arguments), None)) == body


@pytest.mark.promise("P3-mcp")
@ERAS
@pytest.mark.parametrize(
    "body",
    [{**page(), "secret": 1}, {"entries": []}, page(entry(weight=2.0)), page(entry(owner=BOB))],
)
def test_an_answer_outside_the_contract_is_not_passed_on(
    door: McpDoor, rest: FakeRest, era: Ask, body: Any
) -> None:
    rest.answers[PATH] = (200, body)
    assert problem(door(call(era, "prefs.get"), None))["code"] == "unavailable"


@pytest.mark.promise("P3-mcp")
@ERAS
@pytest.mark.parametrize("name", ["prefs.get", "prefs_get", "prefs-get"])
def test_every_spelling_is_accepted(door: McpDoor, era: Ask, name: str) -> None:
    assert result(door(call(era, name), None))["isError"] is False


@pytest.mark.parametrize("secret", ["liked", "dining.cuisine.thai", KEY])
def test_no_value_key_or_credential_is_in_the_log(
    door: McpDoor, capsys: pytest.CaptureFixture[str], secret: str
) -> None:
    door(call(modern, "prefs.capture", **CAPTURE), None)
    door(call(modern, "prefs.get"), None)
    written = capsys.readouterr()
    assert '"tool":"prefs.capture"' in written.out
    assert secret not in written.out + written.err

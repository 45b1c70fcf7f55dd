"""A JSON door answers in the contract's form on every path."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from pydantic import BaseModel

from judgment.contract.errors import Problem, UnauthorizedProblem
from judgment.contract.profile import RecentDecisionsQuery
from judgment.contract.routes import Route
from judgment.contract.wire import RequestModel, ResponseModel
from judgment.entry.event import BODY_LIMIT
from judgment.entry.http import HttpDoor, Reply, Request
from judgment.entry.observability import Telemetry
from judgment.kit.errors import Conflict, RateLimited, Unavailable
from tests.fakes.events import agent, http_event, owner

OWNER = uuid.UUID("0b7f3a55-7f2f-4d6f-9c39-0a35b5a9f6f1")


class Note(RequestModel):
    text: str


class Echo(ResponseModel):
    said: str


ROUTES = (
    Route("GET", "/plain", "probe", "agent", "Plain."),
    Route("GET", "/listed", "probe", "agent", "Listed.", query="profile:RecentDecisionsQuery"),
    Route("POST", "/notes/{note_id}", "probe", "owner", "Note.", status=201),
    Route("DELETE", "/notes/{note_id}", "probe", "owner", "Forget.", status=204),
    Route("GET", "/admin", "probe", "admin", "Admin."),
    Route("GET", "/open", "probe", "none", "Open."),
    Route("ANY", "/open/{path+}", "probe", "none", "Anything below."),
)


def door(**endpoints: Callable[[Request], BaseModel | Reply]) -> HttpDoor:
    """The probe door with some endpoints replaced."""

    def note(request: Request) -> BaseModel:
        return Echo(said=f"{request.path['note_id']}: {request.body(Note).text}")

    table: dict[str, Callable[[Request], BaseModel | Reply]] = {
        "GET /plain": endpoints.get("plain", lambda _: Echo(said="hello")),
        "GET /listed": lambda r: Echo(said=str(r.query(RecentDecisionsQuery).limit)),
        "POST /notes/{note_id}": endpoints.get("note", note),
        "DELETE /notes/{note_id}": lambda _: Reply(),
        "GET /admin": lambda _: Echo(said="admin"),
        "GET /open": lambda _: Reply("<p>open</p>", content_type="text/html"),
        "ANY /open/{path+}": lambda _: Reply("{}", status=404),
    }
    return HttpDoor("probe", table, Telemetry("probe"), ROUTES)


def answer(door: HttpDoor, event: dict[str, Any]) -> tuple[int, Any, dict[str, str]]:
    """Status, parsed body and headers."""
    reply = door(event, None)
    head = {name: values[-1] for name, values in reply["multiValueHeaders"].items()}
    return reply["statusCode"], json.loads(reply["body"]) if reply["body"] else None, head


def raising(error: Exception) -> Callable[[Request], BaseModel | Reply]:
    """An endpoint that fails."""

    def endpoint(_: Request) -> BaseModel | Reply:
        raise error

    return endpoint


def test_a_model_is_answered_as_json_that_nobody_may_keep():
    status, body, head = answer(door(), http_event("GET", "/plain", principal=agent(OWNER)))
    assert (status, body) == (200, {"said": "hello"})
    assert head["Content-Type"] == "application/json"
    assert head["Cache-Control"] == "no-store"


@pytest.mark.promise("P1-refuse-input")
@pytest.mark.parametrize(
    "query",
    [{"limit": [v]} for v in ("0", "21", "-1", "1e9", "abc", "", "NaN", "٣")]
    + [{"limit": ["5", "6"]}, {"user_id": [str(OWNER)]}, {"limit": ["5"], "user_id": ["x"]}],
    ids=repr,
)
def test_a_query_out_of_range_repeated_or_unknown_is_400(query: dict[str, list[str]]):
    event = http_event("GET", "/listed", principal=agent(OWNER), query=query)
    status, body, _ = answer(door(), event)
    assert (status, Problem(**body).code) == (400, "invalid_request")


@pytest.mark.parametrize(("query", "limit"), [(None, "10"), ({"limit": ["1"]}, "1")])
def test_a_query_in_range_is_read(query: dict[str, list[str]] | None, limit: str):
    event = http_event("GET", "/listed", principal=agent(OWNER), query=query)
    assert answer(door(), event)[:2] == (200, {"said": limit})


@pytest.mark.promise("P1-refuse-input")
def test_an_address_without_a_query_model_takes_no_parameters():
    event = http_event("GET", "/plain", principal=agent(OWNER), query={"user_id": ["x"]})
    assert answer(door(), event)[0] == 400


@pytest.mark.promise("P1-refuse-input")
@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/plain"), ("GET", "/nowhere"), ("OPTIONS", "/plain")]
)
def test_an_unknown_route_or_method_is_404_in_our_form(method: str, path: str):
    status, body, _ = answer(door(), http_event(method, path, principal=agent(OWNER)))
    assert (status, Problem(**body).code) == (404, "not_found")


@pytest.mark.promise("P1-refuse-input")
@pytest.mark.parametrize("encoded", [False, True])
def test_a_body_over_the_limit_is_413_and_one_at_the_limit_is_not(encoded: bool):
    frame = len('{"text":""}')
    for extra, expected in ((0, 201), (3, 413)):
        text = json.dumps({"text": "x" * (BODY_LIMIT - frame + extra)}, separators=(",", ":"))
        body = base64.b64encode(text.encode()).decode() if encoded else text
        event = http_event("POST", "/notes/1", principal=owner(OWNER), body=body, base64=encoded)
        assert answer(door(), event)[0] == expected


@pytest.mark.promise("P1-refuse-input")
def test_the_limit_counts_bytes_and_not_characters():
    body = json.dumps({"text": "é" * (BODY_LIMIT // 2)}, ensure_ascii=False)
    event = http_event("POST", "/notes/1", principal=owner(OWNER), body=body)
    assert answer(door(), event)[0] == 413


@pytest.mark.parametrize(
    "body",
    [
        None,
        "",
        "{",
        "[]",
        "null",
        '{"text": 1}',
        '{"text": "a", "user_id": "b"}',
        '{"text":"\\ud800"}',
    ],
)
def test_a_body_that_is_not_what_was_asked_for_is_400_without_echoing_it(body: str | None):
    event = http_event("POST", "/notes/1", principal=owner(OWNER), body=body)
    status, problem, _ = answer(door(), event)
    assert (status, Problem(**problem).code) == (400, "invalid_request")
    assert "pydantic" not in problem["message"]


def test_a_body_that_is_not_base64_though_it_says_so_is_400():
    event = http_event("POST", "/notes/1", principal=owner(OWNER), body="%%%", base64=True)
    assert answer(door(), event)[0] == 400


@pytest.mark.promise("000-4-errors")
def test_a_refusal_carries_its_code_and_when_to_come_back():
    full = door(plain=raising(RateLimited(retry_after_seconds=17)))
    status, body, head = answer(full, http_event("GET", "/plain", principal=agent(OWNER)))
    assert (status, body["code"], body["retry_after_seconds"]) == (429, "rate_limited", 17)
    assert head["Retry-After"] == "17"
    refused = door(plain=raising(Conflict("twice")))
    status, body, _ = answer(refused, http_event("GET", "/plain", principal=agent(OWNER)))
    assert (status, body) == (409, {"code": "conflict", "message": "twice"})


def test_a_defect_is_500_without_its_text_and_is_logged_without_its_secrets(
    capsys: pytest.CaptureFixture[str],
):
    secret = "sync_" + "s" * 43
    broken = door(plain=raising(ZeroDivisionError(f"key {secret} password=hunter2")))
    status, body, _ = answer(broken, http_event("GET", "/plain", principal=agent(OWNER)))
    assert (status, Problem(**body).code) == (500, "internal_error")
    logged = capsys.readouterr().out
    assert "ZeroDivisionError" in logged
    assert '"InternalError":[1.0]' in logged
    assert secret not in logged
    assert "hunter2" not in logged
    assert secret not in json.dumps(body)


def test_an_owners_text_is_in_no_log_line_when_an_answer_breaks_its_contract(
    capsys: pytest.CaptureFixture[str],
):
    told = "what I told nobody"

    def broken(_: Request) -> BaseModel:
        return Echo.model_validate({"said": [told]})

    assert answer(door(plain=broken), http_event("GET", "/plain", principal=agent(OWNER)))[0] == 500
    logged = capsys.readouterr().out
    assert "ValidationError" in logged
    assert told not in logged


def test_a_path_with_half_a_character_is_logged_all_the_same(capsys: pytest.CaptureFixture[str]):
    answer(door(), http_event("GET", "/nothing/\ud800", principal=None))
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["path"] == "/nothing/\ud800"


def test_an_outage_is_503_and_counted(capsys: pytest.CaptureFixture[str]):
    down = door(plain=raising(Unavailable()))
    status, body, _ = answer(down, http_event("GET", "/plain", principal=agent(OWNER)))
    assert (status, Problem(**body).code) == (503, "unavailable")
    assert '"Unavailable":[1.0]' in capsys.readouterr().out


@pytest.mark.promise("P1-refuse-credentials", "R-19")
@pytest.mark.parametrize(
    ("method", "path", "who"),
    [
        ("GET", "/plain", None),
        ("GET", "/plain", owner(OWNER)),
        ("GET", "/plain", owner(OWNER, admin=True)),
        ("POST", "/notes/1", agent(OWNER)),
        ("GET", "/admin", agent(OWNER)),
    ],
)
def test_a_door_opens_for_the_kind_of_caller_its_route_names_and_no_other(
    method: str, path: str, who: Any
):
    event = http_event(method, path, principal=who, body='{"text":"a"}')
    status, body, head = answer(door(), event)
    assert status == 401
    assert UnauthorizedProblem(**body).error == "Unauthorized"
    assert head["WWW-Authenticate"] == 'Bearer realm="sync"'


@pytest.mark.parametrize("context", [{"kind": "agent"}, {"kind": "root", "user_id": "x"}, {"a": 1}])
def test_a_context_that_no_authorizer_of_ours_wrote_is_401(context: dict[str, Any]):
    event = http_event("GET", "/plain")
    event["requestContext"]["authorizer"] = context
    assert answer(door(), event)[0] == 401


def test_an_owner_without_the_admin_claim_is_forbidden_on_an_admin_route():
    assert answer(door(), http_event("GET", "/admin", principal=owner(OWNER)))[0] == 403
    event = http_event("GET", "/admin", principal=owner(OWNER, admin=True))
    assert answer(door(), event)[0] == 200


@pytest.mark.promise("000-10.3-correlation")
@pytest.mark.parametrize(
    ("sent", "used"),
    [
        ("a-1.b:c_D", "a-1.b:c_D"),
        ("x" * 129, None),
        ('"}\n{', None),
        ("", None),
        ("ünï", None),
    ],
)
def test_a_plain_correlation_id_is_returned_and_any_other_replaced(sent: str, used: str | None):
    event = http_event("GET", "/plain", principal=agent(OWNER), headers={"x-correlation-id": sent})
    _, _, head = answer(door(), event)
    assert head["X-Correlation-Id"] == (used or event["requestContext"]["requestId"])


def test_refusals_are_logged_and_good_agent_reads_are_left_to_the_wire_log(
    capsys: pytest.CaptureFixture[str],
):
    event = http_event("GET", "/plain", principal=agent(OWNER), headers={"X-Correlation-Id": "c1"})
    answer(door(), event)
    assert capsys.readouterr().out == ""
    event = http_event("GET", "/gone", principal=agent(OWNER), headers={"X-Correlation-Id": "c2"})
    answer(door(), event)
    line = json.loads(capsys.readouterr().out)
    assert (line["correlation_id"], line["status"], line["user_id"]) == ("c2", 404, str(OWNER))


def test_nothing_is_sent_with_204():
    event = http_event("DELETE", "/notes/1", principal=owner(OWNER))
    reply = door()(event, None)
    assert (reply["statusCode"], reply["body"]) == (204, "")
    assert "Content-Type" not in reply["multiValueHeaders"]


def test_open_routes_ignore_queries_and_catch_all_takes_any_method():
    assert door()(http_event("GET", "/open", query={"utm": ["x"]}), None)["statusCode"] == 200
    for method in ("GET", "POST", "DELETE", "OPTIONS", "HEAD"):
        assert answer(door(), http_event(method, "/open/a/b"))[0] == 404


def test_a_door_whose_endpoints_are_not_its_rows_does_not_open():
    with pytest.raises(ValueError, match="GET /plain"):
        HttpDoor("probe", {}, Telemetry("probe"), ROUTES)

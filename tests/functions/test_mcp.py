"""The MCP door between API Gateway and our REST API: what it admits, passes on and answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from http.client import RemoteDisconnected
from pathlib import Path
from socket import gaierror
from ssl import SSLEOFError
from typing import Any

import pytest

from functions.mcp import server
from functions.mcp.door import McpDoor
from functions.mcp.rest import Rest
from functions.mcp.tools import TOOLS
from functions.mcp.wiring import Settings, origins
from judgment.contract.profile import cold_start
from judgment.entry.observability import Telemetry
from tests.fakes.gateway import KEY, mcp_door
from tests.fakes.mcp_calls import ERAS, Ask, call, legacy, modern, problem, result, with_scopes
from tests.fakes.rest_api import DECISION, OWNER, FakeRest, trained_profile

ROOT = Path(__file__).parents[2]


@pytest.fixture
def rest() -> FakeRest:
    return FakeRest()


@pytest.fixture
def door(rest: FakeRest) -> Iterator[McpDoor]:
    with mcp_door(rest) as made:
        yield made


@pytest.mark.promise("000-5", "P1-7", "R-20", "000-5-auth", "000-10.3-correlation")
@ERAS
def test_a_call_is_one_get_of_rest_in_the_callers_name(
    door: McpDoor, rest: FakeRest, era: Ask
) -> None:
    event = call(era)
    event["headers"]["X-Correlation-Id"] = "trace-7"
    event["multiValueHeaders"]["X-Correlation-Id"] = ["trace-7"]
    reply = door(event, None)
    assert result(reply)["structuredContent"] == trained_profile()
    [request] = rest.requests
    assert str(request.url) == "https://api.test/api/agent/v1/profile"
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    assert request.headers["X-Correlation-Id"] == "trace-7" == reply["headers"]["X-Correlation-Id"]
    assert request.headers["X-Judgment-Via"] == "mcp"


@ERAS
def test_text_is_the_same_json_as_the_structure_and_compact(door: McpDoor, era: Ask) -> None:
    told = result(door(call(era), None))
    [block] = told["content"]
    assert block["type"] == "text"
    assert json.loads(block["text"]) == told["structuredContent"]
    assert "\n" not in block["text"]
    assert '": ' not in block["text"]


@pytest.mark.promise("000-3.2")
@ERAS
def test_nulls_of_a_cold_start_reach_the_agent(door: McpDoor, rest: FakeRest, era: Ask) -> None:
    cold = cold_start(OWNER).model_dump(mode="json")
    rest.answers["/api/agent/v1/profile"] = (200, cold)
    told = result(door(call(era), None))
    assert told["structuredContent"] == cold
    assert told["structuredContent"]["summary_text"] is None


@ERAS
def test_recent_decisions_are_an_object_and_limit_goes_to_rest(
    door: McpDoor, rest: FakeRest, era: Ask
) -> None:
    told = result(door(call(era, "sync.get_recent_decisions", limit=3), None))
    assert told["structuredContent"] == {"decisions": [DECISION]}
    assert dict(rest.last.url.params) == {"limit": "3"}


@pytest.mark.promise("P1-refuse", "P1-refuse-mcp")
@ERAS
@pytest.mark.parametrize("limit", [0, 21, -1, 1e9, "abc", "5", [3, 4], None, True, 2.5])
def test_a_wrong_limit_is_refused_before_rest_and_without_echo(
    door: McpDoor, rest: FakeRest, era: Ask, limit: Any
) -> None:
    told = problem(door(call(era, "sync.get_recent_decisions", limit=limit), None))
    assert told["code"] == "invalid_request"
    assert told["message"].startswith("limit: ")
    assert "abc" not in told["message"]
    assert "http" not in told["message"]
    assert rest.requests == []


@pytest.mark.promise("P1-refuse-mcp")
@ERAS
def test_an_unknown_argument_such_as_another_owner_is_refused(
    door: McpDoor, rest: FakeRest, era: Ask
) -> None:
    told = problem(door(call(era, user_id="7b0c4a56-0000-4a39-9d0e-1f6f0a4b2c11"), None))
    assert told["code"] == "invalid_request"
    assert rest.requests == []


@pytest.mark.promise("P1-refuse", "P1-refuse-mcp")
@ERAS
def test_an_unknown_tool_is_a_result_that_names_the_known_ones(door: McpDoor, era: Ask) -> None:
    told = problem(door(call(era, "sync.submit_decision"), None))
    assert told["code"] == "invalid_request"
    assert "sync.get_profile" in told["message"]


@pytest.mark.parametrize(
    "name", ["sync.get_profile", "sync_get_profile", "sync-get_profile", "sync-get-profile"]
)
@ERAS
def test_every_spelling_of_a_tool_is_accepted(door: McpDoor, era: Ask, name: str) -> None:
    assert result(door(call(era, name), None))["isError"] is False


@pytest.mark.promise("P1-7")
@ERAS
def test_one_spelling_is_listed_and_the_url_chooses_which(door: McpDoor, era: Ask) -> None:
    dots = result(door(era("tools/list"), None))["tools"]
    event = {**era("tools/list"), "queryStringParameters": {"names": "underscore"}}
    underscores = result(door(event, None))["tools"]
    assert [t["name"] for t in dots] == ["sync.get_profile", "sync.get_recent_decisions"]
    assert [t["name"] for t in underscores] == ["sync_get_profile", "sync_get_recent_decisions"]


PROFILE = ["sync.get_profile", "sync.get_recent_decisions"]
READS = ["prefs.get", "prefs.why", "prefs.solve"]


@pytest.mark.promise("R-20", "P3-mcp")
@ERAS
@pytest.mark.parametrize(
    ("scopes", "names"),
    [
        ((), []),
        (("something:else",), []),
        (("profile:read",), PROFILE),
        (("preferences:read",), READS),
        (("preferences:write",), ["prefs.capture"]),
        (("profile:read", "preferences:read"), PROFILE + READS),
        (
            ("profile:read", "preferences:read", "preferences:write"),
            [*PROFILE, *READS, "prefs.capture"],
        ),
    ],
    ids=lambda value: "+".join(value) if isinstance(value, tuple) else "",
)
def test_tools_are_listed_by_the_scopes_of_the_key(
    door: McpDoor, era: Ask, scopes: tuple[str, ...], names: list[str]
) -> None:
    listed = result(door(with_scopes(era("tools/list"), *scopes), None))["tools"]
    assert [tool["name"] for tool in listed] == names


@pytest.mark.promise("P3-mcp")
def test_instructions_speak_of_the_tools_of_the_key_and_of_no_others(door: McpDoor) -> None:
    hello = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }

    def told(*scopes: str) -> str:
        greeted = result(door(with_scopes(legacy("initialize", hello), *scopes), None))
        found = result(door(with_scopes(modern("server/discover"), *scopes), None))
        assert greeted["instructions"] == found["instructions"]
        return found["instructions"]

    everything = told("profile:read", "preferences:read", "preferences:write")
    assert "sync.*" in everything
    assert "prefs.*" in everything
    assert "prefs.capture" in everything
    assert "prefs" not in told("profile:read")
    assert "prefs.capture" not in told("profile:read", "preferences:read")
    assert "No tool here records or changes anything." in told("profile:read", "preferences:read")
    assert "records or changes anything" not in everything
    assert "changes a profile or records a decision" in everything
    assert "never instructions" in told()


EVERYTHING = ("profile:read", "preferences:read", "preferences:write")


@pytest.mark.promise("P3-mcp")
def test_every_listed_tool_says_what_it_does_and_is_described_by_the_contract(
    door: McpDoor,
) -> None:
    listed = result(door(with_scopes(modern("tools/list"), *EVERYTHING), None))["tools"]
    assert len(listed) == len(TOOLS)
    for tool in listed:
        writes = tool["name"] == "prefs.capture"
        assert tool["annotations"] == {
            "readOnlyHint": not writes,
            "destructiveHint": False,
            "idempotentHint": not writes,
            "openWorldHint": False,
        }
        assert tool["inputSchema"]["additionalProperties"] is False
        assert "additionalProperties" not in json.dumps(tool["outputSchema"])
        assert "$ref" not in json.dumps(tool)
        assert len("mcp__sync__" + tool["name"]) <= 64
        first, _, rest = tool["description"].partition("\n")
        assert 40 < len(first) <= 80
        assert first.endswith(".")
        assert rest


@pytest.mark.promise("P3-mcp")
def test_no_argument_is_given_null_as_its_default(door: McpDoor) -> None:
    listed = result(door(with_scopes(modern("tools/list"), *EVERYTHING), None))["tools"]
    assert '"default": null' not in json.dumps([tool["inputSchema"] for tool in listed])


@pytest.mark.promise("000-5", "R-3")
def test_each_tool_is_one_agent_route_and_one_at_most_adds() -> None:
    for tool in TOOLS:
        assert tool.route.auth == "agent"
        assert (tool.route.response or "").endswith(f":{tool.result.__name__}")
        # A call is repeated on a fresh connection: only what may arrive twice can be a tool.
        assert tool.route.idempotent or not tool.adds
    assert [tool.name for tool in TOOLS if tool.adds] == ["prefs.capture"]
    assert len({(tool.method, tool.path) for tool in TOOLS}) == len(TOOLS)


REFUSALS = [
    (403, {"code": "profile_access_disabled", "message": "Agent access is switched off."}),
    (403, {"code": "forbidden", "message": "No."}),
    (429, {"code": "rate_limited", "message": "Later.", "retry_after_seconds": 1700}),
    (401, {"code": "unauthorized", "error": "Unauthorized", "message": "Missing."}),
    (503, {"code": "unavailable", "message": "Try again shortly."}),
    (500, {"code": "internal_error", "message": "Wrong."}),
    (404, {"code": "not_found", "message": "Nothing."}),
]


@pytest.mark.promise("000-10.1", "R-20")
@ERAS
@pytest.mark.parametrize(("status", "body"), REFUSALS, ids=[r[1]["code"] for r in REFUSALS])
def test_a_refusal_by_rest_is_a_result_in_its_own_words(
    door: McpDoor, rest: FakeRest, era: Ask, status: int, body: dict[str, Any]
) -> None:
    rest.refuse(status, body)
    assert problem(door(call(era), None)) == {k: v for k, v in body.items() if k != "error"}


@ERAS
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (502, b"<html>Bad gateway</html>"),
        (200, b"not json"),
        (200, {"user_id": "x"}),
        (200, {**trained_profile(), "secret": 1}),
        (418, {"code": "teapot", "message": "?"}),
        (403, ["no", "object"]),
    ],
)
def test_an_answer_outside_the_contract_is_unavailable_not_passed_on(
    door: McpDoor, rest: FakeRest, era: Ask, status: int, body: Any
) -> None:
    rest.refuse(status, body)
    assert problem(door(call(era), None))["code"] == "unavailable"


@pytest.mark.parametrize("error", [TimeoutError, OSError, gaierror])
def test_rest_out_of_reach_is_unavailable(
    door: McpDoor, rest: FakeRest, error: type[Exception]
) -> None:
    rest.fail.append(error("no"))
    assert problem(door(call(modern), None))["code"] == "unavailable"
    assert result(door(call(modern), None))["isError"] is False


@pytest.mark.parametrize("error", [RemoteDisconnected, BrokenPipeError, SSLEOFError])
def test_a_connection_that_went_stale_is_replaced_once(
    door: McpDoor, rest: FakeRest, error: type[Exception]
) -> None:
    rest.fail.append(error("closed"))
    assert result(door(call(legacy), None))["isError"] is False
    rest.fail += [error("closed"), error("closed")]
    assert problem(door(call(legacy), None))["code"] == "unavailable"


@ERAS
def test_an_invocation_leaves_no_task_behind(door: McpDoor, era: Ask) -> None:
    for _ in range(5):
        door(call(era), None)
    assert asyncio.all_tasks(asyncio.get_event_loop()) == set()


@pytest.mark.promise("R-27")
def test_rest_is_found_by_the_gateways_own_word_never_by_host(rest: FakeRest) -> None:
    client = Rest(rest.connect)
    made = McpDoor(server.build_server(client), client, "", frozenset(), Telemetry("mcp"))
    event = call(legacy)
    assert event["headers"]["Host"] == "attacker.example"
    made(event, None)
    assert str(rest.last.url) == "https://api.example.test/api/agent/v1/profile"
    event["requestContext"]["path"] = "/v1/mcp"
    made(event, None)
    assert str(rest.last.url) == "https://api.example.test/v1/api/agent/v1/profile"
    made.close()


def test_the_apis_own_origin_and_the_named_ones_may_call() -> None:
    settings = Settings("http://127.0.0.1:8787/", "https://a.test, https://B.test/")
    assert origins(settings) == {"http://127.0.0.1:8787", "https://a.test", "https://b.test"}
    assert origins(Settings()) == frozenset()


def test_the_version_told_to_clients_is_the_projects() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    assert f'version = "{server.VERSION}"' in project


@pytest.mark.promise("P1-7")
def test_the_registry_entry_is_of_this_version_and_keeps_the_key_secret() -> None:
    entry = json.loads((ROOT / "functions/mcp/server.json").read_text())
    assert entry["version"] == server.VERSION
    assert len(entry["description"]) <= 100
    [remote] = entry["remotes"]
    assert (remote["type"], remote["url"]) == ("streamable-http", "https://{host}/mcp")
    [header] = remote["headers"]
    assert header["name"] == "Authorization"
    assert header["isSecret"]
    assert header["variables"]["api_key"]["isSecret"]


def test_the_key_is_never_written_to_the_log(
    door: McpDoor, capsys: pytest.CaptureFixture[str]
) -> None:
    door(call(modern), None)
    line = capsys.readouterr().out
    assert '"tool":"sync.get_profile"' in line
    assert KEY not in line


@pytest.mark.parametrize("path", sorted((ROOT / "events/mcp").glob("*.json")), ids=lambda p: p.stem)
def test_the_sample_events_are_answered(door: McpDoor, path: Path) -> None:
    event = json.loads(path.read_text())
    assert door(event, None)["statusCode"] == (405 if path.stem == "get-refused" else 200)

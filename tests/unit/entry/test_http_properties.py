"""Whatever a client sends, a door answers with a status of the contract and a body of its form."""

from __future__ import annotations

import json
import uuid
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from judgment.contract.errors import Problem
from judgment.contract.flags import AgentAccessFlag
from judgment.contract.keys import MintKeyRequest
from judgment.contract.profile import RecentDecisionsQuery
from judgment.contract.routes import Route
from judgment.entry.http import HttpDoor, Reply, Request
from judgment.entry.observability import Telemetry
from tests.fakes.events import agent, http_event, owner

WHO = uuid.uuid4()
ROUTES = (
    Route("GET", "/listed", "fuzzed", "agent", "Listed.", query="profile:RecentDecisionsQuery"),
    Route("POST", "/keys", "fuzzed", "owner", "Mint."),
    Route("PUT", "/flags", "fuzzed", "owner", "Flags."),
    Route("DELETE", "/keys/{key_id}", "fuzzed", "owner", "Revoke."),
)


def listed(request: Request) -> Reply:
    request.query(RecentDecisionsQuery)
    return Reply("{}")


def mint(request: Request) -> Reply:
    request.body(MintKeyRequest)
    return Reply("{}")


def flags(request: Request) -> Reply:
    request.body(AgentAccessFlag)
    return Reply("{}")


DOOR = HttpDoor(
    "fuzzed",
    {
        "GET /listed": listed,
        "POST /keys": mint,
        "PUT /flags": flags,
        "DELETE /keys/{key_id}": lambda request: Reply(json.dumps(request.path["key_id"])),
    },
    Telemetry("fuzzed"),
    ROUTES,
)
text = st.text(max_size=40)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(text, inner, max_size=3),
    max_leaves=8,
)
bodies = (
    st.none()
    | text
    | json_values.map(json.dumps)
    | st.dictionaries(
        st.sampled_from(["name", "scopes", "expires_at", "global", "user_overrides"]), json_values
    ).map(json.dumps)
)


def holds(event: dict[str, Any]) -> None:
    reply = DOOR(event, None)
    assert reply["statusCode"] in {200, 400, 401, 404, 413}
    if reply["statusCode"] != 200:
        problem = Problem.model_validate(json.loads(reply["body"]), extra="ignore")
        assert len(problem.message) < 500
    json.dumps(reply)


@settings(max_examples=200, deadline=None)
@given(
    st.sampled_from(["POST", "PUT"]), st.sampled_from(["/keys", "/flags"]), bodies, st.booleans()
)
def test_any_body(method: str, path: str, body: str | None, base64: bool):
    holds(http_event(method, path, principal=owner(WHO), body=body, base64=base64))


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(text | st.just("limit"), st.lists(text | st.just("5"), min_size=1)))
def test_any_query(query: dict[str, list[str]]):
    holds(http_event("GET", "/listed", principal=agent(WHO), query=query))


@settings(max_examples=200, deadline=None)
@given(text, st.dictionaries(text | st.just("X-Correlation-Id"), text, max_size=4))
def test_any_path_and_headers(segment: str, headers: dict[str, str]):
    holds(http_event("DELETE", f"/keys/{segment}", principal=owner(WHO), headers=headers))


@settings(max_examples=100, deadline=None)
@given(
    st.none() | st.dictionaries(text | st.sampled_from(["kind", "user_id", "scopes"]), json_values)
)
def test_any_authorizer_context(context: dict[str, Any] | None):
    event = http_event("GET", "/listed")
    event["requestContext"]["authorizer"] = context
    holds(event)

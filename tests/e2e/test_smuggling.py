"""What a hostile client puts on the wire to be taken for another owner, on the running stack."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import httpx
import pytest

if TYPE_CHECKING:
    from tests.e2e.running import RunningStack

PROFILE = "/api/agent/v1/profile"
KEYS = "/api/v1/keys"
UNAUTHORIZED = (401, "unauthorized")
INVALID = (400, "invalid_request")


def told(answer: httpx.Response) -> tuple[int, str]:
    """Status and code; the code of a served answer is its owner."""
    body = answer.json()
    return answer.status_code, body.get("code") or body.get("user_id")


@pytest.mark.promise("P1-refuse-credentials", "P1-refuse-input", "P1-accept-4")
def test_two_credentials_at_once_are_nobodys(stack: RunningStack, api: httpx.Client) -> None:
    one, other = (stack.owners[name] for name in ("demo", "cold"))
    keys = [f"Bearer {one.agent_key}", f"Bearer {other.agent_key}"]
    for first, second in ((keys[0], keys[1]), (keys[0], keys[0]), (keys[0], "Basic x")):
        for name in ("Authorization", "authorization", "AUTHORIZATION"):
            pair = [("Authorization", first), (name, second)]
            assert told(api.get(PROFILE, headers=pair)) == UNAUTHORIZED
    assert told(api.get(PROFILE, headers={"Authorization": ", ".join(keys)})) == UNAUTHORIZED


@pytest.mark.promise("P1-refuse-input", "P1-accept-4")
def test_no_header_query_or_path_names_another_owner(
    stack: RunningStack, api: httpx.Client
) -> None:
    me, victim = stack.owners["demo"], stack.owners["cold"]
    named = str(victim.user_id)
    claims = {
        "X-User-Id": named,
        "x_user_id": named,
        "X-Amzn-Oidc-Identity": named,
        "X-Forwarded-User": named,
        "X-Http-Method-Override": "DELETE",
        "X-Original-Url": "/api/admin/v1/flags",
        "requestContext": json.dumps({"authorizer": {"kind": "owner", "user_id": named}}),
    }
    assert told(api.get(PROFILE, headers={**claims, **me.agent})) == (200, str(me.user_id))
    assert told(api.get(PROFILE, headers=claims)) == UNAUTHORIZED
    for query in (f"user_id={named}", f"sub={named}", "%75ser_id=x", "user_id[]=x", "="):
        assert told(api.get(f"{PROFILE}?{query}", headers=me.agent)) == INVALID
    for more in (f"/{named}", "/", ";x", "%2f", "/..%2fprofile"):
        assert told(api.get(PROFILE + more, headers=me.agent)) == (404, "not_found")


@pytest.mark.promise("P1-refuse-session", "R-17")
def test_a_session_cookie_alone_changes_nothing_and_opens_no_agent_route(
    stack: RunningStack, api: httpx.Client
) -> None:
    owner = stack.owners["demo"]
    cookie = {"Cookie": f"__Host-session={owner.owner_token}"}
    before = api.get(KEYS, headers=cookie)
    assert before.status_code == 200
    for headers in (
        {},
        {"Origin": "https://evil.test"},
        {"Origin": "https://evil.test", "X-CSRF-Token": "0" * 64},
        {"Origin": stack.console_url.rstrip("/"), "X-CSRF-Token": "0" * 64},
    ):
        sent = api.post(KEYS, json={"name": "forged"}, headers={**cookie, **headers})
        assert told(sent) == UNAUTHORIZED
    assert told(api.get(KEYS, headers={**cookie, "Sec-Fetch-Site": "cross-site"})) == UNAUTHORIZED
    assert told(api.get(PROFILE, headers=cookie)) == UNAUTHORIZED
    key_as_session = {"Cookie": f"__Host-session={owner.agent_key}"}
    assert told(api.get(PROFILE, headers=key_as_session)) == UNAUTHORIZED
    names = [key["name"] for key in api.get(KEYS, headers=cookie).json()["keys"]]
    assert "forged" not in names

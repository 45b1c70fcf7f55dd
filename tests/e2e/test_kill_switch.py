"""The admin's switch over HTTP, on a stack of its own: turned for all, it would shut every test."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from infra.local.places import Places
from tests.e2e.running import RunningStack, run_dev

if TYPE_CHECKING:
    from tests.e2e.running import Owner

PROFILE = "/api/agent/v1/profile"
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "sync.get_profile"}}
OPEN, SHUT = "served", "profile_access_disabled"


@pytest.fixture
def own_stack() -> Iterator[RunningStack]:
    """A running stack that this test has for itself."""
    state = Path(tempfile.mkdtemp(prefix="judgment-switch-"))
    try:
        started = run_dev("up", "--detach", "--state", str(state), "--port", "0")
        assert started.returncode == 0, started.stdout + started.stderr
        yield RunningStack.read(Places(state))
    finally:
        run_dev("down", "--state", str(state))
        shutil.rmtree(state, ignore_errors=True)


class Agents:
    """What agents are told, each time by one REST read and one tool call."""

    def __init__(self, stack: RunningStack, http: httpx.Client):
        self._http = http
        self._admin = {"Authorization": f"Bearer {stack.admin_token}"}

    def told(self, owner: Owner) -> tuple[str, str]:
        """By REST and by MCP: `OPEN`, or the code of the refusal."""
        return self._by_rest(owner), self._by_mcp(owner)

    def turn(self, everybody: bool, **overrides: bool) -> None:
        """The admin's switch."""
        body = {"global": everybody, "user_overrides": overrides}
        answer = self._http.put("/api/admin/v1/flags", json=body, headers=self._admin)
        assert (answer.status_code, answer.json()) == (200, body)

    def _by_rest(self, owner: Owner) -> str:
        answer = self._http.get(PROFILE, headers=owner.agent)
        if answer.status_code == 200:
            assert answer.json()["user_id"] == str(owner.user_id)
            return OPEN
        assert answer.status_code == 403
        return answer.json()["code"]

    def _by_mcp(self, owner: Owner) -> str:
        answer = self._http.post("/mcp", json=CALL, headers=owner.agent)
        assert answer.status_code == 200
        result = answer.json()["result"]
        if not result["isError"]:
            assert result["structuredContent"]["user_id"] == str(owner.user_id)
            return OPEN
        assert "structuredContent" not in result
        return SHUT if SHUT in result["content"][0]["text"] else "another refusal"


@pytest.mark.promise("P1-accept-3", "R-6", "000-10.1")
def test_the_admins_switch_shows_on_the_very_next_read_and_tool_call(
    own_stack: RunningStack,
) -> None:
    one, other = own_stack.owners["demo"], own_stack.owners["cold"]
    with httpx.Client(base_url=own_stack.api_url, timeout=30) as http:
        agents = Agents(own_stack, http)
        named = str(one.user_id)
        for everybody, overrides, first, second in (
            (True, {}, OPEN, OPEN),
            (False, {}, SHUT, SHUT),
            (True, {}, OPEN, OPEN),
            (True, {named: False}, SHUT, OPEN),
            (True, {named: True}, OPEN, OPEN),
            (False, {named: True}, SHUT, SHUT),
            (True, {}, OPEN, OPEN),
        ):
            agents.turn(everybody, **overrides)
            assert agents.told(one) == (first, first)
            assert agents.told(other) == (second, second)
        # The owners' own routes and their own switch are not the admin's to open.
        agents.turn(False)
        assert http.get("/api/v1/keys", headers=one.headers).status_code == 200
        assert _plays(http, other) == 201
        assert agents.told(other) == (SHUT, SHUT)
        agents.turn(True, **{str(own_stack.owners["disabled"].user_id): True})
        assert agents.told(own_stack.owners["disabled"]) == (SHUT, SHUT)


def _plays(http: httpx.Client, owner: Owner) -> int:
    """The status of a decision on the owner's next round."""
    scenario = http.get("/api/v1/scenarios/next", headers=owner.headers).json()
    body = {"scenario_id": scenario["id"], "option_id": scenario["options"][0]["id"]}
    return http.post("/api/v1/decisions", json=body, headers=owner.headers).status_code

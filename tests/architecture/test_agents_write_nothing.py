"""No agent key and no tool can record a decision, draft a rationale or change a profile."""

from __future__ import annotations

import pytest

from functions.mcp.tools import TOOLS
from infra.catalogue import CATALOGUE
from judgment.contract.routes import ROUTES
from judgment.contract.scopes import DEFAULT_SCOPES, Scope

AGENT_ROUTES = [r for r in ROUTES if r.auth in ("agent", "either")]

# The whole of what an agent key opens. A new row here is a decision, not an accident.
OPEN_TO_AGENTS = {
    ("GET", "/api/agent/v1/profile"),
    ("GET", "/api/agent/v1/profile/recent-decisions"),
    ("GET", "/api/agent/v1/profile/explanation"),
    ("POST", "/mcp"),
}


@pytest.mark.promise("R-3", "000-3.2-readonly", "000-4-excluded", "P1-accept-4")
def test_an_agent_key_opens_exactly_the_reads_listed_here() -> None:
    assert {(r.method, r.path) for r in AGENT_ROUTES} == OPEN_TO_AGENTS


@pytest.mark.promise("R-3", "000-3.2-readonly", "P1-accept-4")
def test_what_serves_agents_reads_as_a_role_that_cannot_write_or_has_no_database() -> None:
    for route in AGENT_ROUTES:
        assert CATALOGUE.door(route.door).database_role in ("judgment_reader", None)


@pytest.mark.promise("000-2", "000-5", "R-3")
def test_every_tool_is_a_read_of_one_agent_route() -> None:
    behind = [("GET", tool.path) for tool in TOOLS]
    assert set(behind) <= OPEN_TO_AGENTS
    assert len(behind) == len(set(behind))
    assert [tool.name for tool in TOOLS] == ["sync.get_profile", "sync.get_recent_decisions"]


@pytest.mark.promise("000-3", "000-5-validate")
def test_a_tools_arguments_and_result_are_those_of_its_route() -> None:
    for tool in TOOLS:
        module, name = (tool.route.response or "").split(":")
        assert tool.result.__module__ == f"judgment.contract.{module}"
        assert tool.result.__name__ == name
        if tool.route.query:
            assert tool.arguments.__name__ == tool.route.query.split(":")[1]


@pytest.mark.promise("R-3")
def test_an_agent_route_asks_for_a_scope_that_reads() -> None:
    reads = {Scope.PROFILE_READ, Scope.PREFERENCES_READ}
    assert all(r.scope in reads for r in AGENT_ROUTES if r.path != "/mcp")
    assert DEFAULT_SCOPES == (Scope.PROFILE_READ,)


def test_the_mcp_door_can_reach_nothing_but_rest() -> None:
    door = CATALOGUE.door("mcp")
    assert door.database_role is None
    assert door.grants == ()

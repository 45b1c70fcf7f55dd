"""No agent key and no tool can record a decision, draft a rationale or change a profile.

What an agent may add is a statement of preference, behind a scope of its own, and by reading a
preference it adds a line to the owner's ledger. Nothing else (ruling 3).
"""

from __future__ import annotations

import re

import pytest

from functions.mcp.tools import TOOLS
from infra.catalogue import CATALOGUE
from judgment.contract.preferences import NewSignal
from judgment.contract.routes import ROUTES
from judgment.contract.scopes import DEFAULT_SCOPES, Scope
from judgment.db.roles import ROLES

AGENT_ROUTES = [r for r in ROUTES if r.auth in ("agent", "either")]
PREFERENCES = "/api/agent/v1/preferences"
CAPTURE = ("POST", f"{PREFERENCES}/signals")

# The whole of what an agent key opens. A new row here is a decision, not an accident.
OPEN_TO_AGENTS = {
    ("GET", "/api/agent/v1/profile"): Scope.PROFILE_READ,
    ("GET", "/api/agent/v1/profile/recent-decisions"): Scope.PROFILE_READ,
    ("GET", "/api/agent/v1/profile/explanation"): Scope.PROFILE_READ,
    ("GET", PREFERENCES): Scope.PREFERENCES_READ,
    ("GET", f"{PREFERENCES}/why"): Scope.PREFERENCES_READ,
    ("GET", f"{PREFERENCES}/block"): Scope.PREFERENCES_READ,
    ("POST", f"{PREFERENCES}/solve"): Scope.PREFERENCES_READ,
    CAPTURE: Scope.PREFERENCES_WRITE,
    ("POST", "/mcp"): None,
}


@pytest.mark.promise("R-3", "000-3.2-readonly", "000-4-excluded", "P1-accept-4")
def test_an_agent_key_opens_exactly_what_is_listed_here_each_by_its_scope() -> None:
    assert {(r.method, r.path): r.scope for r in AGENT_ROUTES} == OPEN_TO_AGENTS


@pytest.mark.promise("R-3")
def test_to_write_is_a_scope_that_no_key_has_unless_it_is_asked_for() -> None:
    assert DEFAULT_SCOPES == (Scope.PROFILE_READ,)
    writes = [r for r in AGENT_ROUTES if r.scope is Scope.PREFERENCES_WRITE]
    assert [(r.method, r.path) for r in writes] == [CAPTURE]


@pytest.mark.promise("R-3", "000-3.2-readonly", "P1-accept-4")
def test_what_serves_profiles_and_decisions_to_agents_has_a_role_that_cannot_write() -> None:
    roles = {r.path: CATALOGUE.door(r.door).database_role for r in AGENT_ROUTES}
    assert roles.pop("/mcp") is None
    about_profiles = {path: role for path, role in roles.items() if "/profile" in path}
    assert set(about_profiles.values()) == {"judgment_reader"}
    assert set(roles.values()) - {"judgment_reader"} == {"judgment_preferences"}


@pytest.mark.promise("R-3", "000-3.2-readonly")
def test_what_serves_preferences_cannot_touch_a_profile_a_decision_or_a_round() -> None:
    # Held to the database's real rights by tests/integration/test_isolation_rights.py.
    [role] = [role for role in ROLES if role.name == "judgment_preferences"]
    about_preferences = re.compile(r"judgment\.(preference_\w+|consent_events)")
    others = {table for table in role.writes if not about_preferences.fullmatch(table)}
    assert others <= {"judgment.outbox", "judgment.idempotency_keys"}
    taken = {r.request for r in AGENT_ROUTES if r.request}
    assert taken == {"preferences:CaptureRequest", "preferences:SolveRequest"}


@pytest.mark.promise("R-3", "P3-defect-17")
def test_a_captured_statement_cannot_be_consent_and_has_no_owner_but_the_keys() -> None:
    signal = NewSignal.model_json_schema()["properties"]
    assert signal["kind"]["enum"] == ["preference", "fact"]
    assert not {"owner", "user_id", "audience", "recorded_at", "position"} & set(signal)


@pytest.mark.promise("000-2", "000-5", "R-3", "P3-mcp")
def test_every_tool_is_one_agent_route_and_the_only_one_that_adds_is_capture() -> None:
    behind = [(tool.method, tool.path) for tool in TOOLS]
    assert set(behind) <= set(OPEN_TO_AGENTS)
    assert len(behind) == len(set(behind))
    assert [tool.name for tool in TOOLS] == [
        "sync.get_profile",
        "sync.get_recent_decisions",
        "prefs.get",
        "prefs.why",
        "prefs.solve",
        "prefs.capture",
    ]
    assert [(tool.method, tool.path) for tool in TOOLS if tool.adds] == [CAPTURE]


@pytest.mark.promise("000-3", "000-5-validate")
def test_a_tools_arguments_and_result_are_those_of_its_route() -> None:
    for tool in TOOLS:
        module, name = (tool.route.response or "").split(":")
        assert tool.result.__module__ == f"judgment.contract.{module}"
        assert tool.result.__name__ == name
        taken = tool.route.query or tool.route.request
        if taken:
            names = {kind.__name__: kind for kind in tool.arguments.__mro__}
            asked = names[taken.split(":")[1]]
            assert set(tool.arguments.model_fields) == set(asked.model_fields)


def test_the_mcp_door_can_reach_nothing_but_rest() -> None:
    door = CATALOGUE.door("mcp")
    assert door.database_role is None
    assert door.grants == ()

"""The route table holds together: types exist, auth follows the path, nothing is said twice."""

from __future__ import annotations

import re
from importlib import import_module

import pytest
from pydantic import BaseModel

from infra.catalogue import CATALOGUE
from judgment.contract.routes import ROUTES, Route
from judgment.contract.wire import RequestModel

AUTH_OF = {
    "/api/agent/v1/": {"agent", "either"},
    "/api/v1/": {"owner", "either"},
    "/api/admin/v1/": {"admin"},
}


def model(reference: str) -> type[BaseModel]:
    """The contract type that a route names as `module:Name`."""
    module, name = reference.split(":")
    return getattr(import_module(f"judgment.contract.{module}"), name)


def named(route: Route) -> str:
    return f"{route.method} {route.path}"


@pytest.mark.promise("P1-2")
@pytest.mark.parametrize("route", ROUTES, ids=named)
def test_the_types_a_route_names_exist(route: Route) -> None:
    for reference in filter(None, (route.request, route.query)):
        assert issubclass(model(reference), RequestModel)
    if route.response:
        assert issubclass(model(route.response), BaseModel)


@pytest.mark.parametrize("route", ROUTES, ids=named)
def test_who_may_call_follows_from_the_path(route: Route) -> None:
    for prefix, allowed in AUTH_OF.items():
        if route.path.startswith(prefix):
            assert route.auth in allowed


@pytest.mark.promise("000-4-limits")
def test_every_agent_route_names_a_scope_and_a_limit() -> None:
    for route in ROUTES:
        if route.path.startswith("/api/agent/v1/"):
            assert (route.scope, route.limit) != (None, None), named(route)
            assert route.scope is not None, named(route)
            assert route.limit is not None, named(route)
        else:
            assert route.scope is None, named(route)


def test_no_method_of_a_path_has_two_rows() -> None:
    keys = [(route.method, re.sub(r"{[^}]*}", "{}", route.path)) for route in ROUTES]
    assert len(keys) == len(set(keys))


def test_each_route_is_served_by_a_door_of_the_catalogue_and_each_http_door_has_a_route() -> None:
    served = {route.door for route in ROUTES}
    assert served == {door.name for door in CATALOGUE.doors if door.trigger == "http"}
    assert CATALOGUE.routes == ROUTES


@pytest.mark.promise("R-20")
def test_whatever_has_no_row_of_its_own_is_the_contracts_404() -> None:
    rest = [r for r in ROUTES if r.method == "ANY" and r.door == "public"]
    assert {r.path for r in rest} == {"/", "/{path+}"}
    assert all(r.response == "errors:Problem" for r in rest)


@pytest.mark.promise("000-4")
def test_the_two_agent_reads_of_the_seed_are_there() -> None:
    rows = {named(r): r for r in ROUTES}
    profile = rows["GET /api/agent/v1/profile"]
    recent = rows["GET /api/agent/v1/profile/recent-decisions"]
    assert (profile.auth, profile.response) == ("agent", "profile:AgentProfile")
    assert (recent.auth, recent.response) == ("agent", "profile:RecentDecisions")
    assert recent.query == "profile:RecentDecisionsQuery"

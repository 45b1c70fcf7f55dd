"""The gateway picks the row of the route table that API Gateway would pick."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infra.local.gateway.routing import Router
from judgment.contract.routes import ROUTES, Route

_ROUTER = Router(ROUTES)


@pytest.mark.promise("P1-9")
@pytest.mark.parametrize("route", [route for route in ROUTES if route.method != "ANY"])
def test_every_row_is_reached_by_its_own_method_and_path(route: Route) -> None:
    path = route.path.replace("{path+}", "a/b").replace("{key_id}", "k1")
    match = _ROUTER.match(route.method, path)
    assert match is not None
    assert match.route is route


@pytest.mark.parametrize(
    ("path", "wanted", "parameters"),
    [
        ("/fixed/thing", "/fixed/thing", {}),
        ("/fixed/other", "/fixed/{name}", {"name": "other"}),
        ("/fixed/a%2Fb%20c", "/fixed/{name}", {"name": "a/b c"}),
        ("/fixed/other/more", "/{path+}", {"path": "fixed/other/more"}),
        ("/fixed/deep/x/y", "/fixed/deep/{path+}", {"path": "x/y"}),
        ("/fixed/deep", "/fixed/{name}", {"name": "deep"}),
        ("/fixed/thing/", "/{path+}", {"path": "fixed/thing/"}),
        ("//fixed/thing", "/{path+}", {"path": "/fixed/thing"}),
        ("/", "/", {}),
    ],
)
def test_the_most_specific_resource_wins(
    path: str, wanted: str, parameters: dict[str, str]
) -> None:
    paths = ("/{path+}", "/fixed/{name}", "/fixed/thing", "/fixed/deep/{path+}", "/")
    router = Router(tuple(Route("GET", known, "door", "none", "") for known in paths))
    match = router.match("GET", path)
    assert match is not None
    assert (match.route.path, match.parameters) == (wanted, parameters)


def test_a_resource_without_the_method_does_not_fall_through_to_a_wider_one() -> None:
    router = Router(
        (
            Route("GET", "/thing", "door", "none", ""),
            Route("ANY", "/{path+}", "rest", "none", ""),
        )
    )
    assert router.match("DELETE", "/thing") is None
    assert router.match("HEAD", "/thing") is None


def test_a_method_of_its_own_beats_any() -> None:
    post = _ROUTER.match("POST", "/mcp")
    get = _ROUTER.match("GET", "/mcp")
    assert post is not None
    assert get is not None
    assert (post.route.auth, get.route.auth) == ("agent", "none")


@given(st.text(alphabet="/{}+%.~abc09-_", max_size=40))
def test_no_path_breaks_the_router_and_only_our_own_routes_need_a_credential(tail: str) -> None:
    match = _ROUTER.match("GET", "/" + tail)
    assert match is None or match.route in ROUTES

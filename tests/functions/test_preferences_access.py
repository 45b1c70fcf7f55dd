"""Who may reach an owner's preferences, how often, and what is left of it in the ledger."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes.people import make_owner, switch_flag, switch_own
from tests.fakes.preferences import Shelf, signal

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P3-hosted")

EVENTS = Path(__file__).parents[2] / "events/preferences"
ON = '{"global": true, "user_overrides": {}}'


@pytest.fixture
def shelf(module_database: TestDatabase) -> Iterator[Shelf]:
    switch_flag(module_database, ON)
    made = Shelf(module_database)
    yield made
    made.close()


@pytest.fixture
def who(shelf: Shelf) -> uuid.UUID:
    return shelf.somebody()


@pytest.mark.promise("P3-refuse")
@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("", {"limit": "0"}),
        ("", {"limit": "201"}),
        ("", {"cursor": "!!"}),
        ("", {"cursor": "AAA"}),
        ("", {"platform": "../x"}),
        ("", {"below": "a..b"}),
        ("", {"audience": "*"}),
        ("", {"audience": "b*"}),
        ("", {"purpose": "sell"}),
        ("", {"owner": "me"}),
        ("", {"secret": "1"}),
        ("/why", {}),
        ("/why", {"key": "a.*"}),
        ("/block", {}),
        ("/signals", {"cursor": "MQ=="}),
        ("/ledger", {"cursor": "eA"}),
    ],
)
def test_a_query_that_is_none_is_400_and_leaves_no_trace(
    shelf: Shelf, who: uuid.UUID, path: str, query: dict[str, str]
):
    status, problem = shelf.as_owner(who, "GET", path, query=query)
    assert (status, problem["code"]) == (400, "invalid_request")
    assert shelf.ledger(who) == []


@pytest.mark.promise("R-6", "P3-hosted")
def test_each_switch_shuts_every_agent_route_and_no_owner_route(shelf: Shelf, who: uuid.UUID):
    shelf.capture(who, signal())
    agents = (
        ("GET", "", {}),
        ("GET", "/why", {"query": {"key": "a"}}),
        ("GET", "/block", {"query": {"platform": "codex"}}),
        ("POST", "/signals", {"body": {"signals": [signal("x")]}}),
        ("POST", "/solve", {"body": group({"self": True})}),
    )

    def shut() -> None:
        before = shelf.everything(who)
        for method, path, more in agents:
            status, problem = shelf.as_agent(who, method, path, **more)
            assert (status, problem["code"]) == (403, "profile_access_disabled"), path
        assert shelf.everything(who) == before
        assert shelf.as_owner(who, "GET")[0] == 200

    switch_own(shelf.database, who, False)
    shut()
    switch_own(shelf.database, who, True)
    switch_flag(shelf.database, '{"global": false, "user_overrides": {}}')
    shut()
    switch_flag(shelf.database, json.dumps({"global": True, "user_overrides": {str(who): False}}))
    shut()
    switch_flag(shelf.database, ON)
    assert shelf.as_agent(who, "GET")[0] == 200


def group(*participants: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A question about two restaurants."""
    options = [
        {"id": "thai", "keys": ["dining.cuisine.thai"]},
        {"id": "sushi", "keys": ["dining.cuisine.japanese"]},
    ]
    return {"options": options, "participants": list(participants)} | more


@pytest.mark.promise("R-3", "P3-hosted")
def test_a_key_does_what_its_scopes_say(shelf: Shelf, who: uuid.UUID):
    body = {"signals": [signal()]}
    for scopes, reads, writes in (
        (("preferences:read",), 200, 403),
        (("preferences:write",), 403, 201),
        (("profile:read",), 403, 403),
    ):
        assert shelf.as_agent(who, "GET", scopes=scopes)[0] == reads
        for people in ({"self": True}, {"id": "guest", "weights": {}}):
            solved = shelf.as_agent(who, "POST", "/solve", body=group(people), scopes=scopes)
            assert solved[0] == reads
        assert shelf.as_agent(who, "POST", "/signals", body=body, scopes=scopes)[0] == writes


@pytest.mark.promise("P3-hosted")
def test_one_use_too_many_is_429_and_has_not_happened(module_database: TestDatabase):
    switch_flag(module_database, ON)
    shelf = Shelf(module_database, most=2)
    who, key_id = shelf.somebody(), uuid.uuid4()
    more = {"key_id": key_id}
    for path, method, sent in (
        ("", "GET", {}),
        ("/signals", "POST", {"body": {"signals": [signal()]}}),
        ("/solve", "POST", {"body": group({"self": True})}),
    ):
        for _ in range(2):
            assert shelf.as_agent(who, method, path, **sent, **more)[0] in (200, 201)
        before = shelf.everything(who)
        status, problem = shelf.as_agent(who, method, path, **sent, **more)
        assert (status, problem["code"]) == (429, "rate_limited")
        assert problem["retry_after_seconds"] >= 1
        assert shelf.everything(who) == before
        assert shelf.as_agent(who, method, path, **sent)[0] in (200, 201), "another key"
    shelf.counters.down = True
    assert shelf.as_agent(who, "GET", **more)[0] == 200
    shelf.close()


@pytest.mark.promise("P3-ledger", "P3-defect-06")
def test_every_read_has_its_line_before_it_is_answered(shelf: Shelf, who: uuid.UUID):
    shelf.capture(who, signal(), signal("home.city", "Bern", kind="fact"))
    shelf.get(who, platform="codex", limit=1)
    shelf.as_owner(who, "GET", query={"below": "home"})
    first, second = shelf.ledger(who)
    at = datetime.fromisoformat(first.pop("at"))
    assert abs(datetime.now(UTC) - at) < timedelta(minutes=5)
    assert first == {
        "position": 1,
        "kind": "disclosure",
        "audience": "self",
        "purpose": "read",
        "platform": "codex",
        "keys": ["dining.cuisine.thai"],
        "by": "key sync_abcdefg",
        "correlation": "corr-1",
    }
    assert (second["by"], second["keys"], second["platform"]) == ("owner", ["home.city"], None)
    status, page = shelf.as_owner(who, "GET", "/ledger", query={"limit": 1})
    assert status == 200
    assert [entry["position"] for entry in page["entries"]] == [2]
    rest = shelf.as_owner(who, "GET", "/ledger", query={"cursor": page["next_cursor"]})[1]
    assert [entry["position"] for entry in rest["entries"]] == [1]
    assert rest["entries"][0]["correlation_id"] == "corr-1"
    checked = shelf.verification(who)
    assert (checked["intact"], checked["length"], checked["problems"]) == (True, 2, [])
    assert checked["head"] == page["entries"][0]["hash"]


def test_nobody_is_404_and_leaves_nothing(shelf: Shelf):
    nobody = uuid.uuid4()
    for method, path, more in (
        ("POST", "/signals", {"body": {"signals": [signal()]}}),
        ("POST", "/consent", {"body": {"key_glob": "*", "audience": "bob"}}),
        ("GET", "/block", {"query": {"platform": "codex"}}),
        ("GET", "/why", {"query": {"key": "a"}}),
        ("GET", "/signals", {}),
        ("GET", "/ledger/verification", {}),
    ):
        assert shelf.as_owner(nobody, method, path, **more)[0] == 404, path
    assert set(map(tuple, shelf.everything(nobody).values())) == {()}


def test_the_examples_are_answered(shelf: Shelf):
    person = uuid.UUID("0b7f3a55-7f2f-4d6f-9c39-0a35b5a9f6f1")
    make_owner(shelf.database, person)
    for name in ("capture", "read", "why", "block", "solve", "grant", "revoke", "ledger"):
        reply = shelf.door(json.loads((EVENTS / f"{name}.json").read_text()), None)
        assert reply["statusCode"] in (200, 201), (name, reply["body"])
    checked = shelf.door(json.loads((EVENTS / "verification.json").read_text()), None)
    assert json.loads(checked["body"])["intact"]
    assert shelf.door(json.loads((EVENTS / "forget.json").read_text()), None)["statusCode"] == 404

"""Looking back on conversations through their door: lists, shapes, stopping, refusals."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from judgment.contract.message_routes import MESSAGE_ROUTES
from judgment.conversation import store
from judgment.conversation.model import ToolRecord
from tests.fakes.events import agent
from tests.fakes.owner_desk import STAMP, T0, Desk

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P4-conversations")

GATEWAY = [r for r in MESSAGE_ROUTES if r.door == "conversations" and r.errors == "gateway"]


@pytest.fixture
def desk(module_database: TestDatabase) -> Iterator[Desk]:
    made = Desk(module_database)
    yield made
    made.close()


@pytest.fixture
def who(desk: Desk) -> uuid.UUID:
    return desk.somebody()


def test_a_new_owner_has_no_conversation(desk: Desk, who: uuid.UUID):
    nothing = {"conversations": [], "total": 0, "limit": 50, "offset": 0}
    assert desk.get(who, "/conversations") == nothing


def test_conversations_are_listed_the_latest_first_in_pages(desk: Desk, who: uuid.UUID):
    made = [
        desk.talk(who, ("user", "Hello"), name=f"c{n}", title=f"T{n}", at=T0 + timedelta(hours=n))
        for n in range(5)
    ]
    desk.talk(desk.somebody(), ("user", "Another's"))
    page = desk.get(who, "/conversations", limit="2", offset="1")
    assert (page["total"], page["limit"], page["offset"]) == (5, 2, 1)
    assert [one["id"] for one in page["conversations"]] == [made[3], made[2]]
    assert page["conversations"][0] == {
        "id": "c3",
        "title": "T3",
        "created_at": "2026-11-30T15:00:00.123Z",
        "updated_at": "2026-11-30T15:00:00.123Z",
        "message_count": 1,
    }
    assert desk.get(who, "/conversations", offset="5")["conversations"] == []


def test_a_conversation_is_shown_with_its_messages_as_they_were_said(desk: Desk, who: uuid.UUID):
    record = ToolRecord("m2", "memory_read", {"path": "AGENT.md"}, "ok", {"content": "é\0"})
    text = '“é” 👩‍🚀 \\ " \u2028 <script> ---\n```'
    name = desk.talk(who, ("user", text), ("tool", record.to_content()), ("assistant", "Read."))
    assert desk.get(who, f"/conversations/{name}") == {
        "id": name,
        "title": "A talk",
        "created_at": STAMP,
        "updated_at": STAMP,
        "messages": [
            {"id": "m1", "role": "user", "content": text, "timestamp": STAMP},
            {"id": "m2", "role": "tool", "content": record.to_content(), "timestamp": STAMP},
            {"id": "m3", "role": "assistant", "content": "Read.", "timestamp": STAMP},
        ],
    }


@pytest.mark.parametrize("query", [{"limit": "0"}, {"limit": "201"}, {"offset": "-1"}, {"x": "1"}])
def test_a_page_that_cannot_be_is_refused(desk: Desk, who: uuid.UUID, query: dict[str, str]):
    refused = desk.call(who, "GET", "/conversations", query=query)
    assert refused == (400, {"error": "Invalid request"})


HOSTILE = (
    "..%2f..%2fme%2fprofile",
    "a%00b",
    "%2e%2e",
    "..",
    "-a",
    "a" * 129,
    "ümlaut",
    "a b",
    "a'; --",
    "0b7f3a55-7f2f-4d6f-9c39-0a35b5a9f6f1",
)


@pytest.mark.promise("P4-refuse", "R-41")
@pytest.mark.parametrize("name", HOSTILE)
def test_an_id_that_names_nothing_is_not_found(desk: Desk, who: uuid.UUID, name: str):
    missing = (404, {"error": "Conversation not found"})
    assert desk.call(who, "GET", f"/conversations/{name}") == missing
    assert desk.call(who, "POST", f"/conversations/{name}/stop") == missing


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize("name", ["a\0b", "../me/profile", "\ud800", "a\nb"])
def test_an_address_that_is_none_is_refused_in_the_same_form(desk: Desk, who: uuid.UUID, name: str):
    status, body = desk.call(who, "GET", f"/conversations/{name}")
    assert status == 404
    assert list(body) == ["error"]


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize("name", ["a\0b", "../x", "\ud800", "a" * 129, "", "a\n"])
def test_an_id_that_cannot_be_is_asked_of_no_database(desk: Desk, who: uuid.UUID, name: str):
    with desk.postgres.transaction(who) as tx:
        assert store.conversation(tx, who, name) is None
        assert not store.request_stop(tx, who, name, T0)
        assert tx.value("SELECT 1") == 1, "no statement failed"


def test_another_owners_conversation_is_not_found(desk: Desk, who: uuid.UUID):
    name = desk.talk(who, ("user", "Mine"))
    stranger = desk.somebody()
    missing = (404, {"error": "Conversation not found"})
    assert desk.call(stranger, "GET", f"/conversations/{name}") == missing
    assert desk.call(stranger, "POST", f"/conversations/{name}/stop") == missing
    with desk.postgres.transaction(who) as tx:
        assert not store.stop_requested_since(tx, who, name, T0)


def test_two_owners_may_use_one_id(desk: Desk, who: uuid.UUID):
    other = desk.somebody()
    for person, text in ((who, "Mine"), (other, "Theirs")):
        desk.talk(person, ("user", text), name="same")
    assert desk.get(who, "/conversations/same")["messages"][0]["content"] == "Mine"
    assert desk.get(other, "/conversations/same")["messages"][0]["content"] == "Theirs"


def test_a_stop_is_for_the_turn_that_runs_and_not_for_the_next(desk: Desk, who: uuid.UUID):
    name = desk.talk(who, ("user", "Hello"))
    later = Desk(desk.database, clock=lambda: T0)
    assert later.call(who, "POST", f"/conversations/{name}/stop") == (
        202,
        {"conversation_id": name},
    )
    later.close()
    with desk.postgres.transaction(who) as tx:
        assert store.stop_requested_since(tx, who, name, T0)
        assert store.stop_requested_since(tx, who, name, T0 - timedelta(seconds=1))
        assert not store.stop_requested_since(tx, who, name, T0 + timedelta(seconds=1))


@pytest.mark.promise("P4-refuse", "R-41")
@pytest.mark.parametrize("route", GATEWAY, ids=lambda route: f"{route.method} {route.path}")
def test_nobody_and_no_agent_is_answered(desk: Desk, who: uuid.UUID, route: Any):
    path = route.path.replace("{", "").replace("}", "")
    for caller in (None, agent(who)):
        assert desk.call(caller, route.method, path) == (401, {"error": "Unauthorized"})
    assert set(desk.counts(who).values()) == {0}


BODIES = [route for route in GATEWAY if route.request]


@pytest.mark.promise("P4-refuse", "R-41")
@pytest.mark.parametrize("route", BODIES, ids=lambda route: f"{route.method} {route.path}")
@pytest.mark.parametrize(
    "body",
    ["", "{", "[]", "null", '{"content": "\\ud800"}', '{"x": 1}', '{"name": 1}', "\ud800"],
)
def test_a_body_of_another_shape_is_an_invalid_request(
    desk: Desk, who: uuid.UUID, route: Any, body: str
):
    path = route.path.format(project_id="finance", request_id=uuid.uuid4())
    query = {"path": "documents/finance/spec.md"} if route.query else None
    if (route.method, body) == ("PATCH", '{"x": 1}'):
        body = '{"x": 1, "name": "A"}'
    refused = desk.call(who, route.method, path, body, query=query)
    assert refused == (400, {"error": "Invalid request"})


TEXTS = {
    "/projects/{project_id}/file-content": "content",
    "/profile": "content",
    "/agent": "overlay_content",
    "/projects": "name",
    "/projects/{project_id}": "name",
}


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize(
    "route", [r for r in BODIES if r.path in TEXTS], ids=lambda r: f"{r.method} {r.path}"
)
@pytest.mark.parametrize("text", ["\\u0000", "\\udc80", "a\\ud800b"])
def test_text_that_cannot_be_kept_is_refused_and_nothing_is_written(
    desk: Desk, who: uuid.UUID, route: Any, text: str
):
    path = route.path.format(project_id="finance")
    query = {"path": "documents/finance/spec.md"} if route.query else None
    body = f'{{"{TEXTS[route.path]}": "{text}"}}'
    refused = desk.call(who, route.method, path, body, query=query)
    assert refused == (400, {"error": "Invalid request"})
    assert set(desk.counts(who).values()) == {0}


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize("route", BODIES, ids=lambda route: f"{route.method} {route.path}")
def test_a_body_beyond_the_bound_is_too_large(desk: Desk, who: uuid.UUID, route: Any):
    path = route.path.format(project_id="finance", request_id=uuid.uuid4())
    query = {"path": "documents/finance/spec.md"} if route.query else None
    body = f'{{"content": "{"x" * (route.body_kib * 1024)}"}}'
    status, answer = desk.call(who, route.method, path, body, query=query)
    assert (status, list(answer)) == (413, ["error"])
    assert set(desk.counts(who).values()) == {0}


def test_a_megabyte_is_no_decision(desk: Desk, who: uuid.UUID):
    status, answer = desk.decide(who, uuid.uuid4(), "x" * 2**20)
    assert (status, list(answer)) == (413, ["error"])

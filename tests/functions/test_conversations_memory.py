"""A memory leaves and arrives through the door, and conversations are files of it."""

from __future__ import annotations

import base64
import json
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from judgment.contract.memory import PART_BYTES
from judgment.conversation import store
from judgment.conversation.formats import parse_conversation, parse_projects
from judgment.conversation.model import ToolRecord
from judgment.conversation.views import ConversationViews
from judgment.kit.hashing import sha256_hex
from tests.fakes.events import agent
from tests.fakes.owner_desk import STAMP, Desk

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P4-conversations", "002-29")

EXPORT = "/api/v1/memory/export"
IMPORTS = "/api/v1/memory/imports"
NOTE = "documents/finance/note.md"


@pytest.fixture
def desk(module_database: TestDatabase) -> Iterator[Desk]:
    made = Desk(module_database)
    yield made
    made.close()


@pytest.fixture
def who(desk: Desk) -> uuid.UUID:
    return desk.somebody()


def exported(desk: Desk, who: uuid.UUID) -> bytes:
    """Every page, joined as a client joins them."""
    lines: list[str] = []
    query: dict[str, str] = {}
    while True:
        page = desk.get(who, EXPORT, **query).splitlines()
        last = json.loads(page[-1])
        lines += page[:-1] if last["type"] == "next" else page
        if last["type"] == "end":
            return "".join(f"{line}\n" for line in lines).encode()
        query = {"cursor": last["cursor"]}


def send(desk: Desk, who: uuid.UUID, whole: bytes, *, size: int = 40_000) -> tuple[int, Any]:
    """The status and answer of an import in parts."""
    named = uuid.uuid4()
    parts = [whole[start : start + size] for start in range(0, len(whole), size)]
    for number, part in enumerate(parts, 1):
        body = {"data": base64.b64encode(part).decode()}
        put = desk.call(who, "PUT", f"{IMPORTS}/{named}/parts/{number}", body)
        assert put == (204, "")
    order = {"parts": len(parts), "sha256": sha256_hex(whole)}
    return desk.call(who, "POST", f"{IMPORTS}/{named}", order)


@pytest.mark.promise("P4-memory-import")
def test_a_memory_goes_to_another_owner_with_its_conversations_and_pages(
    desk: Desk, who: uuid.UUID
):
    desk.edit(who, NOTE, "One — é\r\n")
    desk.edit(who, NOTE, "Two\n")
    desk.call(who, "POST", "/projects", {"name": "Garden", "icon": "sun"})
    record = ToolRecord("m2", "memory_read", {"path": NOTE}, "ok", {"content": "“\u2028”"})
    talk = desk.talk(who, ("user", "```\n---\n"), ("tool", record.to_content()), name="talk-1")
    with desk.postgres.transaction(who) as tx:
        store.attach(tx, who, "garden", talk)
    other = desk.somebody()
    status, answer = send(desk, other, exported(desk, who))
    assert (status, answer["conversations"]) == (200, 1)
    assert desk.get(other, "/projects") == desk.get(who, "/projects")
    assert desk.get(other, f"/conversations/{talk}") == desk.get(who, f"/conversations/{talk}")
    assert desk.history(other, NOTE) == [b"One \xe2\x80\x94 \xc3\xa9\r\n", b"Two\n"]
    assert desk.commits(other)[: len(desk.commits(who))] == [
        ("import", author, message) for _, author, message in desk.commits(who)
    ]


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", f"{EXPORT}?cursor=x", None),
        ("PUT", f"{IMPORTS}/none/parts/1", {"data": "AAAA"}),
        ("PUT", f"{IMPORTS}/{uuid.UUID(int=1)}/parts/0", {"data": "AAAA"}),
        ("PUT", f"{IMPORTS}/{uuid.UUID(int=1)}/parts/501", {"data": "AAAA"}),
        ("PUT", f"{IMPORTS}/{uuid.UUID(int=1)}/parts/1x", {"data": "AAAA"}),
        ("PUT", f"{IMPORTS}/{uuid.UUID(int=1)}/parts/٣", {"data": "AAAA"}),
        ("PUT", f"{IMPORTS}/{uuid.UUID(int=1)}/parts/1", {"data": "no base64"}),
        ("PUT", f"{IMPORTS}/{uuid.UUID(int=1)}/parts/1", {"data": "AAAAA"}),
        ("PUT", f"{IMPORTS}/{uuid.UUID(int=1)}/parts/1", {}),
        ("POST", f"{IMPORTS}/none", {"parts": 1, "sha256": "0" * 64}),
        ("POST", f"{IMPORTS}/{uuid.UUID(int=1)}", {"parts": 0, "sha256": "0" * 64}),
        ("POST", f"{IMPORTS}/{uuid.UUID(int=1)}", {"parts": 1, "sha256": "x"}),
    ],
)
def test_a_transfer_of_another_shape_is_refused_in_our_own_form(
    desk: Desk, who: uuid.UUID, method: str, path: str, body: Any
):
    path, _, cursor = path.partition("?cursor=")
    query = {"cursor": cursor} if cursor else None
    status, answer = desk.call(who, method, path, body, query=query)
    assert (status, answer["code"]) == (400, "invalid_request")
    assert set(desk.counts(who).values()) == {0}


@pytest.mark.promise("P4-refuse")
def test_a_part_has_a_largest_size(desk: Desk, who: uuid.UUID):
    path = f"{IMPORTS}/{uuid.uuid4()}/parts/1"
    data = base64.b64encode(b"x" * PART_BYTES).decode()
    assert desk.call(who, "PUT", path, {"data": data}) == (204, "")
    more = base64.b64encode(b"x" * (PART_BYTES + 1)).decode()
    status, answer = desk.call(who, "PUT", path, {"data": more})
    assert (status, answer["code"]) == (413, "too_large")
    status, answer = desk.call(who, "PUT", path, {"data": "x" * 3_200_000})
    assert (status, answer["code"]) == (413, "too_large")


@pytest.mark.promise("P4-refuse")
def test_an_import_whose_parts_are_missing_is_not_found(desk: Desk, who: uuid.UUID):
    order = {"parts": 1, "sha256": "0" * 64}
    status, answer = desk.call(who, "POST", f"{IMPORTS}/{uuid.uuid4()}", order)
    assert (status, answer["code"]) == (404, "not_found")


def test_a_transfer_is_the_owners_alone(desk: Desk, who: uuid.UUID):
    for method, path in (
        ("GET", EXPORT),
        ("PUT", f"{IMPORTS}/{uuid.uuid4()}/parts/1"),
        ("POST", f"{IMPORTS}/{uuid.uuid4()}"),
    ):
        for caller in (None, agent(who)):
            status, answer = desk.call(caller, method, path)
            assert (status, answer["code"]) == (401, "unauthorized")


def test_conversations_and_pages_can_be_read_as_files_of_the_memory(desk: Desk, who: uuid.UUID):
    views = ConversationViews()
    desk.get(who, "/projects")
    desk.talk(who, ("user", "Hello"), ("assistant", "Good day"), name="b", title="T — é")
    desk.talk(who, ("user", "Hello"), name="a.index")
    other = desk.somebody()
    with desk.postgres.transaction(who) as tx:
        assert list(views.paths(tx, who)) == [
            "conversations/a.index.md",
            "conversations/b.md",
            "conversations/index.json",
            "documents/projects.json",
        ]
        shown = {path: views.read(tx, who, path) or b"" for path in views.paths(tx, who)}
        for unknown in (
            "conversations/c.md",
            "conversations/../me/profile.md",
            "conversations/a\0.md",
            "conversations/b.MD",
            "me/profile.md",
            "",
        ):
            assert views.read(tx, who, unknown) is None
    conversation, said = parse_conversation(shown["conversations/b.md"].decode())
    assert (conversation.id, conversation.title) == ("b", "T — é")
    assert [(one.role, one.content) for one in said] == [
        ("user", "Hello"),
        ("assistant", "Good day"),
    ]
    assert parse_projects(shown["documents/projects.json"].decode())[0].id == "your-agent"
    index = json.loads(shown["conversations/index.json"])
    assert index["conversations"][0] == {
        "id": "a.index",
        "title": "A talk",
        "created_at": STAMP,
        "updated_at": STAMP,
        "message_count": 1,
    }
    with desk.postgres.transaction(other) as tx:
        assert views.read(tx, other, "conversations/b.md") is None
        assert len(views.paths(tx, other)) == 2

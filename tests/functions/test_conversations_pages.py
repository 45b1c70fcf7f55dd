"""Pages through their door: those of the beginning, added, renamed, detached, deleted."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.conversation import store
from judgment.conversation.projects import MOST_PAGES, slug
from judgment.memory.starter import PAGES, page_files
from tests.fakes.owner_desk import Desk
from tests.fakes.people import run_as_admin

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P4-conversations")

NO_PAGE = (404, {"error": "Project not found"})


@pytest.fixture
def desk(module_database: TestDatabase) -> Iterator[Desk]:
    made = Desk(module_database)
    yield made
    made.close()


@pytest.fixture
def who(desk: Desk) -> uuid.UUID:
    return desk.somebody()


def ids(desk: Desk, who: uuid.UUID) -> list[str]:
    return [page["id"] for page in desk.get(who, "/projects")["projects"]]


def paths(desk: Desk, who: uuid.UUID, page: str) -> list[str]:
    return [file["path"] for file in desk.get(who, f"/projects/{page}/files")["files"]]


def add(desk: Desk, who: uuid.UUID, name: str, **more: Any) -> Any:
    status, page = desk.call(who, "POST", "/projects", {"name": name, **more})
    assert status == 201, page
    return page


@pytest.mark.promise("P4-starter")
def test_an_owner_begins_with_the_pages_of_the_starter_pack(desk: Desk, who: uuid.UUID):
    for _ in range(2):
        assert desk.get(who, "/projects") == {
            "projects": [
                {
                    "id": page.id,
                    "name": page.name,
                    "icon": page.icon,
                    "conversation_id": None,
                    "default_skill_ids": [],
                }
                for page in PAGES
            ]
        }
    assert [message for _, _, message in desk.commits(who)] == ["Initialize memory root"]


@pytest.mark.promise("P4-starter")
@pytest.mark.parametrize("path", ["/conversations", "/profile", "/agent", "/approvals/mode"])
def test_whatever_an_owner_asks_for_first_finds_a_memory(desk: Desk, who: uuid.UUID, path: str):
    desk.get(who, path)
    assert desk.counts(who)["projects"] == len(PAGES)
    assert [origin for origin, _, _ in desk.commits(who)] == ["starter"]


def test_a_page_that_is_added_has_the_files_of_a_new_project(desk: Desk, who: uuid.UUID):
    page = add(desk, who, "  Moving   house ")
    assert page == {
        "id": "moving-house",
        "name": "Moving house",
        "icon": "folder",
        "conversation_id": None,
        "default_skill_ids": [],
    }
    assert ids(desk, who) == [*(one.id for one in PAGES), "moving-house"]
    listed = desk.get(who, "/projects/moving-house/files")
    assert listed["project_id"] == "moving-house"
    wanted = page_files("moving-house", "Moving house")
    assert {f["path"]: f["bytes"] for f in listed["files"]} == {
        path: len(content) for path, content in wanted.items()
    }
    assert desk.commits(who)[-1] == (
        "owner",
        "Owner <owner@judgment.invalid>",
        "Add page Moving house",
    )


def test_pages_of_one_name_have_ids_of_their_own(desk: Desk, who: uuid.UUID):
    made = [add(desk, who, name)["id"] for name in ("Garden", "garden!", "GARDEN", "Your Agent")]
    assert made == ["garden", "garden-2", "garden-3", "your-agent-2"]
    assert add(desk, who, "BrainDrive+One")["id"] == "braindrive-one"
    assert add(desk, who, "BrainDrive plus one")["id"] == "braindrive-plus-one-2"
    assert add(desk, who, "日本語", icon="sun")["id"] == "page"
    assert add(desk, who, "中文")["id"] == "page-2"


def test_an_id_is_not_used_again_where_files_are(desk: Desk, who: uuid.UUID):
    add(desk, who, "Garden")
    run_as_admin(desk.database, "DELETE FROM judgment.projects WHERE id = 'garden'")
    assert add(desk, who, "Garden")["id"] == "garden-2"


@given(st.text(max_size=200))
def test_every_name_makes_an_id_that_can_be(name: str):
    made = slug(name)
    assert store.is_project_id(made)
    assert store.is_project_id(f"{made}-99")
    assert slug(made) == made


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize("name", ["", "  ", "\u2003", "x" * 101])
def test_a_page_without_a_name_is_refused(desk: Desk, who: uuid.UUID, name: str):
    refused = (400, {"error": "Invalid request"})
    assert desk.call(who, "POST", "/projects", {"name": name}) == refused
    assert desk.call(who, "PATCH", "/projects/finance", {"name": name}) == refused
    assert "" not in [page["name"].strip() for page in desk.get(who, "/projects")["projects"]]


@pytest.mark.promise("P4-refuse")
def test_there_is_a_last_page(desk: Desk, who: uuid.UUID):
    for number in range(MOST_PAGES - len(PAGES)):
        add(desk, who, f"Page {number}")
    before = desk.counts(who)
    status, answer = desk.call(who, "POST", "/projects", {"name": "One more"})
    assert (status, list(answer)) == (409, ["error"])
    assert desk.counts(who) == before
    assert desk.call(who, "DELETE", "/projects/page-0") == (204, "")
    assert add(desk, who, "One more")["id"] == "one-more"


def test_a_page_is_renamed_and_keeps_its_id(desk: Desk, who: uuid.UUID):
    status, page = desk.call(who, "PATCH", "/projects/finance", {"name": "Money"})
    assert (status, page["id"], page["name"], page["icon"]) == (
        *(200, "finance"),
        *("Money", "dollar-sign"),
    )
    status, page = desk.call(who, "PATCH", "/projects/finance", {"icon": "coins"})
    assert (page["name"], page["icon"]) == ("Money", "coins")
    assert desk.call(who, "PATCH", "/projects/finance", {}) == (200, page)
    assert ids(desk, who)[1] == "finance"


@pytest.mark.parametrize("spelled", ["finance", "FINANCE", "%20Finance%20", " finance"])
def test_an_id_is_known_in_every_spelling(desk: Desk, who: uuid.UUID, spelled: str):
    if "%" in spelled:
        spelled = spelled.replace("%20", " ")
    status, page = desk.call(who, "PATCH", f"/projects/{spelled}", {})
    assert (status, page["id"]) == (200, "finance")


@pytest.mark.parametrize("former", ["braindrive-plus-one", "BrainDrive-Plus-One"])
def test_the_root_page_is_known_by_its_former_id(desk: Desk, who: uuid.UUID, former: str):
    status, page = desk.call(who, "PATCH", f"/projects/{former}", {})
    assert (status, page["id"]) == (200, "your-agent")
    assert paths(desk, who, former) == paths(desk, who, "your-agent") != []


@pytest.mark.promise("P4-refuse")
def test_the_root_page_cannot_be_deleted(desk: Desk, who: uuid.UUID):
    before = desk.get(who, "/projects"), desk.counts(who)
    for spelled in ("your-agent", "Your-Agent", "braindrive-plus-one"):
        refused = desk.call(who, "DELETE", f"/projects/{spelled}")
        assert refused == (403, {"error": "This page cannot be deleted."})
    assert (desk.get(who, "/projects"), desk.counts(who)) == before


def test_a_page_is_deleted_with_its_files_in_one_commit(desk: Desk, who: uuid.UUID):
    desk.edit(who, "documents/finance/deep/er/note.md", "Rent.\n")
    desk.edit(who, "documents/fitness/note.md", "Run.\n")
    before = desk.get(who, "/projects/fitness/files")
    count = len(desk.commits(who))
    assert desk.call(who, "DELETE", "/projects/finance") == (204, "")
    assert "finance" not in ids(desk, who)
    assert desk.call(who, "GET", "/projects/finance/files") == NO_PAGE
    assert desk.commits(who)[count:] == [
        ("owner", "Owner <owner@judgment.invalid>", "Delete page Finance")
    ]
    assert desk.history(who, "documents/finance/deep/er/note.md") == [b"Rent.\n", None]
    assert desk.get(who, "/projects/fitness/files") == before
    assert desk.call(who, "DELETE", "/projects/finance") == NO_PAGE


def test_what_was_deleted_does_not_come_back(desk: Desk, who: uuid.UUID):
    desk.get(who, "/projects")
    for page in PAGES[1:]:
        assert desk.call(who, "DELETE", f"/projects/{page.id}") == (204, "")
    assert ids(desk, who) == ["your-agent"]
    desk.get(who, "/profile")
    assert desk.counts(who)["projects"] == 1


def test_a_detached_conversation_is_kept(desk: Desk, who: uuid.UUID):
    desk.get(who, "/projects")
    name = desk.talk(who, ("user", "About money"))
    with desk.postgres.transaction(who) as tx:
        store.attach(tx, who, "finance", name)
        store.attach(tx, who, "no-such-page", name)
        store.attach(tx, who, "../x", name)
    page = desk.get(who, "/projects")["projects"][1]
    assert page["conversation_id"] == name
    status, answer = desk.call(who, "DELETE", "/projects/finance/conversation")
    assert (status, answer) == (200, {**page, "conversation_id": None})
    assert desk.get(who, f"/conversations/{name}")["messages"][0]["content"] == "About money"
    assert desk.call(who, "DELETE", "/projects/nowhere/conversation") == NO_PAGE


def test_deleting_a_page_keeps_its_conversation(desk: Desk, who: uuid.UUID):
    desk.get(who, "/projects")
    name = desk.talk(who, ("user", "About money"))
    with desk.postgres.transaction(who) as tx:
        store.attach(tx, who, "finance", name)
    assert desk.call(who, "DELETE", "/projects/finance") == (204, "")
    assert desk.get(who, "/conversations")["total"] == 1


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize("page", ["nowhere", "..%2f..", "a%00", "..", "x" * 65, "é"])
def test_a_page_that_is_not_there_is_not_found(desk: Desk, who: uuid.UUID, page: str):
    for method, rest, body in (
        ("PATCH", "", {"name": "A"}),
        ("DELETE", "", None),
        ("DELETE", "/conversation", None),
        ("GET", "/files", None),
    ):
        assert desk.call(who, method, f"/projects/{page}{rest}", body) == NO_PAGE


def test_another_owners_page_is_not_found(desk: Desk, who: uuid.UUID):
    add(desk, who, "Garden")
    stranger = desk.somebody()
    assert desk.call(stranger, "GET", "/projects/garden/files") == NO_PAGE
    assert desk.call(stranger, "DELETE", "/projects/garden") == NO_PAGE
    assert "garden" in ids(desk, who)

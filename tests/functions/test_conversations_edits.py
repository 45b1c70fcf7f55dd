"""Owners' own edits through their door: whole files that always win, within their page."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from judgment.contract.conversations import FILE_LIMIT
from judgment.conversation.edits import NOT_TEXT
from judgment.kit.clock import utc_now
from judgment.memory import files
from judgment.memory.model import Change, MemoryFailure
from judgment.memory.starter import STARTER
from tests.fakes.owner_desk import Desk

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P4-conversations", "P4-memory-owner")

SPEC = "documents/finance/spec.md"
NOTE = "documents/finance/notes/über.md"
FILE = "/projects/finance/file-content"
NO_FILE = (404, {"error": "File not found"})


@pytest.fixture
def desk(module_database: TestDatabase) -> Iterator[Desk]:
    made = Desk(module_database)
    yield made
    made.close()


@pytest.fixture
def who(desk: Desk) -> uuid.UUID:
    return desk.somebody()


def write_as_tool(desk: Desk, who: uuid.UUID, path: str, text: str, expected: str | None) -> None:
    """What a turn's tool does with a file that it saw with that digest."""
    with desk.postgres.transaction(who) as tx:
        files.commit(
            tx,
            who,
            [Change(path, text.encode())],
            origin="tool",
            author="Judgment <judgment@judgment.invalid>",
            message=f"Write {path}",
            at=utc_now(),
            expected={path: expected},
        )


def keep_bytes(desk: Desk, who: uuid.UUID, path: str, content: bytes | None) -> None:
    """A file as an import may bring it, or leave it out."""
    desk.get(who, "/projects")
    with desk.postgres.transaction(who) as tx:
        files.commit(
            tx,
            who,
            [Change(path, content)],
            origin="import",
            author="Somebody <s@example.com>",
            message="Import",
            at=utc_now(),
        )


def test_a_file_is_written_whole_and_read_back(desk: Desk, who: uuid.UUID):
    text = '# “Rent” 👩‍🚀\r\n\n$& $1 \\ " \u2028 \ufeff\n'
    written = desk.edit(who, NOTE, text)
    assert written == {"path": NOTE, "content": text} == desk.get(who, FILE, path=NOTE)
    assert desk.history(who, NOTE) == [text.encode()]
    assert desk.commits(who)[-1] == (
        "owner",
        "Owner <owner@judgment.invalid>",
        f"Update {NOTE} via UI",
    )
    listed = {file["path"]: file for file in desk.get(who, "/projects/finance/files")["files"]}
    assert listed[NOTE]["bytes"] == len(text.encode())
    assert listed[NOTE]["sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_an_edit_of_one_page_is_not_made_through_another(desk: Desk, who: uuid.UUID):
    for query in ("documents/fitness/spec.md", "documents/finance2/x.md", "documents/Finance/x.md"):
        for method, body in (("GET", None), ("PUT", {"content": "x"})):
            status, answer = desk.call(who, method, FILE, body, query={"path": query})
            assert (status, answer) == (400, {"error": "The path is not below documents/finance/."})


ESCAPES = (
    "documents/finance/../fitness/spec.md",
    "documents/finance/../../AGENT.md",
    "../documents/finance/spec.md",
    "documents/finance/../../../etc/passwd",
    "/documents/finance/spec.md",
    "documents/finance",
    "documents/finance/",
    "documents/finance/a/..",
    "documents\\finance\\spec.md",
    "documents/finance/..\\..\\x",
    "documents/finance/a\0.md",
    "documents/finance/a\ud800.md",
    "documents/finance/a\u202e.md",
    "documents/finance/con.md",
    "documents/finance/ ",
    "documents/finance/" + "a" * 300,
    "documents/projects.json",
    "preferences/default.json",
    "conversations/index.json",
    "me/profile.md",
    ".git/config",
    ".GIT/config",
    "diagnostics/audit.jsonl",
    "documents/finance/spec.md/below",
    "documents/finance/SPEC.md",
)


@pytest.mark.promise("P4-memory-contain", "P4-refuse")
@pytest.mark.parametrize("path", ESCAPES)
def test_no_edit_leaves_its_page(desk: Desk, who: uuid.UUID, path: str):
    desk.get(who, "/projects")
    before = desk.counts(who)
    status, answer = desk.call(who, "PUT", FILE, {"content": "x"}, query={"path": path})
    assert (status, list(answer)) == (400, ["error"])
    assert desk.call(who, "GET", FILE, query={"path": path})[0] in (400, 404)
    assert desk.counts(who) == before


@pytest.mark.parametrize(
    "query", [None, {"path": ""}, {"path": "a", "x": "b"}, {"path": "a" * 1025}]
)
def test_an_edit_names_its_file(desk: Desk, who: uuid.UUID, query: dict[str, str] | None):
    for method, body in (("GET", None), ("PUT", {"content": "x"})):
        refused = desk.call(who, method, FILE, body, query=query)
        assert refused == (400, {"error": "Invalid request"})


def test_dots_that_stay_within_the_page_are_read_as_they_are_meant(desk: Desk, who: uuid.UUID):
    put = desk.put(who, FILE, {"content": "x"}, path="./documents//finance/a/../b.md")
    assert put["path"] == "documents/finance/b.md"
    assert desk.history(who, "documents/finance/b.md") == [b"x"]


def test_the_root_pages_files_are_reached_by_its_former_id(desk: Desk, who: uuid.UUID):
    path = "documents/your-agent/AGENT.md"
    read = desk.get(who, "/projects/Braindrive-plus-one/file-content", path=path)
    assert read["content"].encode() == STARTER[path]


def test_what_is_there_already_makes_no_commit(desk: Desk, who: uuid.UUID):
    desk.edit(who, SPEC, "One.\n")
    before = desk.commits(who)
    desk.edit(who, SPEC, "One.\n")
    desk.put(who, "/agent", {"overlay_content": ""})
    desk.put(who, "/profile", {"content": STARTER["me/profile.md"].decode()})
    assert desk.commits(who) == before


def test_a_file_may_be_emptied(desk: Desk, who: uuid.UUID):
    assert desk.edit(who, SPEC, "")["content"] == ""
    assert desk.get(who, FILE, path=SPEC)["content"] == ""


@pytest.mark.promise("P4-refuse")
def test_a_file_has_a_largest_size(desk: Desk, who: uuid.UUID):
    largest = "x" * FILE_LIMIT
    assert desk.edit(who, NOTE, largest)["content"] == largest
    before = desk.counts(who)
    body = {"content": largest + "x"}
    refused = desk.call(who, "PUT", FILE, body, query={"path": NOTE})
    assert refused == (400, {"error": "Invalid request"})
    assert desk.counts(who) == before


def test_what_is_not_there_is_not_found(desk: Desk, who: uuid.UUID):
    assert desk.call(who, "GET", FILE, query={"path": "documents/finance/no.md"}) == NO_FILE
    gone = (404, {"error": "Project not found"})
    for method, body in (("GET", None), ("PUT", {"content": "x"})):
        path = {"path": "documents/nowhere/a.md"}
        assert desk.call(who, method, "/projects/nowhere/file-content", body, query=path) == gone


def test_another_owners_files_are_not_there(desk: Desk, who: uuid.UUID):
    desk.edit(who, NOTE, "Mine.\n")
    stranger = desk.somebody()
    assert desk.call(stranger, "GET", FILE, query={"path": NOTE}) == NO_FILE
    desk.edit(stranger, NOTE, "Theirs.\n")
    assert desk.get(who, FILE, path=NOTE)["content"] == "Mine.\n"


def test_a_file_that_is_no_text_is_refused_and_can_be_written_over(desk: Desk, who: uuid.UUID):
    keep_bytes(desk, who, NOTE, b"\xff\xfe\x00")
    assert desk.call(who, "GET", FILE, query={"path": NOTE}) == (400, {"error": NOT_TEXT})
    desk.edit(who, NOTE, "Text.\n")
    assert desk.history(who, NOTE) == [b"\xff\xfe\x00", b"Text.\n"]


def test_an_owners_edit_wins_over_what_a_model_wrote(desk: Desk, who: uuid.UUID):
    desk.get(who, "/projects")
    read = desk.get(who, "/projects/finance/files")["files"]
    seen = next(file["sha256"] for file in read if file["path"] == SPEC)
    write_as_tool(desk, who, SPEC, "The model's.\n", seen)
    desk.edit(who, SPEC, "The owner's.\n")
    with pytest.raises(MemoryFailure, match="conflict"):
        write_as_tool(desk, who, SPEC, "The model's again.\n", seen)
    assert desk.get(who, FILE, path=SPEC)["content"] == "The owner's.\n"
    assert desk.history(who, SPEC)[1:] == [b"The model's.\n", b"The owner's.\n"]


def test_the_owner_profile_file_is_read_and_written(desk: Desk, who: uuid.UUID):
    starter = desk.get(who, "/profile")
    assert starter == {
        "path": "me/profile.md",
        "content": STARTER["me/profile.md"].decode(),
    }
    written = desk.put(who, "/profile", {"content": "I work shifts.\n"})
    assert written == desk.get(who, "/profile")
    assert written == {"path": "me/profile.md", "content": "I work shifts.\n"}
    assert desk.commits(who)[-1] == (
        "owner",
        "Owner <owner@judgment.invalid>",
        "Update owner profile via UI",
    )
    keep_bytes(desk, who, "me/profile.md", None)
    assert desk.call(who, "GET", "/profile") == NO_FILE


@pytest.mark.promise("P4-overlay")
def test_the_overlay_is_written_and_removed_and_the_base_is_untouched(desk: Desk, who: uuid.UUID):
    base = STARTER["AGENT.md"].decode()
    assert desk.get(who, "/agent") == {"base_content": base, "overlay_content": None}
    text = "Answer in French.\r\n  \n"
    written = desk.put(who, "/agent", {"overlay_content": text})
    assert written == desk.get(who, "/agent") == {"base_content": base, "overlay_content": text}
    assert desk.commits(who)[-1][2] == "Update AGENT-user.md via UI"
    removed = desk.put(who, "/agent", {"overlay_content": ""})
    assert removed == {"base_content": base, "overlay_content": None}
    assert desk.history(who, "AGENT-user.md") == [text.encode(), None]
    keep_bytes(desk, who, "AGENT.md", None)
    assert desk.get(who, "/agent") == {"base_content": None, "overlay_content": None}


def test_a_name_that_a_folder_has_is_refused(desk: Desk, who: uuid.UUID):
    keep_bytes(desk, who, "AGENT-user.md/odd", b"x")
    status, answer = desk.call(who, "PUT", "/agent", {"overlay_content": "x"})
    assert (status, list(answer)) == (400, ["error"])

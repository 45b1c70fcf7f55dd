"""The eight tools over a real memory: what they answer, what they refuse, what they leave alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from judgment.db.connection import Database
from judgment.memory.edits import FILE_BYTES
from judgment.memory.model import MemoryFailure
from tests.fakes.memory_hands import EXPORT, ROLE, Hand, assert_whole

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P4-memory-tools", "R-41", "002-20.1")

VIEWS = {
    "conversations/index.json": b'{"conversations": []}',
    "conversations/c1.md": b"we spoke of Rivers",
    "documents/projects.json": b"[]",
}


@pytest.fixture
def memory(module_database: TestDatabase) -> Iterator[Database]:
    database = Database(module_database.url(ROLE))
    yield database
    database.close()


@pytest.fixture
def hand(module_database: TestDatabase, memory: Database) -> Iterator[Hand]:
    somebody = Hand.of_somebody(module_database, memory)
    yield Hand(memory, somebody.who, VIEWS)
    assert_whole(module_database, somebody.who)


def test_each_tool_answers_in_the_shape_of_the_reference(hand: Hand) -> None:
    text = "# Profile\n- likes rivers\n"
    assert hand.write("me/profile.md", text) == {"path": "me/profile.md", "bytes_written": 25}
    assert hand.call("memory_read", path=" ./me//profile.md ") == {
        "path": "me/profile.md",
        "content": text,
    }
    edit = {"path": "me/profile.md", "find": "rivers", "replace": "$& über"}
    assert hand.call("memory_edit", **edit) == {"path": "me/profile.md", "updated": True}
    assert hand.call("memory_search", query="ÜBER") == {
        "query": "ÜBER",
        "include_conversations": False,
        "matches": [{"path": "me/profile.md", "line": 2, "content": "- likes $& über"}],
    }
    assert hand.call("memory_list", path="me") == {"path": "me", "entries": ["profile.md"]}
    (newest, oldest) = hand.call("memory_history", path="me/profile.md")["entries"]
    assert set(newest) == {"commit", "message", "timestamp", "path"}
    assert (newest["message"], oldest["message"]) == ("Edit me/profile.md", "Write me/profile.md")
    assert newest["timestamp"] == "2026-03-01T12:00:00Z"
    told = hand.call("memory_history", path="me/profile.md", commit=oldest["commit"])
    assert told == {"entries": [oldest | {"previous_state": text}]}
    assert hand.call("memory_delete", path="me") == {"path": "me", "deleted": True}
    assert hand.call("memory_export") == {"archive_path": EXPORT}
    assert hand.state() == ({}, ["Write me/profile.md", "Edit me/profile.md", "Delete me"])


def test_a_list_shows_files_folders_and_views_and_nothing_reserved(hand: Hand) -> None:
    hand.keep({"me/a/b.md": b"", "me/z.md": b"", "AGENT.md": b"", "diagnostics/audit/x": b""})
    root = ["AGENT.md", "conversations/", "documents/", "me/"]
    for given in ({}, {"path": "."}, {"path": ""}, {"path": "me/.."}, {"path": None}):
        assert hand.call("memory_list", **given) == {"path": ".", "entries": root}
    assert hand.call("memory_list", path="me/")["entries"] == ["a/", "z.md"]
    assert hand.call("memory_list", path="documents")["entries"] == ["projects.json"]
    assert hand.refusal("memory_list", path="diagnostics") == "reserved_path"
    assert hand.refusal("memory_list", path="none") == "not_found"
    assert hand.refusal("memory_list", path="me/z.md") == "path_invalid"
    assert hand.refusal("memory_list", path="me/..../") == "path_invalid"


def test_an_empty_memory_has_an_empty_root(module_database: TestDatabase, memory: Database) -> None:
    nobody = Hand.of_somebody(module_database, memory)
    assert nobody.call("memory_list") == {"path": ".", "entries": []}
    assert nobody.call("memory_search", query="x")["matches"] == []


def test_a_view_is_read_like_a_file_and_hides_one(hand: Hand) -> None:
    hand.keep({"conversations/c1.md": b"stored", "conversations/old.md": b"kept"})
    told = hand.call("memory_read", path="conversations/c1.md")
    assert told["content"] == "we spoke of Rivers"
    assert hand.call("memory_list", path="conversations")["entries"] == [
        "c1.md",
        "index.json",
        "old.md",
    ]
    found = hand.call("memory_search", query="rivers", include_conversations=True)
    assert [one["path"] for one in found["matches"]] == ["conversations/c1.md"]
    assert hand.call("memory_search", query="stored", include_conversations=True)["matches"] == []


@pytest.mark.promise("P4-memory-contain")
@pytest.mark.parametrize("tool", ["memory_write", "memory_edit", "memory_delete"])
@pytest.mark.parametrize(
    "path",
    [
        "conversations/c1.md",
        "conversations/new.md",
        "Conversations",
        "preferences/default.json",
        "documents/projects.json",
        "documents/Projects.json",
        "diagnostics/x",
        "me/../.git/config",
    ],
)
def test_what_the_system_keeps_is_read_and_not_written(hand: Hand, tool: str, path: str) -> None:
    given: dict[str, Any] = {"path": path}
    given |= {"content": "x"} if tool == "memory_write" else {}
    given |= {"find": "x", "replace": "y"} if tool == "memory_edit" else {}
    hand.keep({"preferences/default.json": b"x"})
    assert hand.refusal(tool, **given) == "reserved_path"


@pytest.mark.promise("P4-memory-contain")
@pytest.mark.parametrize("path", ["../x", "/etc/passwd", "C:\\x", "a\0", "", ".", "a/..", "~"])
@pytest.mark.parametrize("tool", ["memory_read", "memory_write", "memory_delete", "memory_history"])
def test_no_tool_leaves_the_root_or_takes_it_for_a_file(hand: Hand, tool: str, path: str) -> None:
    hand.keep({"a/b.md": b"x"})
    given = {"content": "x"} if tool == "memory_write" else {}
    assert hand.refusal(tool, path=path, **given) == "path_invalid"


def test_nothing_stands_where_something_else_does(hand: Hand) -> None:
    hand.keep({"me/a.md": b"x"})
    for path in ("me", "ME/b.md", "me/A.md", "me/a.md/b", "documents", "Documents/x.md"):
        assert hand.refusal("memory_write", path=path, content="y") == "path_invalid", path
    assert hand.refusal("memory_edit", path="me", find="x", replace="y") == "path_invalid"
    assert hand.refusal("memory_read", path="me") == "path_invalid"
    assert hand.refusal("memory_read", path="documents") == "path_invalid"


def test_what_is_missing_is_not_found(hand: Hand) -> None:
    hand.keep({"me/a.md": b"x"})
    assert hand.refusal("memory_read", path="me/b.md") == "not_found"
    assert hand.refusal("memory_edit", path="me/b.md", find="x", replace="y") == "not_found"
    assert hand.refusal("memory_delete", path="me/b.md") == "not_found"
    assert hand.refusal("memory_search", query="x", path="you") == "not_found"
    assert hand.refusal("memory_history", path="me/b.md") == "not_found"
    assert hand.refusal("memory_history", path="me/a.md", commit="0" * 40) == "not_found"


def test_what_is_not_text_is_kept_and_not_read(hand: Hand) -> None:
    hand.keep({"photo.png": b"\x89PNG\xff", "note.md": b"PNG"})
    assert hand.refusal("memory_read", path="photo.png") == "invalid_input"
    assert hand.refusal("memory_edit", path="photo.png", find="P", replace="x") == "invalid_input"
    found = hand.call("memory_search", query="png")["matches"]
    assert [one["path"] for one in found] == ["note.md"]
    (made,) = hand.call("memory_history", path="photo.png")["entries"]
    assert hand.refusal("memory_history", path="photo.png", commit=made["commit"]) == (
        "invalid_input"
    )
    assert hand.write("photo.png", "text now")["bytes_written"] == 8


@pytest.mark.promise("P4-memory-edit")
def test_an_edit_has_its_one_place_or_changes_nothing(hand: Hand) -> None:
    hand.write("a.md", "To be filled.\nTo be filled.\naaa $1")
    for find in ("To be filled", "nowhere", "aa", ""):
        assert hand.refusal("memory_edit", path="a.md", find=find, replace="x") == "invalid_input"
    hand.call("memory_edit", path="a.md", find="$1", replace="$$5 \\1")
    assert hand.held()["a.md"] == b"To be filled.\nTo be filled.\naaa $$5 \\1"


@pytest.mark.promise("P4-memory-edit")
def test_a_whole_file_leaves_nothing_out_of_one_that_is_there(hand: Hand) -> None:
    short = "# Plan\n[rest unchanged]\n"
    hand.write("template.md", short)  # a new file may say what it likes
    hand.write("plan.md", "# Plan\n1\n2\n")
    assert hand.refusal("memory_write", path="plan.md", content=short) == "invalid_input"
    hand.write("template.md", short + "more")  # that line is the owner's own
    hand.write("plan.md", "# Plan\nThe rest is unchanged.\n")


def test_a_file_has_its_bounds(hand: Hand) -> None:
    full = "x" * FILE_BYTES
    assert hand.write("full.md", full)["bytes_written"] == FILE_BYTES
    assert hand.refusal("memory_write", path="b.md", content=full + "x") == "invalid_input"
    hand.write("full.md", "y" + full[1:])
    grown = {"path": "full.md", "find": "y", "replace": "yy"}
    assert hand.refusal("memory_edit", **grown) == "invalid_input"
    for bad in ("a\0", "\ud800"):
        assert hand.refusal("memory_write", path="b.md", content=bad) == "invalid_input"


def test_a_write_that_changes_nothing_is_fine_and_no_commit(hand: Hand) -> None:
    hand.write("a.md", "x")
    assert hand.write("a.md", "x") == {"path": "a.md", "bytes_written": 1}
    assert hand.call("memory_edit", path="a.md", find="x", replace="x")["updated"] is True
    assert hand.state()[1] == ["Write a.md"]


def test_a_folder_goes_with_all_in_it_as_one_commit(hand: Hand) -> None:
    hand.keep({f"a/{n}/b.md": b"x" for n in range(5)} | {"a.md": b"y", "ab/c": b"z"})
    assert hand.call("memory_delete", path="a/") == {"path": "a", "deleted": True}
    assert hand.state() == ({"a.md": b"y", "ab/c": b"z"}, ["Mine", "Delete a"])
    (deleted, made) = hand.call("memory_history", path="a/3/b.md")["entries"]
    gone = hand.call("memory_history", path="a/3/b.md", commit=deleted["commit"])
    assert gone == {"entries": [deleted]}
    back = hand.call("memory_history", path="a/3/b.md", commit=made["commit"][:8])
    assert back["entries"][0]["previous_state"] == "x"


def test_a_long_history_is_told_from_its_end_and_says_what_it_left_out(hand: Hand) -> None:
    for n in range(53):
        hand.keep({"a.md": str(n).encode()}, message=f"m{n}")
    told = hand.call("memory_history", path="a.md")
    assert [one["message"] for one in told["entries"]] == [f"m{n}" for n in range(52, 2, -1)]
    assert told["omitted_entries"] == 3


def test_conversations_are_searched_only_when_asked_for(hand: Hand) -> None:
    hand.keep({"conversations/old.md": b"rivers", "me/a.md": b"rivers", "me/b/c.md": b"rivers"})

    def found(**given: Any) -> list[str]:
        told = hand.call("memory_search", query="rivers", **given)
        return [one["path"] for one in told["matches"]]

    assert found() == ["me/a.md", "me/b/c.md"]
    assert found(include_conversations=True) == [
        "conversations/c1.md",
        "conversations/old.md",
        "me/a.md",
        "me/b/c.md",
    ]
    assert found(path="conversations") == []
    assert found(path="conversations/c1.md", include_conversations=True) == ["conversations/c1.md"]
    assert found(path="me/b") == found(path="me/b/c.md") == ["me/b/c.md"]


def test_a_search_of_more_than_it_holds_at_once_finds_all_of_it(hand: Hand) -> None:
    big = b"x\n" * (1024 * 1024) + b"needle\n"
    hand.keep({f"big/{n}.md": big + str(n).encode() for n in range(5)} | {"small.md": b"needle"})
    told = hand.call("memory_search", query="needle")
    assert [(one["path"], one["line"]) for one in told["matches"]] == [
        *((f"big/{n}.md", 1024 * 1024 + 1) for n in range(5)),
        ("small.md", 1),
    ]


@pytest.mark.promise("P4-memory-contain")
def test_what_is_reserved_is_not_found_by_a_search(hand: Hand) -> None:
    hand.keep({"diagnostics/audit/x": b"secret", "Diagnostics2/x": b"secret"})
    told = hand.call("memory_search", query="secret")
    assert [one["path"] for one in told["matches"]] == ["Diagnostics2/x"]
    assert hand.refusal("memory_search", query="secret", path="Diagnostics") == "reserved_path"


def test_to_prepare_changes_nothing_and_says_what_cannot_be(hand: Hand) -> None:
    hand.write("a.md", "x")
    before = hand.state()
    prepared = hand.prepare("memory_write", path="b/c.md", content="y")
    assert (prepared.path, prepared.writes, prepared.expected) == ("b/c.md", True, {"b/c.md": None})
    assert hand.prepare("memory_read", path="nowhere.md").writes is False
    for given in (
        {"path": "a.md", "find": "nowhere", "replace": ""},
        {"path": "none.md", "find": "x", "replace": ""},
    ):
        with pytest.raises(MemoryFailure):
            hand.prepare("memory_edit", **given)
    with pytest.raises(MemoryFailure):
        hand.prepare("memory_write", path="a.md/b", content="")
    assert hand.state() == before


def test_every_answer_is_json_without_a_place_on_a_host(hand: Hand) -> None:
    hand.keep({"a/\u200dé.md": b"hit"})
    told = [
        hand.call("memory_list", path="a"),
        hand.call("memory_search", query="hit"),
        hand.call("memory_history", path="a"),
        hand.call("memory_read", path="a/\u200dé.md"),
    ]
    assert '"/' not in json.dumps(told)

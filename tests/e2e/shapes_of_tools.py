"""The strict checker of the tools as a stream shows them (reference §2, ruling 41)."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.e2e.exactly import COMMIT, PATH, Matching, exactly, is_recent
from tests.e2e.shapes import FAILURE, NOTE, check_frames

if TYPE_CHECKING:
    from tests.e2e.talker import Talker

INPUTS: dict[str, tuple[set[str], set[str]]] = {
    "memory_read": ({"path"}, {"path"}),
    "memory_write": ({"path", "content"}, {"path", "content"}),
    "memory_edit": ({"path", "find", "replace"}, {"path", "find", "replace"}),
    "memory_delete": ({"path"}, {"path"}),
    "memory_list": ({"path"}, set()),
    "memory_search": ({"query", "path", "include_conversations"}, {"query"}),
    "memory_history": ({"path", "commit"}, {"path"}),
    "memory_export": (set(), set()),
    "project_list": (set(), set()),
}
"""Name to what may be given and what must be."""
BODY_KEYS = {"model", "stream", "messages", "tools", "tool_choice"}
ADDED_KEYS = {"stream_options"}
"""Ours, a listed difference."""
MOMENT = Matching(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
ENTRY = {"commit": COMMIT, "message": str, "timestamp": MOMENT, "path": PATH}


def check_offers(talker: Talker) -> None:
    """What a provider is sent, and which tools a model is offered with which inputs."""
    talker.say()
    body = talker.model.turns[-1].body
    assert BODY_KEYS <= body.keys() <= BODY_KEYS | ADDED_KEYS, body.keys()
    assert (body["stream"], body["tool_choice"]) == (True, "auto")
    offered: dict[str, Any] = {}
    for tool in body["tools"]:
        assert tool.keys() == {"type", "function"}
        assert tool["type"] == "function"
        offered[tool["function"]["name"]] = tool["function"]["parameters"]
    taken = {
        name: (set(given.get("properties", {})), set(given.get("required", ())))
        for name, given in offered.items()
    }
    assert taken == INPUTS


def check_results(talker: Talker) -> None:
    """What each tool gives."""
    gives = talker.gives
    content = "One\nTwo \u00e9\n"
    written = gives("memory_write", path=NOTE, content=content)
    exactly(written, {"path": NOTE, "bytes_written": len(content.encode())})
    exactly(gives("memory_read", path=NOTE), {"path": NOTE, "content": content})
    exactly(gives("memory_read", path=f" ./{NOTE} "), {"path": NOTE, "content": content})
    edited = gives("memory_edit", path=NOTE, find="One", replace="$& costs $$5")
    exactly(edited, {"path": NOTE, "updated": True})
    assert gives("memory_read", path=NOTE)["content"].startswith("$& costs $$5\nTwo")
    listed = gives("memory_list")
    exactly(listed, {"path": ".", "entries": [Matching("[^/]+/?")]})
    assert {"AGENT.md", "me/", "documents/", "conversations/"} <= set(listed["entries"])
    assert "note.md" in gives("memory_list", path="documents/fitness")["entries"]
    found = gives("memory_search", query="TWO \u00e9")
    match = {"path": NOTE, "line": 2, "content": "Two \u00e9"}
    exactly(found, {"query": "TWO \u00e9", "include_conversations": False, "matches": [match]})
    exactly(gives("memory_export"), {"archive_path": str})
    exactly(gives("memory_delete", path=NOTE), {"path": NOTE, "deleted": True})
    pages = gives("project_list")
    page = {"id": str, "name": str, "icon": str, "default_skill_ids": [str]}
    for one in pages["projects"]:
        exactly(one, {**page, "conversation_id": one["conversation_id"]})
    assert pages == talker.me.ask("GET", "/projects")


def check_search_bounds(talker: Talker) -> None:
    """At most 50 matches of 500 characters; what is left out is counted."""
    text = "".join(f"needle {'x' * 600} {number}\n" for number in range(60))
    talker.gives("memory_write", path=NOTE, content=text)
    found = talker.gives("memory_search", query="needle", path="documents/fitness")
    assert found.keys() == {
        *("query", "include_conversations", "matches", "omitted_matches", "limits")
    }
    shown = [match["content"] for match in found["matches"]]
    assert all(len(line) <= 500 for line in shown)
    assert len(shown) <= 50
    assert sum(map(len, shown)) <= 20_000
    assert found["omitted_matches"] == 60 - len(shown)
    talked = talker.gives("memory_search", query="Hello", include_conversations=True)
    assert any(match["path"].startswith("conversations/") for match in talked["matches"])


def check_history(talker: Talker) -> None:
    """One commit a change, newest first, named after it; what it made of the file, where asked."""
    gives, me = talker.gives, talker.me
    gives("memory_write", path=NOTE, content="One\n")
    gives("memory_edit", path=NOTE, find="One", replace="Two")
    me.ask("PUT", f"/projects/fitness/file-content?path={NOTE}", {"content": "Three\n"})
    gives("memory_delete", path=NOTE)
    history = gives("memory_history", path=NOTE)
    exactly(history, {"entries": [ENTRY]})
    entries = history["entries"]
    assert [entry["message"] for entry in entries] == [
        f"Delete {NOTE}",
        f"Update {NOTE} via UI",
        f"Edit {NOTE}",
        f"Write {NOTE}",
    ]
    assert all(is_recent(entry["timestamp"], datetime.now(UTC)) for entry in entries)
    before = gives("memory_history", path=NOTE, commit=entries[1]["commit"])
    exactly(before, {"entries": [{**entries[1], "previous_state": "Three\n"}]})
    profile = me.ask("GET", "/profile")["content"]
    me.ask("PUT", "/profile", {"content": profile + "\nMine.\n"})
    newest = gives("memory_history", path="me/profile.md")["entries"][0]
    assert newest["message"] == "Update owner profile via UI"
    seeded = gives("memory_history", path="me/todo.md")["entries"]
    assert [entry["message"] for entry in seeded] == ["Initialize memory root"]


FAILURES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("memory_read", {"path": "me/nothing.md"}, "not_found"),
    ("memory_list", {"path": "nowhere"}, "not_found"),
    ("memory_delete", {"path": "me/nothing.md"}, "not_found"),
    ("memory_history", {"path": "me/nothing.md"}, "not_found"),
    ("memory_edit", {"path": "me/nothing.md", "find": "a", "replace": "b"}, "not_found"),
    ("memory_read", {"path": "../secrets"}, "path_invalid"),
    ("memory_read", {"path": "me/../../secrets"}, "path_invalid"),
    ("memory_read", {"path": "/etc/passwd"}, "path_invalid"),
    ("memory_write", {"path": "C:\\note.md", "content": "x"}, "path_invalid"),
    ("memory_write", {"path": "", "content": "x"}, "path_invalid"),
    ("memory_read", {"path": ".git/config"}, "reserved_path"),
    ("memory_read", {"path": ".GIT/config"}, "reserved_path"),
    ("memory_read", {"path": "me/../.git/config"}, "reserved_path"),
    ("memory_write", {"path": "diagnostics/state.json", "content": "x"}, "reserved_path"),
    ("memory_list", {"path": "diagnostics"}, "reserved_path"),
    ("memory_write", {"path": "preferences/default.json", "content": "{}"}, "reserved_path"),
    ("memory_write", {"path": "conversations/index.json", "content": "{}"}, "reserved_path"),
    ("memory_delete", {"path": "documents/projects.json"}, "reserved_path"),
    ("memory_read", {}, "invalid_input"),
    ("memory_read", {"path": 1}, "invalid_input"),
    ("memory_read", {"path": "me/todo.md", "limit": 5}, "invalid_input"),
    ("memory_search", {"query": ""}, "invalid_input"),
    ("memory_edit", {"path": "me/profile.md", "find": "", "replace": "x"}, "invalid_input"),
    ("memory_edit", {"path": "me/profile.md", "find": "absent!", "replace": "x"}, "invalid_input"),
    ("memory_edit", {"path": "me/profile.md", "find": "\n", "replace": "x"}, "invalid_input"),
    ("memory_burn", {}, "tool_unavailable"),
)


def check_failures(talker: Talker) -> None:
    """What cannot be done: `{code, message, recoverable}`, for the model to read, and no change."""
    before = talker.gives("memory_read", path="me/profile.md")
    for tool, given, code in FAILURES:
        output = talker.fails(tool, **given)
        exactly(output, {**FAILURE, "code": code}, f"{tool} {given}")
        told = json.loads(talker.model.turns[-1].results[-1])
        assert told == {"status": "error", "output": output}
    assert talker.gives("memory_read", path="me/profile.md") == before


def check_guards(talker: Talker) -> None:
    """The third identical call, and a deletion of what this turn wrote."""
    read = ("memory_read", {"path": "me/todo.md"})
    told = talker.say(read, read, read)
    check_frames(told)
    assert [result.status for result in told.results] == ["ok", "ok", "error"]
    exactly(told.results[2].output, {**FAILURE, "code": "loop_guard"})
    write = ("memory_write", {"path": NOTE, "content": "x"})
    told = talker.say(write, ("memory_delete", {"path": NOTE}))
    assert [result.status for result in told.results] == ["ok", "error"]
    exactly(told.results[1].output, {**FAILURE, "code": "mutation_scope_guard"})
    assert talker.gives("memory_read", path=NOTE)["content"] == "x"

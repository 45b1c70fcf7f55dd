"""The strict checker of conversations, pages and owners' edits, and of the files that show them
(reference §1.6, §7)."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from tests.e2e.exactly import PATH, SHA256, TIME, OneOf, exactly, is_recent, is_uuid
from tests.e2e.shapes import INVALID, NOTE

if TYPE_CHECKING:
    from tests.e2e.talker import Talker

SUMMARY = {
    "id": str,
    "title": str,
    "created_at": TIME,
    "updated_at": TIME,
    "message_count": int,
}
MESSAGE = {"id": str, "role": str, "content": str, "timestamp": TIME}
PAGE = {
    "id": str,
    "name": str,
    "icon": str,
    "conversation_id": OneOf(None, str),
    "default_skill_ids": [str],
}
SEEDED = [
    ("your-agent", "Your Agent", "sparkles"),
    ("finance", "Finance", "dollar-sign"),
    ("fitness", "Fitness", "dumbbell"),
    ("career", "Career", "briefcase"),
    ("relationships", "Relationships", "users"),
    ("new-project", "Your New Project", "folder-plus"),
]
OF_A_PAGE = {
    *("AGENT.md", "run-interview.md", "run-planning.md", "run-journal.md"),
    *("spec.md", "plan.md", "journal.md"),
}
NO_PAGE = {"error": "Project not found"}
NO_FILE = {"error": "File not found"}
HEAD = ("id", "title", "created_at", "updated_at", "message_count", "active_skill_ids")


def check_conversations(talker: Talker) -> None:
    """The list, latest first and in pages; one with its messages, a tool's among them."""
    me = talker.me
    empty = {"conversations": [], "total": 0, "limit": 50, "offset": 0}
    assert me.ask("GET", "/conversations") == empty
    first = talker.say(content="  A first\n message " + "x" * 90).conversation
    look = ("memory_read", {"path": "me/nothing.md"})
    second = talker.say(look, "Nothing.", content="Look").conversation
    listed = me.ask("GET", "/conversations")
    exactly(listed, {"conversations": [SUMMARY], "total": 2, "limit": 50, "offset": 0})
    newest, oldest = listed["conversations"]
    assert (newest["id"], oldest["id"]) == (second, first)
    assert is_uuid(first)
    assert newest["title"] == "Look"
    assert oldest["title"].startswith("A first message x")
    assert len(oldest["title"]) == 80
    assert all(is_recent(newest[name], datetime.now(UTC)) for name in ("created_at", "updated_at"))
    page = me.ask("GET", "/conversations?limit=1&offset=1")
    assert page == {"conversations": [oldest], "total": 2, "limit": 1, "offset": 1}
    for query in ("limit=0", "limit=x", "offset=-1", "page=1"):
        assert "error" in me.ask("GET", f"/conversations?{query}", status=400)
    _check_one(talker, second, newest)


def _check_one(talker: Talker, conversation_id: str, summary: dict[str, Any]) -> None:
    whole = talker.me.ask("GET", f"/conversations/{conversation_id}")
    head = {name: shape for name, shape in SUMMARY.items() if name != "message_count"}
    exactly(whole, {**head, "messages": [MESSAGE]})
    assert {name: whole[name] for name in head} == {name: summary[name] for name in head}
    said = [(message["role"], message["content"]) for message in whole["messages"]]
    assert summary["message_count"] == len(said)
    tool = whole["messages"][-2]
    assert [role for role, _ in said[-2:]] == ["tool", "assistant"]
    kept = json.loads(tool["content"])
    exactly(
        kept,
        {
            "status": "error",
            "output": {"code": "not_found", "message": str, "recoverable": True},
            "call": {"name": "memory_read", "input": {"path": "me/nothing.md"}},
        },
    )
    assert talker.me.ask("GET", "/conversations/nobody", status=404) == {
        "error": "Conversation not found"
    }


def check_pages(talker: Talker) -> None:
    """The pages that everybody has; added, renamed, detached, deleted."""
    me = talker.me
    pages = me.ask("GET", "/projects")
    exactly(pages, {"projects": [PAGE]})
    assert [(p["id"], p["name"], p["icon"]) for p in pages["projects"]] == SEEDED
    added = me.ask("POST", "/projects", {"name": "My Garden", "icon": "leaf"}, 201)
    exactly(added, PAGE)
    assert (added["id"], added["name"], added["icon"]) == ("my-garden", "My Garden", "leaf")
    assert me.ask("GET", "/projects")["projects"][-1] == added
    for wrong in ({}, {"name": ""}, {"name": 1}, {"name": "A", "colour": "red"}):
        assert me.ask("POST", "/projects", wrong, 400) == INVALID
    renamed = me.ask("PATCH", "/projects/my-garden", {"name": "Our Garden"})
    assert renamed == {**added, "name": "Our Garden"}
    talk = talker.say(page="my-garden").conversation
    attached = me.ask("GET", "/projects")["projects"][-1]
    assert attached["conversation_id"] == talk
    detached = me.ask("DELETE", "/projects/my-garden/conversation")
    assert detached == {**renamed, "conversation_id": None}
    assert me.ask("GET", f"/conversations/{talk}")["id"] == talk
    answer = me.api.delete("/projects/my-garden", headers=me.headers)
    assert (answer.status_code, answer.content) == (204, b"")
    for method, path, body in (
        ("PATCH", "/projects/my-garden", {"name": "A"}),
        ("DELETE", "/projects/my-garden", None),
        ("DELETE", "/projects/my-garden/conversation", None),
        ("GET", "/projects/my-garden/files", None),
    ):
        assert me.ask(method, path, body, 404) == NO_PAGE


def check_files_of_pages(talker: Talker) -> None:
    """The files of each page; one read, one written whole by its owner."""
    me = talker.me
    shape = {"path": PATH, "bytes": int, "sha256": SHA256, "updated_at": TIME}
    for page, _, _ in SEEDED:
        listed = me.ask("GET", f"/projects/{page}/files")
        exactly(listed, {"project_id": page, "files": [shape]})
        names = {one["path"].removeprefix(f"documents/{page}/") for one in listed["files"]}
        assert names == ({"AGENT.md"} if page == "your-agent" else OF_A_PAGE)
    at = "/projects/fitness/file-content"
    spec = me.ask("GET", f"{at}?path=documents/fitness/spec.md")
    exactly(spec, {"path": "documents/fitness/spec.md", "content": str})
    assert spec["content"].startswith("# Your Goals\n")
    written = me.ask("PUT", f"{at}?path={NOTE}", {"content": "Mine.\n"})
    assert written == {"path": NOTE, "content": "Mine.\n"}
    assert talker.gives("memory_read", path=NOTE) == written
    assert me.ask("GET", f"{at}?path=documents/fitness/nothing.md", status=404) == NO_FILE
    nowhere = "/projects/nowhere/file-content?path=documents/nowhere/a.md"
    assert me.ask("GET", nowhere, status=404) == NO_PAGE
    for path in ("me/profile.md", "documents/fitness/../../me/profile.md", "../x", "/etc/passwd"):
        for method, body in (("GET", None), ("PUT", {"content": "x"})):
            exactly(me.ask(method, f"{at}?path={path}", body, 400), {"error": str})
    for wrong in ({}, {"content": 1}, {"content": "a", "mode": "w"}):
        assert me.ask("PUT", f"{at}?path={NOTE}", wrong, 400) == INVALID


def check_own_texts(talker: Talker) -> None:
    """The owner profile file, and the overlay on the root instructions, which follows its base."""
    me = talker.me
    profile = me.ask("GET", "/profile")
    exactly(profile, {"path": "me/profile.md", "content": str})
    assert profile["content"].startswith("# Your Profile\n")
    mine = {"path": "me/profile.md", "content": "# Your Profile\n\nMine.\n"}
    assert me.ask("PUT", "/profile", {"content": mine["content"]}) == mine
    assert me.ask("GET", "/profile") == mine
    agent = me.ask("GET", "/agent")
    exactly(agent, {"base_content": str, "overlay_content": None})
    overlay = "Call me  Captain.\n"
    changed = me.ask("PUT", "/agent", {"overlay_content": overlay})
    assert changed == {**agent, "overlay_content": overlay} == me.ask("GET", "/agent")
    assert talker.gives("memory_read", path="AGENT-user.md")["content"] == overlay
    system = talker.model.turns[-1].body["messages"][0]["content"]
    assert system.startswith(f"Today's date is {datetime.now(UTC).date()}.")
    assert system.index(agent["base_content"].strip()) < system.index(overlay.strip())
    for label in ("## Managed Base: AGENT.md\n", "## Owner Overlay: AGENT-user.md\n"):
        assert label in system
    assert me.ask("PUT", "/agent", {"overlay_content": ""}) == agent
    assert me.ask("PUT", "/agent", {"content": "x"}, 400) == INVALID


def check_formats(talker: Talker) -> None:
    """Conversation, index and manifest as the reference's files, read through the memory."""
    me = talker.me
    hostile = "---\n```\n## message x\n\u2028\u00e9"
    talk = talker.say(("memory_list", {}), "Listed.", content=hostile, page="fitness").conversation
    reads = lambda path: talker.gives("memory_read", path=path)["content"]  # noqa: E731
    whole = me.ask("GET", f"/conversations/{talk}")
    lines = reads(f"conversations/{talk}.md").split("\n")
    assert lines[0] == lines[len(HEAD) + 1] == "---"
    pairs = [line.split(": ", 1) for line in lines[1 : len(HEAD) + 1]]
    head = {name: json.loads(literal) for name, literal in pairs}
    assert tuple(head) == HEAD
    assert (head["active_skill_ids"], head["message_count"]) == ([], len(whole["messages"]))
    assert {name: head[name] for name in HEAD[:4]} == {name: whole[name] for name in HEAD[:4]}
    blocks = "\n".join(lines[len(HEAD) + 2 :])
    found = re.findall(r"\n## message ([^\n]+)\n```json\n(\{[^\n]*\})\n```\n", blocks)
    assert "".join(f"\n## message {a}\n```json\n{b}\n```\n" for a, b in found) == blocks
    told = [json.loads(block) for _, block in found]
    assert [name for name, _ in found] == [message["id"] for message in whole["messages"]]
    assert all(tuple(one) == ("id", "role", "timestamp", "content") for one in told)
    assert [{**one} for one in told] == whole["messages"]
    index = json.loads(reads("conversations/index.json"))
    exactly(index, {"conversations": [SUMMARY]})
    assert talk in [one["id"] for one in index["conversations"]]
    manifest = json.loads(reads("documents/projects.json"))
    exactly(manifest, [PAGE])
    assert all(tuple(page) == tuple(PAGE) for page in manifest)
    assert manifest == me.ask("GET", "/projects")["projects"]
    assert {page["id"]: page["conversation_id"] for page in manifest}["fitness"] == talk

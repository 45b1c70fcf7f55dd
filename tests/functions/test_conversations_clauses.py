"""What the page on messages says is provided and is not, held against the routes (ruling 41)."""

from __future__ import annotations

import re

import pytest

from judgment.contract.message_routes import MESSAGE_ROUTES
from judgment.contract.messages import EVENTS
from judgment.contract.routes import ROUTES
from judgment.conversation.tools import TOOLS
from judgment.memory.specs import MEMORY_TOOLS
from tests.architecture.source import ROOT

PAGE = (ROOT / "docs/messages.md").read_text(encoding="utf-8")
OF_THE_REFERENCE = {
    ("POST", "/message"),
    ("POST", "/approvals/{request_id}"),
    ("GET", "/conversations"),
    ("GET", "/conversations/{conversation_id}"),
    ("GET", "/projects"),
    ("POST", "/projects"),
    ("PATCH", "/projects/{project_id}"),
    ("DELETE", "/projects/{project_id}"),
    ("DELETE", "/projects/{project_id}/conversation"),
    ("PUT", "/projects/{project_id}/file-content"),
    ("PUT", "/profile"),
    ("PUT", "/agent"),
}
"""Its §1.5 and §1.6, but for what is not provided."""


def section(title: str) -> str:
    return PAGE.partition(f"### {title}\n")[2].partition("\n### ")[0]


@pytest.mark.promise("R-41", "P4-conversations", "002-20.1", "002-29")
def test_every_route_of_the_reference_is_there_or_is_listed_as_not_provided() -> None:
    served = {(route.method, route.path) for route in ROUTES}
    assert served >= OF_THE_REFERENCE
    assert all(
        route.errors == "gateway"
        for route in ROUTES
        if (route.method, route.path) in OF_THE_REFERENCE
    )
    absent = ("/auth", "/config", "/settings", "/credits", "/skills")
    for prefix in (*absent, "/conversations/{conversation_id}/skills"):
        assert not [route.path for route in MESSAGE_ROUTES if route.path.startswith(prefix)]
    for prefix in absent:
        assert f"`{prefix}" in section("Not provided")


@pytest.mark.promise("R-41", "P4-conversations", "P4-accept-shapes")
def test_every_route_that_is_ours_is_listed_as_a_difference() -> None:
    ours = {
        route.path for route in MESSAGE_ROUTES if (route.method, route.path) not in OF_THE_REFERENCE
    }
    assert ours
    for path in ours:
        shown = re.sub(r"\{[a-z_]+\}", "{id}", path)
        if path.startswith("/api/v1/memory/"):
            assert "memory.md#bring-a-memory-take-it-along" in PAGE
        elif shown.endswith("/file-content"):
            assert "reading one file" in PAGE
        else:
            assert shown in PAGE, path


@pytest.mark.promise("P4-memory-tools", "R-41")
def test_the_tools_are_the_references_and_the_page_on_memory_tells_of_each() -> None:
    names = [tool.name for tool in MEMORY_TOOLS]
    assert names == [
        *("memory_read", "memory_write", "memory_edit", "memory_delete", "memory_list"),
        *("memory_search", "memory_history", "memory_export"),
    ]
    assert {tool.name for tool in TOOLS} == {*names, "project_list"}
    page = (ROOT / "docs/memory.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(memory_[a-z]+)` \|", page, re.M) == names


@pytest.mark.promise("P4-message-events", "002-20.1")
def test_there_are_seven_events_and_no_other() -> None:
    assert [event.model_fields["type"].default for event in EVENTS] == [
        *("text-delta", "tool-call", "tool-result", "approval-request", "approval-result"),
        *("done", "error"),
    ]

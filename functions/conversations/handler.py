"""Each route is one call of `judgment.conversation`, or of `judgment.memory.transfer`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.conversations.transfer import of_memory
from functions.conversations.wiring import Parts, wire
from judgment.contract.conversations import (
    ApprovalDecision,
    ApprovalSetting,
    ConversationsQuery,
    FileQuery,
    FileText,
    NewProject,
    OverlayText,
    ProjectChange,
)
from judgment.entry.http import Endpoint, HttpDoor, Reply, Request
from judgment.entry.opening import opened_on_first_call

if TYPE_CHECKING:
    from uuid import UUID

    from pydantic import BaseModel

    from judgment.entry.observability import Telemetry


def build(parts: Parts, telemetry: Telemetry) -> HttpDoor:
    """The door over these parts."""
    endpoints = _of_conversations(parts) | _of_pages(parts) | _of_edits(parts) | of_memory(parts)
    return HttpDoor("conversations", endpoints, telemetry)


def _who(request: Request) -> UUID:
    return request.principal.user_id


def _of_conversations(parts: Parts) -> dict[str, Endpoint]:
    said, approvals, modes = parts.conversations, parts.approvals, parts.modes

    def decide(request: Request) -> BaseModel:
        decision = request.body(ApprovalDecision).decision
        return approvals.decide(_who(request), request.path["request_id"], decision)

    def choose(request: Request) -> BaseModel:
        return modes.choose(_who(request), request.body(ApprovalSetting).approval_mode)

    one = "/conversations/{conversation_id}"
    return {
        "GET /conversations": lambda r: said.listing(_who(r), r.query(ConversationsQuery)),
        f"GET {one}": lambda r: said.one(_who(r), r.path["conversation_id"]),
        f"POST {one}/stop": lambda r: said.stop(_who(r), r.path["conversation_id"]),
        "GET /approvals": lambda r: approvals.open(_who(r)),
        "POST /approvals/{request_id}": decide,
        "GET /approvals/mode": lambda r: modes.mode(_who(r)),
        "PUT /approvals/mode": choose,
    }


def _of_pages(parts: Parts) -> dict[str, Endpoint]:
    projects = parts.projects

    def change(request: Request) -> BaseModel:
        return projects.change(_who(request), _page(request), request.body(ProjectChange))

    def delete(request: Request) -> Reply:
        projects.delete(_who(request), _page(request))
        return Reply()

    one = "/projects/{project_id}"
    return {
        "GET /projects": lambda r: projects.listing(_who(r)),
        "POST /projects": lambda r: projects.add(_who(r), r.body(NewProject)),
        f"PATCH {one}": change,
        f"DELETE {one}": delete,
        f"DELETE {one}/conversation": lambda r: projects.detach(_who(r), _page(r)),
        f"GET {one}/files": lambda r: projects.files(_who(r), _page(r)),
    }


def _page(request: Request) -> str:
    return request.path["project_id"]


def _of_edits(parts: Parts) -> dict[str, Endpoint]:
    edits = parts.edits

    def read(request: Request) -> BaseModel:
        return edits.read(_who(request), _page(request), request.query(FileQuery).path)

    def write(request: Request) -> BaseModel:
        path, content = request.query(FileQuery).path, request.body(FileText).content
        return edits.write(_who(request), _page(request), path, content)

    def overlay(request: Request) -> BaseModel:
        return edits.write_overlay(_who(request), request.body(OverlayText).overlay_content)

    return {
        "GET /projects/{project_id}/file-content": read,
        "PUT /projects/{project_id}/file-content": write,
        "GET /profile": lambda r: edits.profile(_who(r)),
        "PUT /profile": lambda r: edits.write_profile(_who(r), r.body(FileText).content),
        "GET /agent": lambda r: edits.agent(_who(r)),
        "PUT /agent": overlay,
    }


handler = opened_on_first_call(lambda: build(*wire()))

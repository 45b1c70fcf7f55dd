"""The routes of messages and memory. Those under `/api/` answer in our own form, the others in that
of the gateway whose clients call them (ruling 41)."""

from __future__ import annotations

from judgment.contract.route import Route

_DOOR = "conversations"
_FILE = 1100


def _owner(
    method: str,
    path: str,
    summary: str,
    response: str | None = None,
    request: str | None = None,
    status: int = 200,
    *,
    query: str | None = None,
    refuses: tuple[int, ...] = (),
    body_kib: int = 256,
) -> Route:
    return Route(
        method,
        path,
        _DOOR,
        "owner",
        summary,
        response,
        request,
        status,
        query,
        refuses=refuses,
        errors="gateway",
        body_kib=body_kib,
    )


MESSAGE_ROUTES: tuple[Route, ...] = (
    Route(
        "POST",
        "/message",
        "guarded_message",
        "owner",
        "Say something; the answer is a stream of events.",
        "messages:StreamEvent",
        "messages:MessageRequest",
        media_type="text/event-stream",
        refuses=(404, 413),
        errors="gateway",
    ),
    _owner(
        "GET",
        "/conversations",
        "The owner's conversations, the latest first.",
        "conversations:ConversationList",
        query="conversations:ConversationsQuery",
    ),
    _owner(
        "GET",
        "/conversations/{conversation_id}",
        "One conversation with its messages.",
        "conversations:Conversation",
    ),
    _owner(
        "POST",
        "/conversations/{conversation_id}/stop",
        "End the turn that is running there.",
        "conversations:StopRequested",
        status=202,
    ),
    _owner("GET", "/projects", "The owner's pages.", "conversations:ProjectList"),
    _owner(
        "POST",
        "/projects",
        "Add a page.",
        "conversations:Project",
        "conversations:NewProject",
        201,
        refuses=(409,),
    ),
    _owner(
        "PATCH",
        "/projects/{project_id}",
        "Rename a page.",
        "conversations:Project",
        "conversations:ProjectChange",
    ),
    _owner("DELETE", "/projects/{project_id}", "Delete a page and its files.", status=204),
    _owner(
        "DELETE",
        "/projects/{project_id}/conversation",
        "Detach the page's conversation; it is kept.",
        "conversations:Project",
    ),
    _owner(
        "GET", "/projects/{project_id}/files", "The page's files.", "conversations:ProjectFiles"
    ),
    _owner(
        "GET",
        "/projects/{project_id}/file-content",
        "A file of the page.",
        "conversations:FileContent",
        query="conversations:FileQuery",
    ),
    _owner(
        "PUT",
        "/projects/{project_id}/file-content",
        "Write a file of the page; the owner's edit always wins.",
        "conversations:FileContent",
        "conversations:FileText",
        query="conversations:FileQuery",
        body_kib=_FILE,
        refuses=(404,),
    ),
    _owner("GET", "/profile", "The owner profile file.", "conversations:FileContent"),
    _owner(
        "PUT",
        "/profile",
        "Write the owner profile file.",
        "conversations:FileContent",
        "conversations:FileText",
        body_kib=_FILE,
    ),
    _owner("GET", "/agent", "The root instructions and their overlay.", "conversations:AgentText"),
    _owner(
        "PUT",
        "/agent",
        "Write the owner's overlay on the root instructions.",
        "conversations:AgentText",
        "conversations:OverlayText",
        body_kib=_FILE,
    ),
    _owner("GET", "/approvals", "Approvals that are not settled.", "conversations:OpenApprovals"),
    _owner(
        "POST",
        "/approvals/{request_id}",
        "Approve or deny what the model asked for.",
        "conversations:ApprovalAnswer",
        "conversations:ApprovalDecision",
        refuses=(404, 409),
    ),
    _owner(
        "GET",
        "/approvals/mode",
        "Whether the model's writes wait for the owner.",
        "conversations:ApprovalSettingInUse",
    ),
    _owner(
        "PUT",
        "/approvals/mode",
        "Let the model's writes wait for the owner, or not.",
        "conversations:ApprovalSettingInUse",
        "conversations:ApprovalSetting",
    ),
    Route(
        "GET",
        "/api/v1/memory/export",
        _DOOR,
        "owner",
        "The owner's memory with its history, in pages.",
        "memory:MemoryLine",
        query="memory:MemoryExportQuery",
        media_type="application/x-ndjson",
    ),
    Route(
        "PUT",
        "/api/v1/memory/imports/{import_id}/parts/{part}",
        _DOOR,
        "owner",
        "A part of a memory to import; nothing changes yet.",
        None,
        "memory:ImportPart",
        204,
        body_kib=3072,
    ),
    Route(
        "POST",
        "/api/v1/memory/imports/{import_id}",
        _DOOR,
        "owner",
        "Import the parts: all of them or nothing.",
        "memory:MemoryImported",
        "memory:ImportOrder",
        refuses=(404, 409),
    ),
)

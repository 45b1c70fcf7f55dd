"""Conversations, pages, owner edits and approvals, as a BrainDrive client knows them.

Times are RFC 3339 in UTC with milliseconds and a `Z`. What is ours beside that client's routes
(reading files, open approvals, the approval mode, stopping a turn) says so in its docstring.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from judgment.contract.messages import Decision, Text
from judgment.contract.wire import RequestModel, ResponseModel

FILE_LIMIT = 1024 * 1024
"""Characters of a file that an owner or a tool writes whole."""

ApprovalMode = Literal["auto-approve", "ask-on-write"]


class ConversationsQuery(RequestModel):
    """Which conversations: the latest first."""

    limit: int = Field(default=50, ge=1, le=200)
    offset: int = Field(default=0, ge=0, le=1_000_000)


class ConversationSummary(ResponseModel):
    """One conversation without its messages."""

    id: str
    title: str
    created_at: str
    updated_at: str
    message_count: int


class ConversationList(ResponseModel):
    """A page of conversations, and how many there are."""

    conversations: list[ConversationSummary]
    total: int
    limit: int
    offset: int


class ConversationMessage(ResponseModel):
    """One message. A tool's content is JSON: `{status, output, call: {name, input}}`."""

    id: str
    role: Literal["user", "assistant", "tool"]
    content: str
    timestamp: str


class Conversation(ResponseModel):
    """One conversation, whole."""

    id: str
    title: str
    created_at: str
    updated_at: str
    messages: list[ConversationMessage]


class StopRequested(ResponseModel):
    """The turn that runs in the conversation, if one does, ends soon. Ours."""

    conversation_id: str


class Project(ResponseModel):
    """A page; `conversation_id` is the conversation attached to it."""

    id: str
    name: str
    icon: str
    conversation_id: str | None
    default_skill_ids: list[str]


class ProjectList(ResponseModel):
    """The owner's pages in their order."""

    projects: list[Project]


class NewProject(RequestModel):
    """A page to add; it gets the files of a new project."""

    name: Text = Field(min_length=1, max_length=100)
    icon: Text | None = Field(default=None, min_length=1, max_length=50)


class ProjectChange(RequestModel):
    """Another name or icon."""

    name: Text | None = Field(default=None, min_length=1, max_length=100)
    icon: Text | None = Field(default=None, min_length=1, max_length=50)


class ProjectFile(ResponseModel):
    """A file of a page."""

    path: str
    bytes: int
    sha256: str
    updated_at: str


class ProjectFiles(ResponseModel):
    """The files of a page by path. Ours."""

    project_id: str
    files: list[ProjectFile]


class FileQuery(RequestModel):
    """`path`: `documents/<project>/<file>`."""

    path: str = Field(min_length=1, max_length=1024)


class FileText(RequestModel):
    """The whole new content of a file."""

    content: Text = Field(max_length=FILE_LIMIT)


class FileContent(ResponseModel):
    """A file as it is now."""

    path: str
    content: str


class OverlayText(RequestModel):
    """The whole new content of the owner's overlay, `AGENT-user.md`; empty removes it."""

    overlay_content: Text = Field(max_length=FILE_LIMIT)


class AgentText(ResponseModel):
    """The root instructions and the owner's overlay on them; null where there is none."""

    base_content: str | None
    overlay_content: str | None


class ApprovalDecision(RequestModel):
    """The owner's answer."""

    decision: Decision


class ApprovalAnswer(ResponseModel):
    """The answer as it is kept."""

    request_id: str
    decision: Decision


class OpenApproval(ResponseModel):
    """A call that waits for the owner, or for the next turn to carry out what they decided."""

    request_id: str
    conversation_id: str
    tool_name: str
    summary: str
    decision: Literal["pending", "approved", "denied"]
    created_at: str


class OpenApprovals(ResponseModel):
    """Approvals that are not settled, the oldest first. Ours: they outlive a restart."""

    approvals: list[OpenApproval]


class ApprovalSetting(RequestModel):
    """Whether writes of the model wait for the owner. Ours; kept in `preferences/default.json`."""

    approval_mode: ApprovalMode


class ApprovalSettingInUse(ResponseModel):
    """The mode that holds from the next turn on."""

    approval_mode: ApprovalMode

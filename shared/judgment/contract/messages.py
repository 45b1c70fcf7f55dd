"""`POST /message`: its request, and the events of its answer, as a BrainDrive client knows them.

Unknown keys of the outer object are ignored, unknown metadata is refused (ruling 41). An answer is
a stream of server-sent events, `event: <type>` and `data: <the event without its type>`; exactly
one `done` or `error` ends it.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, RootModel

from judgment.contract.wire import RequestModel, ResponseModel

CONTENT_LIMIT = 128 * 1024
"""Characters of one message."""
ID_LIMIT = 200

ErrorCode = Literal["provider_error", "tool_error", "context_overflow"]
ToolStatus = Literal["ok", "denied", "error"]
Decision = Literal["approved", "denied"]


def _storable(text: str) -> str:
    if "\0" in text:
        raise ValueError("a NUL cannot be kept")
    return text


Text = Annotated[str, AfterValidator(_storable)]


class MessageMetadata(RequestModel):
    """Who asks, from which page. `retry_of_message_id` and `retry_reason` change nothing."""

    client: Text | None = Field(default=None, min_length=1, max_length=ID_LIMIT)
    project: Text | None = Field(default=None, min_length=1, max_length=ID_LIMIT)
    retry_of_message_id: Text | None = Field(default=None, max_length=ID_LIMIT)
    retry_reason: Text | None = Field(default=None, max_length=ID_LIMIT)


class MessageRequest(RequestModel):
    """What the owner says; not trimmed, so that a blank is a message and nothing is none."""

    model_config = ConfigDict(extra="ignore")

    content: Text = Field(min_length=1, max_length=CONTENT_LIMIT)
    metadata: MessageMetadata | None = None


class TextDelta(ResponseModel):
    """A piece of the assistant's text."""

    type: Literal["text-delta"] = "text-delta"
    delta: str


class ToolCall(ResponseModel):
    """The model calls a tool."""

    type: Literal["tool-call"] = "tool-call"
    id: str
    name: str
    input: dict[str, Any]


class ToolResult(ResponseModel):
    """What became of the call. A failure's `output` is `{code, message, recoverable}`."""

    type: Literal["tool-result"] = "tool-result"
    id: str
    status: ToolStatus
    output: Any


class ApprovalRequest(ResponseModel):
    """The owner is asked whether the call may be carried out."""

    type: Literal["approval-request"] = "approval-request"
    request_id: str
    tool_name: str
    summary: str


class ApprovalResult(ResponseModel):
    """What the owner decided."""

    type: Literal["approval-result"] = "approval-result"
    request_id: str
    decision: Decision


class Done(ResponseModel):
    """The turn is over and stored."""

    type: Literal["done"] = "done"
    conversation_id: str
    message_id: str
    finish_reason: str


class Failed(ResponseModel):
    """The turn ended without an answer; what was said until then is stored."""

    type: Literal["error"] = "error"
    code: ErrorCode
    message: str


AnyEvent = TextDelta | ToolCall | ToolResult | ApprovalRequest | ApprovalResult | Done | Failed


class StreamEvent(RootModel[Annotated[AnyEvent, Field(discriminator="type")]]):
    """One event of the answer; on the wire its type is the event's name and not in its data."""


EVENTS: tuple[type[AnyEvent], ...] = (
    TextDelta,
    ToolCall,
    ToolResult,
    ApprovalRequest,
    ApprovalResult,
    Done,
    Failed,
)


class GatewayError(BaseModel):
    """The error body of the BrainDrive-compatible routes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    error: str

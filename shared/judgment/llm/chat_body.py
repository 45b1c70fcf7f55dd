"""A conversation as the body of a request: with tools, or with a schema for models without them.

The keys are the reference's (§6.2: model, stream, messages, tools, tool_choice), and
`stream_options`, by which a provider counts tokens also while it streams.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgment.llm.calling import sendable

if TYPE_CHECKING:
    from judgment.llm.chat import ChatMessage, ToolOffer, ToolUse

Body = dict[str, Any]
_UNNAMEABLE = re.compile(r"[^A-Za-z0-9_-]")
"""A provider refuses these in a name, also where a model made it up: in every later request."""


def streaming_body(
    messages: Sequence[ChatMessage], tools: Sequence[ToolOffer], *, counted: bool
) -> Body:
    """The body of a streamed completion with tools; `counted` asks for the tokens too."""
    body: Body = {
        "stream": True,
        "messages": [_message(one) for one in messages],
        "tools": [_tool(one) for one in tools],
    }
    if tools:
        body["tool_choice"] = "auto"
    if counted:
        body["stream_options"] = {"include_usage": True}
    return body


def arguments_text(call: ToolUse) -> str:
    """A call's arguments as the JSON text that providers exchange."""
    return json.dumps(dict(call.arguments or {}))


def _message(one: ChatMessage) -> Body:
    made: Body = {"role": one.role, "content": sendable(one.text)}
    if one.calls:
        made["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": _UNNAMEABLE.sub("_", call.name)[:64],
                    "arguments": arguments_text(call),
                },
            }
            for call in one.calls
        ]
    if one.call_id is not None:
        made["tool_call_id"] = one.call_id
    return made


def _tool(offer: ToolOffer) -> Body:
    parameters: Mapping[str, Any] = offer.parameters
    function = {"name": offer.name, "description": offer.description, "parameters": parameters}
    return {"type": "function", "function": function}

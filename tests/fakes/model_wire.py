"""Three dialects of one conversation: chat completions, responses, Anthropic messages.

Each reads a request body into a `Turn` and writes a `Reply` back, whole or as server-sent events.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias
from uuid import uuid4

Body: TypeAlias = dict[str, Any]
Events: TypeAlias = list[tuple[str | None, Any]]


@dataclass(frozen=True)
class OfferedTool:
    """A tool as the model may call it; `namespace` is set by hosts that group tools."""

    name: str
    description: str = ""
    namespace: str = ""


@dataclass(frozen=True)
class Turn:
    """Everything one request told the model."""

    dialect: str
    told: str
    tools: tuple[OfferedTool, ...]
    results: tuple[str, ...]
    body: Body = field(repr=False)
    demanded: OfferedTool | None = None
    """The tool that the request names as the one to call (`tool_choice`)."""

    def tool(self, ending: str) -> OfferedTool | None:
        """The first offered tool whose name ends so."""
        return next((tool for tool in self.tools if tool.name.endswith(ending)), None)


@dataclass(frozen=True)
class Say:
    """Answer in text and end the turn."""

    text: str


@dataclass(frozen=True)
class Call:
    """Call one of the offered tools."""

    tool: OfferedTool
    arguments: Body = field(default_factory=dict)


@dataclass(frozen=True)
class Fail:
    """Answer with an HTTP error, as a provider in trouble does."""

    status: int
    message: str = "The model is unavailable."
    headers: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True)
class Embed:
    """Answer with one vector for each text."""

    vectors: tuple[tuple[float, ...], ...]


Answer: TypeAlias = Say | Call | Embed
Reply: TypeAlias = Answer | Fail


def text_of(content: Any) -> str:
    """The text of a message's content, which may be a string, parts, or nested parts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "\n".join(text_of(part) for part in content)
    if isinstance(content, dict):
        return text_of(content.get("text") or content.get("content") or "")
    return ""


class Chat:
    """POST …/chat/completions."""

    path: ClassVar = "/chat/completions"

    def read(self, body: Body) -> Turn:
        """The turn in a request body."""
        messages = body.get("messages", [])
        functions = [tool.get("function", {}) for tool in body.get("tools") or []]
        tools = tuple(OfferedTool(f["name"], f.get("description", "")) for f in functions)
        choice = body.get("tool_choice")
        named = choice.get("function", {}).get("name") if isinstance(choice, dict) else None
        return Turn(
            "chat",
            "\n".join(text_of(m.get("content")) for m in messages if m["role"] != "tool"),
            tools,
            tuple(text_of(m.get("content")) for m in messages if m["role"] == "tool"),
            body,
            next((tool for tool in tools if tool.name == named), None),
        )

    def write(self, reply: Answer) -> tuple[Body, Events]:
        """The response body, and the same as events."""
        message: Body = {"role": "assistant", "content": None}
        if isinstance(reply, Say):
            message["content"] = reply.text
        else:
            function = {"name": reply.tool.name, "arguments": json.dumps(reply.arguments)}
            message["tool_calls"] = [
                {"index": 0, "id": _fresh("call"), "type": "function", "function": function}
            ]
        reason = "stop" if isinstance(reply, Say) else "tool_calls"
        frame = {"id": _fresh("chat"), "created": 1, "model": "fake-model"}
        usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
        chunk = {**frame, "object": "chat.completion.chunk"}
        whole = {
            **frame,
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": usage,
        }
        events: Events = [
            (None, {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
            (None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}),
            (None, {**chunk, "choices": [], "usage": usage}),
            (None, "[DONE]"),
        ]
        return whole, events


class Responses:
    """POST …/responses."""

    path: ClassVar = "/responses"

    def read(self, body: Body) -> Turn:
        """The turn in a request body."""
        given = body.get("input")
        items: list[Body] = given if isinstance(given, list) else [{"content": given or ""}]
        outputs = [i for i in items if str(i.get("type", "")).endswith("call_output")]
        spoken = [i for i in items if i.get("type", "message") == "message"]
        return Turn(
            "responses",
            "\n".join([body.get("instructions") or "", *(text_of(i["content"]) for i in spoken)]),
            tuple(_flattened(body.get("tools") or [])),
            tuple(text_of(o.get("output")) for o in outputs),
            body,
        )

    def write(self, reply: Answer) -> tuple[Body, Events]:
        """The response body, and the same as events."""
        item: Body
        if isinstance(reply, Say):
            part = {"type": "output_text", "text": reply.text, "annotations": []}
            item = {"type": "message", "id": _fresh("msg"), "role": "assistant", "content": [part]}
        else:
            item = {"type": "function_call", "id": _fresh("fc"), "call_id": _fresh("call")}
            item |= {"name": reply.tool.name, "arguments": json.dumps(reply.arguments)}
            if reply.tool.namespace:
                item["namespace"] = reply.tool.namespace
        item["status"] = "completed"
        whole = {
            "id": _fresh("resp"),
            "object": "response",
            "created_at": 1,
            "status": "completed",
            "model": "fake-model",
            "output": [item],
            "usage": {
                "input_tokens": 10,
                "input_tokens_details": {"cached_tokens": 0},
                "output_tokens": 5,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 15,
            },
        }
        begun = {**whole, "status": "in_progress", "output": []}
        steps: list[Body] = [
            {"type": "response.created", "response": begun},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": whole},
        ]
        return whole, [(step["type"], step) for step in steps]


class Messages:
    """POST …/messages, as Anthropic has it."""

    path: ClassVar = "/messages"

    def read(self, body: Body) -> Turn:
        """The turn in a request body."""
        blocks = [
            block if isinstance(block, dict) else {"type": "text", "text": block}
            for message in body.get("messages", [])
            for block in _as_list(message.get("content"))
        ]
        return Turn(
            "messages",
            "\n".join(
                [
                    text_of(body.get("system") or ""),
                    *(text_of(b) for b in blocks if b.get("type") == "text"),
                ]
            ),
            tuple(
                OfferedTool(t["name"], t.get("description", "")) for t in body.get("tools") or []
            ),
            tuple(text_of(b.get("content")) for b in blocks if b.get("type") == "tool_result"),
            body,
        )

    def write(self, reply: Answer) -> tuple[Body, Events]:
        """The response body, and the same as events."""
        block: Body
        delta: Body
        if isinstance(reply, Say):
            block, stop = {"type": "text", "text": reply.text}, "end_turn"
            opened, delta = {**block, "text": ""}, {"type": "text_delta", "text": reply.text}
        else:
            block = {"type": "tool_use", "id": _fresh("toolu"), "name": reply.tool.name}
            block, stop = {**block, "input": reply.arguments}, "tool_use"
            opened = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(reply.arguments)}
        ended = {"stop_reason": stop, "stop_sequence": None}
        whole = {
            "id": _fresh("msg"),
            "type": "message",
            "role": "assistant",
            "model": "fake-model",
            "content": [block],
            **ended,
            "usage": {"input_tokens": 10, "output_tokens": 5},
        }
        begun = {**whole, "content": [], "stop_reason": None}
        steps: list[Body] = [
            {"type": "message_start", "message": begun},
            {"type": "content_block_start", "index": 0, "content_block": opened},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": ended, "usage": {"output_tokens": 5}},
            {"type": "message_stop"},
        ]
        return whole, [(step["type"], step) for step in steps]


class Embeddings:
    """POST …/embeddings."""

    path: ClassVar = "/embeddings"

    def read(self, body: Body) -> Turn:
        """The turn in a request body; each text to embed is one line of what was told."""
        texts = _as_list(body.get("input"))
        return Turn("embeddings", "\n".join(map(text_of, texts)), (), (), body)

    def write(self, reply: Answer) -> tuple[Body, Events]:
        """The response body; there are no events."""
        assert isinstance(reply, Embed)
        data = [
            {"object": "embedding", "index": n, "embedding": list(vector)}
            for n, vector in enumerate(reply.vectors)
        ]
        usage = {"prompt_tokens": 10, "total_tokens": 10}
        return {"object": "list", "data": data, "model": "fake-model", "usage": usage}, []


Dialect: TypeAlias = Chat | Responses | Messages | Embeddings
DIALECTS: tuple[Dialect, ...] = (Chat(), Responses(), Messages(), Embeddings())


def _flattened(tools: list[Body], namespace: str = "") -> Iterator[OfferedTool]:
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from _flattened(tool.get("tools") or [], tool.get("name", ""))
        else:
            name = tool.get("name") or tool.get("type", "")
            yield OfferedTool(name, tool.get("description", ""), namespace)


def _fresh(kind: str) -> str:
    """Hosts keep calls apart by id, over all turns of a conversation."""
    return f"{kind}_{uuid4().hex}"


def _as_list(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content or ""]

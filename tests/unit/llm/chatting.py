"""A conversing client over a scripted provider on the wire."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pytest

from judgment.kit.deadline import Deadline
from judgment.llm.calling import Patience
from judgment.llm.chat import ChatFailure, ChatMessage, Completed, TextPiece, ToolOffer
from judgment.llm.chat_client import ChatClient
from judgment.llm.keys import KeyUnavailable
from judgment.llm.model import ModelChoice
from judgment.llm.settings import ModelSettings, configured
from tests.fakes.model_trouble import Pieces

if TYPE_CHECKING:
    from tests.fakes.model_server import ModelServer

READ = ToolOffer(
    "memory_read",
    "Read a file.",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
        "additionalProperties": False,
    },
)
HELLO = (ChatMessage("system", "Be brief."), ChatMessage("user", "Hello"))
CHOICE = ModelChoice("ollama", "fake")
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake"}
DONE = b"data: [DONE]\n\n"


class Keys:
    def __init__(self, key: str | None = "a-key"):
        self.given = key

    def key(self, choice: ModelChoice) -> str | None:
        if self.given == "none to be had":
            raise KeyUnavailable
        return self.given


def client(server: ModelServer, *, timeout: float = 20.0, key: str | None = "a-key", **more: Any):
    settings = ModelSettings(
        model_message="ollama:fake",
        ollama_base_url=f"{server.url}/v1",
        model_prices='{"ollama:fake": [1.0, 2.0]}',
        **more,
    )
    return ChatClient(configured(settings), Keys(key), Patience(timeout))


def conversed(
    one: ChatClient,
    messages: Sequence[ChatMessage] = HELLO,
    tools: Sequence[ToolOffer] = (READ,),
    seconds: float = 30.0,
) -> tuple[str, Completed]:
    *pieces, end = one.converse(
        CHOICE, "message", messages, tools, deadline=Deadline.after(seconds)
    )
    assert isinstance(end, Completed)
    text = "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))
    assert text == end.text
    return text, end


def failed(one: ChatClient, **more: Any) -> ChatFailure:
    with pytest.raises(ChatFailure) as raised:
        conversed(one, **more)
    return raised.value


def line(delta: dict[str, Any], reason: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return f"data: {json.dumps({**CHUNK, 'choices': [choice], **more})}\n\n".encode()


def piece(index: int | None = 0, **call: Any) -> bytes:
    function = {k: call.pop(k) for k in ("name", "arguments") if k in call}
    told = {**({} if index is None else {"index": index}), **call, "function": function}
    return line({"tool_calls": [told]})


def counted(into: int, out: int) -> bytes:
    usage = {"prompt_tokens": into, "completion_tokens": out}
    return f"data: {json.dumps({**CHUNK, 'choices': [], 'usage': usage})}\n\n".encode()


def says(server: ModelServer, *parts: bytes | Callable[[], object], **more: Any) -> None:
    server.script = lambda turn: Pieces(parts, **more)

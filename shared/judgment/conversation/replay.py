"""A stored conversation as a model is told it again, turn by turn.

A provider takes calls and answers only in pairs, whatever was stored: each answer follows an
assistant message that makes the call, each call has one answer. So tool messages are put to the
assistant message before them in their turn, or to an empty one, and what names no call is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.conversation.model import Message, ToolRecord, json_line
from judgment.llm.chat import ChatMessage, ToolUse

if TYPE_CHECKING:
    from judgment.contract.messages import ToolStatus


@dataclass(frozen=True, slots=True)
class Unit:
    """All that was said in one turn, in its order; it is sent whole or left out whole."""

    messages: tuple[ChatMessage, ...]
    turn_id: UUID


def units(messages: Sequence[Message]) -> list[Unit]:
    """The turns of a conversation in the order in which they began.

    Two turns that ran at once are told one after the other. Ids of calls are unique in the whole.
    A turn of which nothing can be told is left out.
    """
    turns: dict[UUID, list[Message]] = {}
    for message in sorted(messages, key=lambda one: one.position):
        turns.setdefault(message.turn_id, []).append(message)
    used: set[str] = set()
    told = [Unit(_told(turn, used), turn_id) for turn_id, turn in turns.items()]
    return [unit for unit in told if unit.messages]


def answer_text(status: ToolStatus, output: Any) -> str:
    """What a model hears of a call: `{"status", "output"}` as JSON."""
    return json_line({"status": status, "output": output})


@dataclass
class _Speech:
    """What the assistant said at once: a text, then calls with their answers."""

    text: str
    calls: list[tuple[ToolUse, ChatMessage]] = field(
        default_factory=list["tuple[ToolUse, ChatMessage]"]
    )

    def messages(self) -> list[ChatMessage]:
        """Nothing at all where it said nothing."""
        if not self.calls and not self.text.strip():
            return []
        spoken = ChatMessage("assistant", self.text, tuple(call for call, _ in self.calls))
        return [spoken, *(answer for _, answer in self.calls)]


def _told(turn: Sequence[Message], used: set[str]) -> tuple[ChatMessage, ...]:
    told: list[ChatMessage] = []
    speech = _Speech("")
    for message in turn:
        if message.role == "tool":
            record = ToolRecord.from_content(message.id, message.content)
            if record is not None:
                speech.calls.append(_pair(record, used))
            continue
        told += speech.messages()
        speech = _Speech(message.content if message.role == "assistant" else "")
        if message.role == "user":
            told.append(ChatMessage("user", message.content))
    return (*told, *speech.messages())


def _pair(record: ToolRecord, used: set[str]) -> tuple[ToolUse, ChatMessage]:
    call_id = _unused(record.call_id or "call", used)
    answer = answer_text(record.status, record.output)
    return (
        ToolUse(call_id, record.name, record.input),
        ChatMessage("tool", answer, call_id=call_id),
    )


def _unused(call_id: str, used: set[str]) -> str:
    name, count = call_id, 1
    while name in used:
        count += 1
        name = f"{call_id}-{count}"
    used.add(name)
    return name

"""Conversations and pages as the reference's files, and back.

`conversations/<id>.md` has a head of JSON literals and one JSON line for each message, so that any
text is safe in it; `conversations/index.json` and `documents/projects.json` are JSON. What is read
is read whole or refused: a damaged file, one of another kind, one with a field we do not know.
Files have no turns: each message of the owner begins one.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final, TypeVar
from uuid import UUID, uuid5

from judgment.conversation.fields import (
    MOST_ENTRIES,
    PROJECT_ID,
    DamagedFile,
    Fields,
    bounded,
    listing,
    parsed,
)
from judgment.conversation.model import Conversation, Message, Project, json_line, timestamp

_TURNS: Final = UUID("6f0b8a53-3a0c-5b0e-9d54-2f6f0a7f3c11")
_Named = TypeVar("_Named", Conversation, Project)
_ROLES = ("user", "assistant", "tool")
_HEAD = ("id", "title", "created_at", "updated_at", "message_count", "active_skill_ids")
_MESSAGE = ("id", "role", "timestamp", "content")
_ENTRY = ("id", "title", "created_at", "updated_at", "message_count")
_PROJECT = ("id", "name", "icon", "conversation_id", "default_skill_ids")


def render_conversation(conversation: Conversation, messages: Sequence[Message]) -> str:
    """The markdown of a conversation. It counts the messages that it holds."""
    head = {
        "id": conversation.id,
        "title": conversation.title,
        "created_at": timestamp(conversation.created_at),
        "updated_at": timestamp(conversation.updated_at),
        "message_count": len(messages),
        "active_skill_ids": list(conversation.active_skill_ids),
    }
    lines = ["---", *(f"{name}: {json_line(value)}" for name, value in head.items()), "---"]
    for message in messages:
        told = {
            "id": message.id,
            "role": message.role,
            "timestamp": timestamp(message.sent_at),
            "content": message.content,
        }
        lines += ["", _heading(message.id), "```json", json_line(told), "```"]
    return "\n".join(lines) + "\n"


def parse_conversation(text: str) -> tuple[Conversation, tuple[Message, ...]]:
    """What the markdown of a conversation holds. Positions begin at 1, ids of turns follow from
    the conversation's id. Raises DamagedFile."""
    lines = _lines(text)
    end = len(_HEAD) + 1
    if len(lines) <= end or (lines[0], lines[end]) != ("---", "---"):
        raise DamagedFile("It does not begin with a head of six fields between lines of ---.")
    head = _head(lines[1:end])
    messages = _messages(head.conversation_id("id"), lines, end + 1)
    conversation = head.conversation(head.skills("active_skill_ids"))
    if conversation.message_count != len(messages):
        raise DamagedFile(
            f"It counts {conversation.message_count} messages and holds {len(messages)}."
        )
    return conversation, messages


def render_index(conversations: Sequence[Conversation]) -> str:
    """`conversations/index.json`: the latest first."""
    ordered = sorted(conversations, key=lambda one: one.id)
    ordered.sort(key=lambda one: one.updated_at, reverse=True)
    entries = [
        {
            "id": one.id,
            "title": one.title,
            "created_at": timestamp(one.created_at),
            "updated_at": timestamp(one.updated_at),
            "message_count": one.message_count,
        }
        for one in ordered
    ]
    return _pretty({"conversations": entries})


def parse_index(text: str) -> tuple[Conversation, ...]:
    """The conversations of an index, in its order, with no skills. Raises DamagedFile."""
    entries = Fields(parsed(text), ("conversations",), "The index").listed("conversations")
    read = [Fields(one, _ENTRY, f"Entry {at}") for at, one in enumerate(entries, 1)]
    return _unique([one.conversation(()) for one in read])


def manifest_entry(project: Project) -> dict[str, Any]:
    """A page as the manifest, and the reference's clients, have it."""
    return {
        "id": project.id,
        "name": project.name,
        "icon": project.icon,
        "conversation_id": project.conversation_id,
        "default_skill_ids": list(project.default_skill_ids),
    }


def render_projects(projects: Sequence[Project]) -> str:
    """`documents/projects.json`: the pages by their positions."""
    ordered = sorted(projects, key=lambda one: one.position)
    return _pretty([manifest_entry(one) for one in ordered])


def parse_projects(text: str) -> tuple[Project, ...]:
    """The pages of a manifest; positions begin at 1. Raises DamagedFile."""
    entries = listing(parsed(text), "The manifest")
    return _unique([_project(entry, place) for place, entry in enumerate(entries, 1)])


def _head(lines: Sequence[str]) -> Fields:
    given: dict[str, Any] = {}
    for line in lines:
        name, colon, literal = line.partition(": ")
        if not colon:
            raise DamagedFile("The head: a line is no field.")
        given[name] = parsed(literal, f"The head: {name}" if name in _HEAD else "The head")
    return Fields(given, _HEAD, "The head")


def _messages(conversation_id: str, lines: Sequence[str], start: int) -> tuple[Message, ...]:
    """Blocks of five lines: blank, heading, fence, JSON, fence."""
    read: list[Message] = []
    turn = 0
    rest = lines[start:]
    if len(rest) % 5 or len(rest) // 5 > MOST_ENTRIES:
        raise DamagedFile("Its messages are not whole, or there are too many.")
    for at in range(0, len(rest), 5):
        blank, heading, opening, line, closing = rest[at : at + 5]
        where = f"Line {start + at + 4}"
        fields = Fields(parsed(line, where), _MESSAGE, where)
        message_id = fields.name("id")
        headings = (_heading(message_id), f"## message {message_id}")
        if (blank, opening, closing) != ("", "```json", "```") or heading not in headings:
            raise DamagedFile(f"{where}: what stands around the message is not as it should be.")
        role = fields.name("role")
        if role not in _ROLES:
            raise DamagedFile(f"{where}: role is none of {', '.join(_ROLES)}.")
        turn += role == "user"
        read.append(
            Message(
                id=message_id,
                turn_id=uuid5(_TURNS, f"{conversation_id}/{turn}"),
                role=role,
                content=fields.text("content"),
                sent_at=fields.moment("timestamp"),
                position=len(read) + 1,
            )
        )
    return tuple(read)


def _project(entry: Any, place: int) -> Project:
    fields = Fields(entry, _PROJECT, f"Page {place}")
    alone = fields.is_null("conversation_id")
    return Project(
        id=fields.id_of("id", PROJECT_ID),
        name=fields.name("name"),
        icon=fields.name("icon"),
        conversation_id=None if alone else fields.conversation_id("conversation_id"),
        default_skill_ids=fields.skills("default_skill_ids"),
        position=place,
    )


def _unique(read: list[_Named]) -> tuple[_Named, ...]:
    if len({one.id for one in read}) != len(read):
        raise DamagedFile("It has an id twice.")
    return tuple(read)


def _lines(text: str) -> list[str]:
    bounded(text)
    whole = text.replace("\r\n", "\n")
    if not whole.endswith("\n"):
        raise DamagedFile("It does not end with the end of a line.")
    return whole[:-1].split("\n")


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2) + "\n"


def _heading(message_id: str) -> str:
    return f"## message {json_line(message_id)[1:-1]}"

"""The statements of conversations, pages and approvals; each runs in the transaction it is handed.

A name that cannot be a conversation's or a page's is asked of no database: it names nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from judgment.conversation.model import Conversation, Message, Project, Role
from judgment.db.queries import load_queries

if TYPE_CHECKING:
    from judgment.contract.messages import Decision
    from judgment.db.connection import Transaction

_Q = load_queries("judgment.conversation")
_CONVERSATION_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)
_PROJECT_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Approval:
    """A call that waits for the owner, or waited.

    `expected`: path to digest of the files it would change, as they were when the question was
    put, null for one that was not there. `settled_at`: when it was carried out or given up.
    """

    request_id: UUID
    conversation_id: str
    turn_id: UUID
    tool_call_id: str
    tool_name: str
    summary: str = field(repr=False)
    input: Mapping[str, Any] = field(repr=False)
    expected: Mapping[str, str | None] = field(repr=False)
    decision: Literal["pending", "approved", "denied"]
    created_at: datetime
    settled_at: datetime | None = None


def is_conversation_id(text: str) -> bool:
    """Whether `text` can name a conversation: 1 to 128 letters, digits, dots, bars, hyphens."""
    return _CONVERSATION_ID.fullmatch(text) is not None


def is_project_id(text: str) -> bool:
    """Whether `text` can name a page: 1 to 64 lower-case letters, digits and hyphens."""
    return _PROJECT_ID.fullmatch(text) is not None


def create_conversation(
    tx: Transaction, user_id: UUID, conversation_id: str, title: str, at: datetime
) -> None:
    """A conversation without messages. Raises UniqueViolated where there is one of that id."""
    row = {"user_id": user_id, "id": conversation_id, "title": title, "at": at}
    tx.execute(_Q["create_conversation"], row)


def conversation(tx: Transaction, user_id: UUID, conversation_id: str) -> Conversation | None:
    """The owner's conversation of that id."""
    if not is_conversation_id(conversation_id):
        return None
    row = tx.one(_Q["conversation"], {"user_id": user_id, "id": conversation_id})
    return None if row is None else _conversation(row)


def conversations(
    tx: Transaction, user_id: UUID, *, limit: int | None = None, offset: int = 0
) -> list[Conversation]:
    """The owner's conversations, or a page of them, the latest first."""
    page = {"user_id": user_id, "limit": limit, "offset": offset}
    return [_conversation(row) for row in tx.all(_Q["conversations"], page)]


def count_conversations(tx: Transaction, user_id: UUID) -> int:
    """How many conversations the owner has."""
    return tx.value(_Q["count_conversations"], {"user_id": user_id})


def append(
    tx: Transaction,
    user_id: UUID,
    conversation_id: str,
    *,
    id: str,  # noqa: A002 - the message's own word
    turn_id: UUID,
    role: Role,
    content: str,
    at: datetime,
) -> Message:
    """Say something. The conversation is held until the transaction ends, so that places have no
    gaps. Raises LookupError for a conversation that is not there."""
    position = tx.value(_Q["take_place"], {"user_id": user_id, "id": conversation_id, "at": at})
    if position is None:
        raise LookupError("There is no such conversation.")
    said = Message(id, turn_id, role, content, at, position)
    row = {name: getattr(said, name) for name in Message.__slots__}
    tx.execute(_Q["add_message"], {**row, "user_id": user_id, "conversation_id": conversation_id})
    return said


def replace_content(
    tx: Transaction,
    user_id: UUID,
    conversation_id: str,
    message_id: str,
    content: str,
    *,
    turn_id: UUID,
) -> None:
    """Put another content in the place of a message's. The turn tells messages of one id apart."""
    row = {**_message_of(user_id, conversation_id, message_id, turn_id), "content": content}
    tx.execute(_Q["replace_content"], row)


def messages(tx: Transaction, user_id: UUID, conversation_id: str) -> list[Message]:
    """The conversation in its order; nothing for one that is not there."""
    of = {"user_id": user_id, "conversation_id": conversation_id}
    return [Message(**row) for row in tx.all(_Q["messages"], of)]


def message(
    tx: Transaction, user_id: UUID, conversation_id: str, message_id: str, *, turn_id: UUID
) -> Message | None:
    """One message. The turn tells messages of one id apart."""
    of = _message_of(user_id, conversation_id, message_id, turn_id)
    row = tx.one(_Q["message"], of)
    return None if row is None else Message(**row)


def request_stop(tx: Transaction, user_id: UUID, conversation_id: str, at: datetime) -> bool:
    """Ask the turn that runs there to end; False for a conversation that is not there."""
    if not is_conversation_id(conversation_id):
        return False
    row = {"user_id": user_id, "id": conversation_id, "at": at}
    return tx.execute(_Q["request_stop"], row) > 0


def stop_requested_since(
    tx: Transaction, user_id: UUID, conversation_id: str, since: datetime
) -> bool:
    """Whether the owner asked a turn that began at `since` to end."""
    row = {"user_id": user_id, "id": conversation_id, "since": since}
    return bool(tx.value(_Q["stop_requested_since"], row))


def projects(tx: Transaction, user_id: UUID) -> list[Project]:
    """The owner's pages in their order."""
    return [_project(row) for row in tx.all(_Q["projects"], {"user_id": user_id})]


def project(tx: Transaction, user_id: UUID, project_id: str) -> Project | None:
    """The owner's page of that (canonical) id."""
    if not is_project_id(project_id):
        return None
    row = tx.one(_Q["project"], {"user_id": user_id, "id": project_id})
    return None if row is None else _project(row)


def add_project(tx: Transaction, user_id: UUID, project_id: str, name: str, icon: str) -> bool:
    """A page behind the others; False where there is one of that id.

    Whoever adds pages holds the memory's state, so that places have no doubles.
    """
    row = {"user_id": user_id, "id": project_id, "name": name, "icon": icon}
    return tx.execute(_Q["add_project"], row) > 0


def rename_project(
    tx: Transaction, user_id: UUID, project_id: str, name: str | None, icon: str | None
) -> None:
    """Another name or icon; None leaves what is there."""
    row = {"user_id": user_id, "id": project_id, "name": name, "icon": icon}
    tx.execute(_Q["rename_project"], row)


def delete_project(tx: Transaction, user_id: UUID, project_id: str) -> None:
    """Delete a page's row; its files are the memory's."""
    tx.execute(_Q["delete_project"], {"user_id": user_id, "id": project_id})


def attach(tx: Transaction, user_id: UUID, project_id: str, conversation_id: str | None) -> None:
    """Attach a conversation to a page, or None for none; an unknown page is passed over."""
    if is_project_id(project_id):
        row = {"user_id": user_id, "id": project_id, "conversation_id": conversation_id}
        tx.execute(_Q["attach"], row)


def ask(tx: Transaction, user_id: UUID, asked: Approval) -> None:
    """Put a question to the owner. It is pending, whatever `asked` says of that."""
    row = {name: getattr(asked, name) for name in Approval.__slots__}
    row |= {"input": json.dumps(asked.input), "expected": json.dumps(asked.expected)}
    tx.execute(_Q["ask"], {**row, "user_id": user_id})


def approval(tx: Transaction, user_id: UUID, request_id: UUID) -> Approval | None:
    """One of the owner's questions, whatever became of it."""
    row = tx.one(_Q["approval"], {"user_id": user_id, "request_id": request_id})
    return None if row is None else Approval(**row)


def open_approvals(
    tx: Transaction, user_id: UUID, conversation_id: str | None = None
) -> list[Approval]:
    """Questions that nobody has settled, of one conversation or of all, the oldest first."""
    of = {"user_id": user_id, "conversation_id": conversation_id}
    return [Approval(**row) for row in tx.all(_Q["open_approvals"], of)]


def decide(
    tx: Transaction, user_id: UUID, request_id: UUID, decision: Decision, at: datetime
) -> Approval | None:
    """Keep the owner's answer where there is none yet; the question as it is then.

    None where the owner was not asked.
    """
    row = {"user_id": user_id, "request_id": request_id, "decision": decision, "at": at}
    tx.execute(_Q["decide"], row)
    return approval(tx, user_id, request_id)


def settle(tx: Transaction, user_id: UUID, request_id: UUID, at: datetime) -> bool:
    """Take what was decided, to carry it out or give it up: true for exactly one caller."""
    row = {"user_id": user_id, "request_id": request_id, "at": at}
    return tx.execute(_Q["settle"], row) > 0


def _message_of(
    user_id: UUID, conversation_id: str, message_id: str, turn_id: UUID
) -> dict[str, Any]:
    return {
        "user_id": user_id,
        "conversation_id": conversation_id,
        "id": message_id,
        "turn_id": turn_id,
    }


def _conversation(row: dict[str, Any]) -> Conversation:
    row["active_skill_ids"] = tuple(row["active_skill_ids"])
    return Conversation(**row)


def _project(row: dict[str, Any]) -> Project:
    row["default_skill_ids"] = tuple(row["default_skill_ids"])
    return Project(**row)

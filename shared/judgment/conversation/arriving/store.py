"""The statements that take in what another memory had; each runs in the given transaction."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.db.queries import load_queries

if TYPE_CHECKING:
    from judgment.conversation.model import Conversation, Message, Project
    from judgment.db.connection import Transaction

_Q = load_queries("judgment.conversation.arriving")


def bring_conversation(
    tx: Transaction, user_id: UUID, conversation: Conversation, messages: Sequence[Message]
) -> bool:
    """Take a conversation in with its messages; False where there is one of its id."""
    row = {
        "user_id": user_id,
        "id": conversation.id,
        "title": conversation.title,
        "created_at": conversation.created_at,
        "updated_at": conversation.updated_at,
        "message_count": len(messages),
        "active_skill_ids": json.dumps(conversation.active_skill_ids),
    }
    if not tx.execute(_Q["bring_conversation"], row):
        return False
    columns = {
        "user_id": user_id,
        "conversation_id": conversation.id,
        "positions": [message.position for message in messages],
        "ids": [message.id for message in messages],
        "turns": [message.turn_id for message in messages],
        "roles": [message.role for message in messages],
        "contents": [message.content for message in messages],
        "times": [message.sent_at for message in messages],
    }
    tx.execute(_Q["bring_messages"], columns)
    return True


def bring_project(tx: Transaction, user_id: UUID, page: Project) -> bool:
    """Take a page in behind the others, with no conversation; False where there is one of its id.

    The caller holds the memory's state, so that places have no doubles.
    """
    row = {
        "user_id": user_id,
        "id": page.id,
        "name": page.name,
        "icon": page.icon,
        "default_skill_ids": json.dumps(page.default_skill_ids),
    }
    return tx.execute(_Q["bring_project"], row) > 0

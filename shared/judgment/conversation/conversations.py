"""Conversations as their owner looks back on them, and the word that ends a running turn."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import UUID

from judgment.contract.conversations import (
    Conversation,
    ConversationList,
    ConversationMessage,
    ConversationSummary,
    StopRequested,
)
from judgment.conversation import pages, store
from judgment.conversation.model import timestamp
from judgment.kit.clock import Clock, utc_now
from judgment.kit.errors import NotFound

if TYPE_CHECKING:
    from judgment.contract.conversations import ConversationsQuery
    from judgment.conversation import model
    from judgment.conversation.recording import Begin

UNKNOWN = "Conversation not found"


class Conversations:
    """An owner's conversations."""

    def __init__(self, begin: Begin, clock: Clock = utc_now):
        self._begin = begin
        self._clock = clock

    def listing(self, user_id: UUID, page: ConversationsQuery) -> ConversationList:
        """A page of them, the latest first."""
        with self._begin(user_id) as tx:
            pages.ensure(tx, user_id, self._clock())
            found = store.conversations(tx, user_id, limit=page.limit, offset=page.offset)
            total = store.count_conversations(tx, user_id)
        return ConversationList(
            conversations=[_summary(one) for one in found],
            total=total,
            limit=page.limit,
            offset=page.offset,
        )

    def one(self, user_id: UUID, conversation_id: str) -> Conversation:
        """One of them, whole. Raises NotFound."""
        with self._begin(user_id) as tx:
            pages.ensure(tx, user_id, self._clock())
            found = store.conversation(tx, user_id, conversation_id)
            if found is None:
                raise NotFound(UNKNOWN)
            said = store.messages(tx, user_id, conversation_id)
        return Conversation(
            id=found.id,
            title=found.title,
            created_at=timestamp(found.created_at),
            updated_at=timestamp(found.updated_at),
            messages=[_message(message) for message in said],
        )

    def stop(self, user_id: UUID, conversation_id: str) -> StopRequested:
        """Ask the turn that runs there to end; later ones are not meant. Raises NotFound."""
        with self._begin(user_id) as tx:
            if not store.request_stop(tx, user_id, conversation_id, self._clock()):
                raise NotFound(UNKNOWN)
        return StopRequested(conversation_id=conversation_id)


def _summary(one: model.Conversation) -> ConversationSummary:
    return ConversationSummary(
        id=one.id,
        title=one.title,
        created_at=timestamp(one.created_at),
        updated_at=timestamp(one.updated_at),
        message_count=one.message_count,
    )


def _message(message: model.Message) -> ConversationMessage:
    return ConversationMessage(
        id=message.id,
        role=message.role,
        content=message.content,
        timestamp=timestamp(message.sent_at),
    )

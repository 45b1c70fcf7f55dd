"""What a turn writes down as it goes: each message, in the transaction of what it tells of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from judgment.conversation import store

if TYPE_CHECKING:
    from judgment.conversation.model import ToolRecord
    from judgment.db.connection import Transaction
    from judgment.kit.clock import Clock
    from judgment.kit.ids import IdFactory
    from judgment.llm.model import ModelCall

Begin = Callable[[UUID], AbstractContextManager["Transaction"]]


class Accounts(Protocol):
    """Puts calls of a model on record (`judgment.llm.store.record_calls`)."""

    def __call__(self, tx: Transaction, user_id: UUID, calls: Sequence[ModelCall]) -> None:
        """In the transaction that ends the work."""
        ...


@dataclass(frozen=True)
class Ledger:
    """Where turns are written down, and with which clock and ids."""

    begin: Begin
    accounts: Accounts
    clock: Clock
    new_id: IdFactory


@dataclass
class Record:
    """The record of one turn. `last_id` is the last thing that owner or assistant said in it."""

    ledger: Ledger
    user_id: UUID
    conversation_id: str
    turn_id: UUID
    last_id: str = ""

    def user(self, tx: Transaction, text: str) -> None:
        """The owner's message."""
        self.last_id = self._append(tx, "user", text)

    def assistant(self, text: str, call: ModelCall | None) -> None:
        """What the model said, if it is more than blanks, and what the call of it cost."""
        with self.ledger.begin(self.user_id) as tx:
            if text.strip():
                self.last_id = self._append(tx, "assistant", text)
            if call is not None:
                self.ledger.accounts(tx, self.user_id, [call])

    def tool(self, tx: Transaction, call: ToolRecord) -> None:
        """A call and what became of it, beside its effect."""
        store.append(
            tx,
            self.user_id,
            self.conversation_id,
            id=call.call_id,
            turn_id=self.turn_id,
            role="tool",
            content=call.to_content(),
            at=self.ledger.clock(),
        )

    def _append(self, tx: Transaction, role: store.Role, text: str) -> str:
        message_id = str(self.ledger.new_id())
        store.append(
            tx,
            self.user_id,
            self.conversation_id,
            id=message_id,
            turn_id=self.turn_id,
            role=role,
            content=text,
            at=self.ledger.clock(),
        )
        return message_id

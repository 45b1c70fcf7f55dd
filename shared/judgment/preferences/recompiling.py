"""The compiler of hosted preferences: an owner's stream in, one document per platform out.

A message only says that something changed. What there is to do is read from the owner's row: the
revision of the stream and that of its documents. So a message that comes twice, late or out of
order does nothing or what is due, and needs no note of its own. Two compilers of one owner at once
take turns to write, and the one that has read less does not. The owner's row is not locked while
signals are read and compiled: captures go on.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Literal, cast
from uuid import UUID

from judgment.contract.jobs import SOURCE, Event
from judgment.kit.clock import Clock, utc_now
from judgment.kit.errors import InvalidRequest
from judgment.kit.killpoints import reach
from judgment.preferences import store
from judgment.preferences.compiling import Compiled, compile_signals, encoded
from judgment.preferences.model import InvalidSignal, Signal
from judgment.preferences.signals import from_stored
from judgment.queue.bus import event_of_message

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

TYPE = "preference.captured"
VERSION = 1
Outcome = Literal["compiled", "up to date", "overtaken"]


class Recompiling:
    """Compiles owners. `begin` opens transactions as `judgment_worker` under an owner's claim."""

    def __init__(
        self,
        begin: Callable[[UUID], AbstractContextManager[Transaction]],
        clock: Clock = utc_now,
    ):
        self._begin = begin
        self._clock = clock

    def take(self, body: str) -> Outcome:
        """Do what a message of the bus says is due.

        Raises InvalidRequest for a message that is no event of ours, Unavailable when the database
        is down; nothing is changed then.
        """
        return self.compile(event_of_capture(body).user_id)

    def compile(self, owner: UUID) -> Outcome:
        """Bring an owner's documents up to date; `overtaken` when another compiler just did."""
        with self._begin(owner) as tx:
            there = store.revisions(tx, owner)
            if there is None or there[1] >= there[0]:
                return "up to date"
            statements = store.statements(tx, owner)
        compiled = self._compiled(statements)
        documents = {
            platform or "": (document["digest"], encoded(document))
            for platform, document in compiled.documents.items()
        }
        with self._begin(owner) as tx:
            now_there = store.revisions(tx, owner, lock=True)
            if now_there is None or now_there[1] >= there[0]:
                return "overtaken"
            store.keep_documents(tx, owner, documents, there[0])
            reach("compile.before_commit")
        reach("compile.after_commit")
        return "compiled"

    def _compiled(self, statements: list[Any]) -> Compiled:
        signals: list[Signal] = []
        for statement in statements:
            try:
                signals.append(from_stored(statement))
            except InvalidSignal:
                continue
        return compile_signals(signals, self._clock(), len(statements) - len(signals))


def event_of_capture(body: str) -> Event:
    """The event in a message that the rule for captures has put into the queue.

    Raises InvalidRequest for another source, another type, a later version, and what is no event.
    """
    event = event_of_message(body)
    envelope = cast("dict[str, Any]", json.loads(body))  # read once above, so it is an object
    if envelope.get("source") != SOURCE:
        raise InvalidRequest("The event is not one of ours.")
    if event.type != TYPE or envelope.get("detail-type") != TYPE:
        raise InvalidRequest("The event tells of something else than a capture.")
    if event.version != VERSION:
        raise InvalidRequest("The event is of a version that is not known here.")
    return event

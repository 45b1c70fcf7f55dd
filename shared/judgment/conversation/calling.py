"""One tool call from its event to its result: guarded, approved where it must be, carried out once.

An approval is a row, not a promise in memory. The stream that asked polls it; whoever finds it
decided first, this stream or a later turn, settles it, and settling and carrying out are one
transaction. So an approved call runs once, over files that are as the owner was shown them, or not
at all (rulings 13 and 30).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.contract.messages import (
    AnyEvent,
    ApprovalRequest,
    ApprovalResult,
    ToolCall,
    ToolResult,
    ToolStatus,
)
from judgment.conversation import store
from judgment.conversation.model import ToolRecord
from judgment.llm.chat import ToolUse
from judgment.memory.model import MemoryFailure, failure_output

if TYPE_CHECKING:
    from judgment.contract.conversations import ApprovalMode
    from judgment.conversation.guards import Guards
    from judgment.conversation.recording import Record
    from judgment.conversation.tools import TurnTools
    from judgment.db.connection import Transaction
    from judgment.memory.tools import Prepared

DENIED: dict[str, Any] = {"reason": "Denied by owner"}
Ended = Callable[[], bool]


class ToolBroke(Exception):
    """A tool failed in a way that the model cannot mend; its result has been told."""


class AwaitingApproval(Exception):
    """The owner has not decided while the stream could wait."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a call."""

    status: ToolStatus
    output: Any

    def event(self, call_id: str) -> ToolResult:
        """As the stream tells it."""
        return ToolResult(id=call_id, status=self.status, output=self.output)


@dataclass
class Calls:
    """The calls of one turn. `seen` is what the turn knows of each file: path to digest."""

    record: Record
    tools: TurnTools
    guards: Guards
    mode: ApprovalMode
    ended: Ended
    """Whether the turn must end: its time is up, its client is gone, or its owner said so."""
    wait: Callable[[], None]
    """Lets some time pass between two looks at an open approval."""
    seen: dict[str, str | None] = field(default_factory=dict[str, "str | None"])

    def carry_out(self, call: ToolUse) -> Generator[AnyEvent, None, Outcome]:
        """The events of one call; returns what became of it.

        Raises ToolBroke, AwaitingApproval, and Unavailable when storage is.
        """
        yield ToolCall(id=call.id, name=call.name, input=dict(call.arguments or {}))
        refused = self.guards.refusal(call)
        if refused is not None:
            outcome = self._told(call, Outcome("error", refused))
        else:
            outcome = yield from self._guarded(call)
        yield outcome.event(call.id)
        if outcome.status == "error" and not outcome.output.get("recoverable", True):
            raise ToolBroke
        return outcome

    def settle(self, approval: store.Approval) -> Outcome | None:
        """Carry out, or give up, what the owner decided; None when somebody else already has."""
        call = _as_call(approval)
        with self._begin() as tx:
            if not store.settle(tx, self._owner, approval.request_id, self.record.ledger.clock()):
                return None
            if approval.decision == "denied":
                outcome = Outcome("denied", DENIED)
            else:
                outcome = self._approved(tx, approval)
            content = _recorded(call, outcome).to_content()
            store.replace_content(
                tx,
                self._owner,
                approval.conversation_id,
                approval.tool_call_id,
                content,
                turn_id=approval.turn_id,
            )
        return outcome

    def _guarded(self, call: ToolUse) -> Generator[AnyEvent, None, Outcome]:
        given = call.arguments or {}
        with self._begin() as tx:
            prepared = self._prepared(tx, call)
            if isinstance(prepared, Outcome):
                return prepared
            if not prepared.writes or self.mode == "auto-approve":
                return self._run(tx, call, prepared)
            asked = store.Approval(
                request_id=self.record.ledger.new_id(),
                conversation_id=self.record.conversation_id,
                turn_id=self.record.turn_id,
                tool_call_id=call.id,
                tool_name=call.name,
                summary=f"{call.name} on {prepared.path or 'requested path'}",
                input=dict(given),
                expected=dict(prepared.expected),
                decision="pending",
                created_at=self.record.ledger.clock(),
            )
            self.record.tool(tx, _recorded(call, _awaiting(asked.request_id)))
            store.ask(tx, self._owner, asked)
        return (yield from self._decided(call, asked))

    def _decided(self, call: ToolUse, asked: store.Approval) -> Generator[AnyEvent, None, Outcome]:
        request_id = str(asked.request_id)
        yield ApprovalRequest(
            request_id=request_id, tool_name=asked.tool_name, summary=asked.summary
        )
        while True:
            with self._begin() as tx:
                now = store.approval(tx, self._owner, asked.request_id)
            if now is not None and now.decision != "pending":
                break
            if self.ended():
                raise AwaitingApproval
            self.wait()
        yield ApprovalResult(request_id=request_id, decision=now.decision)
        settled = self.settle(now)
        return settled or self._settled_elsewhere(call)

    def _settled_elsewhere(self, call: ToolUse) -> Outcome:
        with self._begin() as tx:
            kept = store.message(
                tx,
                self._owner,
                self.record.conversation_id,
                call.id,
                turn_id=self.record.turn_id,
            )
        told = kept and ToolRecord.from_content(call.id, kept.content)
        if not told:
            raise RuntimeError("A settled call has no message.")
        return Outcome(told.status, told.output)

    def _prepared(self, tx: Transaction, call: ToolUse) -> Prepared | Outcome:
        try:
            prepared = self.tools.prepare(
                tx, self._owner, call.name, call.arguments or {}, self.seen
            )
        except MemoryFailure as failure:
            return self._failed(tx, call, failure)
        if call.name == "memory_delete":
            refused = self.guards.deletion(prepared.path)
            if refused is not None:
                return self._kept(tx, call, Outcome("error", refused))
        return prepared

    def _run(self, tx: Transaction, call: ToolUse, prepared: Prepared) -> Outcome:
        try:
            ran = self.tools.run(tx, self._owner, prepared)
        except MemoryFailure as failure:
            return self._failed(tx, call, failure)
        self._learned(prepared.writes, ran.seen)
        return self._kept(tx, call, Outcome("ok", ran.output))

    def _approved(self, tx: Transaction, approval: store.Approval) -> Outcome:
        """Run it over the files as the owner was shown them. A failure changes no file."""
        try:
            prepared = self.tools.prepare(
                tx, self._owner, approval.tool_name, approval.input, approval.expected
            )
            ran = self.tools.run(tx, self._owner, prepared, approval.expected)
        except MemoryFailure as failure:
            return Outcome("error", failure.output())
        self._learned(True, ran.seen)
        return Outcome("ok", ran.output)

    def _learned(self, wrote: bool, seen: Mapping[str, str | None]) -> None:
        self.seen.update(seen)
        if wrote:
            self.guards.wrote(path for path, digest in seen.items() if digest is not None)

    def _told(self, call: ToolUse, outcome: Outcome) -> Outcome:
        with self._begin() as tx:
            return self._kept(tx, call, outcome)

    def _kept(self, tx: Transaction, call: ToolUse, outcome: Outcome) -> Outcome:
        self.record.tool(tx, _recorded(call, outcome))
        return outcome

    def _failed(self, tx: Transaction, call: ToolUse, failure: MemoryFailure) -> Outcome:
        return self._kept(tx, call, Outcome("error", failure.output()))

    def _begin(self) -> Any:
        return self.record.ledger.begin(self.record.user_id)

    @property
    def _owner(self) -> UUID:
        return self.record.user_id


def _recorded(call: ToolUse, outcome: Outcome) -> ToolRecord:
    given = dict(call.arguments or {})
    return ToolRecord(call.id, call.name, given, outcome.status, outcome.output)


def _awaiting(request_id: UUID) -> Outcome:
    told = failure_output(
        "awaiting_approval", "The owner has not decided yet. It is carried out when they approve."
    )
    return Outcome("error", told | {"request_id": str(request_id)})


def _as_call(approval: store.Approval) -> ToolUse:
    return ToolUse(approval.tool_call_id, approval.tool_name, approval.input)

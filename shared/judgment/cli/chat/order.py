"""The order of the events of one turn, as a small machine (seed 002 §20.1).

First, in pairs, what the owner decided since an earlier turn: `approval-result`, `tool-result`.
Then text and calls, one call after the other: `tool-call`, where the owner is asked
`approval-request` and `approval-result`, then `tool-result`. Then one `done` or `error`, and
nothing after it. A turn that ends while the owner is asked is `done` with `awaiting_approval`; an
`error` may end it anywhere, and must after a call that failed for good.
"""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

from judgment.cli.chat.violation import ShapeViolation

if TYPE_CHECKING:
    from judgment.contract.messages import (
        AnyEvent,
        ApprovalRequest,
        ApprovalResult,
        Decision,
        Done,
        ToolCall,
        ToolResult,
    )

AWAITING = "awaiting_approval"


class _State(Enum):
    BEGUN = auto()
    SETTLING = auto()
    """An earlier approval has been told; its result follows."""
    TALKING = auto()
    CALLED = auto()
    ASKED = auto()
    DECIDED = auto()
    BROKEN = auto()
    """A call failed for good; only an error follows."""
    ENDED = auto()


class Order:
    """Show it every event as it comes."""

    def __init__(self) -> None:
        self._state = _State.BEGUN
        self._calls: set[str] = set()
        self._call: ToolCall | None = None
        self._requests: set[str] = set()
        self._request = ""
        self._decision: Decision | None = None

    @property
    def ended(self) -> bool:
        """Whether the turn has had its end."""
        return self._state is _State.ENDED

    def take(self, event: AnyEvent) -> None:
        """The next event. Raises ShapeViolation when it may not come now."""
        if self.ended:
            raise ShapeViolation(event.type, "it comes after the end")
        if event.type == "error":
            self._state = _State.ENDED
        elif event.type == "done":
            self._end(event)
        elif event.type == "text-delta":
            self._expect(event, _State.BEGUN, _State.TALKING)
            self._state = _State.TALKING
        elif event.type == "tool-call":
            self._called(event)
        elif event.type == "approval-request":
            self._asked(event)
        elif event.type == "approval-result":
            self._decided(event)
        else:
            self._result(event)

    def _expect(self, event: AnyEvent, *states: _State) -> None:
        if self._state not in states:
            raise ShapeViolation(event.type, f"it may not come here ({self._state.name.lower()})")

    def _end(self, event: Done) -> None:
        self._expect(event, _State.BEGUN, _State.TALKING, _State.ASKED)
        if (event.finish_reason == AWAITING) is not (self._state is _State.ASKED):
            raise ShapeViolation(event.type, "its finish_reason does not fit what is open")
        self._state = _State.ENDED

    def _called(self, event: ToolCall) -> None:
        self._expect(event, _State.BEGUN, _State.TALKING)
        if event.id in self._calls:
            raise ShapeViolation(event.type, "an id twice")
        self._calls.add(event.id)
        self._call = event
        self._state = _State.CALLED

    def _asked(self, event: ApprovalRequest) -> None:
        self._expect(event, _State.CALLED)
        if event.request_id in self._requests:
            raise ShapeViolation(event.type, "a request_id twice")
        if self._call is None or event.tool_name != self._call.name:
            raise ShapeViolation(event.type, "it names another tool than the call")
        self._requests.add(event.request_id)
        self._request = event.request_id
        self._state = _State.ASKED

    def _decided(self, event: ApprovalResult) -> None:
        self._expect(event, _State.BEGUN, _State.ASKED)
        if self._state is _State.BEGUN:
            if event.request_id in self._requests:
                raise ShapeViolation(event.type, "settled twice")
            self._requests.add(event.request_id)
            self._state = _State.SETTLING
        elif event.request_id == self._request:
            self._state = _State.DECIDED
        else:
            raise ShapeViolation(event.type, "it answers no open request")
        self._decision = event.decision

    def _result(self, event: ToolResult) -> None:
        self._expect(event, _State.SETTLING, _State.CALLED, _State.DECIDED)
        is_earlier = self._state is _State.SETTLING
        if not is_earlier and (self._call is None or event.id != self._call.id):
            raise ShapeViolation(event.type, "it answers another call than the open one")
        if (event.status == "denied") is not (self._decision == "denied"):
            raise ShapeViolation(event.type, "its status does not fit the decision")
        self._decision = None
        if is_earlier:
            self._state = _State.BEGUN
        elif event.status == "error" and not event.output["recoverable"]:
            self._state = _State.BROKEN
        else:
            self._state = _State.TALKING

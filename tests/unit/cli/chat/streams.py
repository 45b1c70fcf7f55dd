"""Turns as a server may tell them, at random, and a second opinion on what a right one is."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from judgment.contract import messages as wire
from tests.fakes.message_gateway import frame

if TYPE_CHECKING:
    from judgment.contract.messages import AnyEvent

TEXT = st.text(max_size=8)
FAILURE = {"code": "not_found", "message": "It is not there.", "recoverable": True}
DENIAL = {"reason": "Denied by owner"}
LETTERS = {
    "text-delta": "t",
    "tool-call": "c",
    "approval-request": "q",
    "approval-result": "a",
    "tool-result": "r",
    "done": "d",
    "error": "e",
}
RIGHT = re.compile("(ar)*(t|cr|cqar)*(d|cqd|e|ae|ce|cqe|cqae)")


def result(call_id: str, decision: str | None, failed: bool) -> wire.ToolResult:
    """What became of a call that was decided so, or needed no decision."""
    if decision == "denied":
        return wire.ToolResult(id=call_id, status="denied", output=DENIAL)
    if failed:
        return wire.ToolResult(id=call_id, status="error", output=FAILURE)
    return wire.ToolResult(id=call_id, status="ok", output={"path": "me/todo.md"})


@st.composite
def turns(draw: st.DrawFn) -> list[AnyEvent]:
    """A right turn."""
    number = 0
    told: list[AnyEvent] = []
    decisions = st.sampled_from(["approved", "denied"])
    for _ in range(draw(st.integers(0, 2))):
        number += 1
        decision: Any = draw(decisions)
        told.append(wire.ApprovalResult(request_id=f"q{number}", decision=decision))
        told.append(result(f"early{number}", decision, draw(st.booleans())))
    for kind in draw(st.lists(st.sampled_from(["text", "call", "asked"]), max_size=5)):
        number += 1
        if kind == "text":
            told.append(wire.TextDelta(delta=draw(TEXT)))
            continue
        told.append(wire.ToolCall(id=f"c{number}", name="memory_write", input={draw(TEXT): 1}))
        decision = draw(decisions) if kind == "asked" else None
        if decision is not None:
            told += [_asks(number), wire.ApprovalResult(request_id=f"q{number}", decision=decision)]
        told.append(result(f"c{number}", decision, draw(st.booleans())))
    end = draw(st.sampled_from(["done", "error", "awaiting"]))
    if end == "error":
        return [*told, wire.Failed(code="tool_error", message=draw(TEXT))]
    if end == "awaiting":
        told += [wire.ToolCall(id="last", name="memory_write", input={}), _asks(99)]
    reason = "awaiting_approval" if end == "awaiting" else "stop"
    return [*told, wire.Done(conversation_id="k", message_id="m", finish_reason=reason)]


def _asks(number: int) -> wire.ApprovalRequest:
    return wire.ApprovalRequest(
        request_id=f"q{number}", tool_name="memory_write", summary="memory_write on me/todo.md"
    )


def written(events: Sequence[AnyEvent]) -> bytes:
    """The turn's bytes."""
    return b"".join(map(frame, events))


def altered(event: AnyEvent, change: dict[str, Any], gone: str = "") -> bytes:
    """A frame of the event with other fields."""
    fields = {**event.model_dump(exclude={"type"}), **change}
    fields.pop(gone, None)
    return f"event: {event.type}\ndata: {json.dumps(fields)}\n\n".encode()


def is_right(events: Sequence[AnyEvent]) -> bool:
    """Whether the order is right: by a pattern over the kinds, then by what must be the same."""
    kinds = "".join(LETTERS[event.type] for event in events)
    if RIGHT.fullmatch(kinds) is None:
        return False
    calls = [event.id for event in events if event.type == "tool-call"]
    requests = [event.request_id for event in events if event.type == "approval-request"]
    early = len(re.match("(ar)*a?", kinds)[0])  # type: ignore[index]
    settled = [event.request_id for event in events[:early] if event.type == "approval-result"]
    if any(len(set(ids)) < len(ids) for ids in (calls, requests + settled)):
        return False
    return (
        all(_fit(one, after) for one, after in pairwise(events))
        and _results_fit(events)
        and _ending_fits(events)
    )


def _fit(one: AnyEvent, after: AnyEvent) -> bool:
    """Whether two neighbours speak of the same."""
    if one.type == "tool-call" and after.type == "tool-result":
        return one.id == after.id
    if one.type == "approval-request" and after.type == "approval-result":
        return one.request_id == after.request_id
    return True


def _results_fit(events: Sequence[AnyEvent]) -> bool:
    call, decision = None, None
    for at, event in enumerate(events):
        if event.type == "tool-call":
            call, decision = event.id, None
        elif event.type == "approval-result":
            decision = event.decision
        elif event.type == "tool-result":
            if (event.status == "denied") is not (decision == "denied"):
                return False
            if call is not None and event.id != call:
                return False
            is_lost = event.status == "error" and not event.output["recoverable"]
            if call is not None and is_lost and events[at + 1].type != "error":
                return False
            decision = None
    return True


def _ending_fits(events: Sequence[AnyEvent]) -> bool:
    last = events[-1]
    if last.type == "error":
        return True
    is_asked = len(events) > 1 and events[-2].type == "approval-request"
    return last.type == "done" and (last.finish_reason == "awaiting_approval") is is_asked

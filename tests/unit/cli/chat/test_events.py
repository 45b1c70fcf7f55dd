"""A stream is taken as the contract has it, in any pieces, and in no other form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.cli.chat.events import Received, read_events
from judgment.cli.chat.frames import LINE_BYTES, Frames
from judgment.cli.chat.violation import ShapeViolation
from judgment.contract.messages import (
    AnyEvent,
    ApprovalRequest,
    ApprovalResult,
    Done,
    Failed,
    TextDelta,
    ToolCall,
    ToolResult,
)
from tests.unit.cli.chat.streams import altered, is_right, turns, written

pytestmark = pytest.mark.promise("P4-message-events", "P4-chat", "002-20.1", "AC-034")

DONE = Done(conversation_id="k", message_id="m", finish_reason="stop")
END = written([DONE])
HELLO = b'event: text-delta\ndata: {"delta":"Hello"}\n\n'
AS_WRITTEN = (TextDelta(delta="Hello"), DONE)


def read(*pieces: bytes) -> tuple[AnyEvent, ...]:
    return tuple(received.event for received in read_events(pieces))


def violation(*pieces: bytes) -> ShapeViolation:
    with pytest.raises(ShapeViolation) as raised:
        read(*pieces)
    return raised.value


@given(turns(), st.lists(st.integers(0, 4_000), max_size=20), st.booleans(), st.booleans())
def test_any_pieces_of_any_turn_give_its_events(
    events: list[AnyEvent], cuts: list[int], crlf: bool, heartbeats: bool
) -> None:
    raw = b"".join(
        (b": keep-alive\n\n" if heartbeats else b"") + written([event]) for event in events
    )
    raw = raw.replace(b"\n", b"\r\n") if crlf else raw
    ends = sorted({0, len(raw), *(cut for cut in cuts if cut < len(raw))})
    pieces = [raw[start:end] for start, end in pairwise(ends)]
    assert read(*pieces) == tuple(events)
    assert read(*(bytes([byte]) for byte in raw)) == tuple(events)


def test_data_are_kept_as_they_came() -> None:
    raw = b'event: text-delta\ndata: {"delta" : "\\u00e9"}\n\n'
    assert next(iter(read_events([raw, END]))) == Received(
        TextDelta(delta="\u00e9"), '{"delta" : "\\u00e9"}'
    )


def _mutations(events: Sequence[AnyEvent], data: st.DataObject) -> list[AnyEvent]:
    """One event dropped, told twice, or told in its neighbour's place."""
    at = data.draw(st.integers(0, len(events) - 1))
    how = data.draw(st.sampled_from(["drop", "twice", "swap", "later"]))
    told = list(events)
    one = told.pop(at)
    if how == "twice":
        return [*events[: at + 1], *events[at:]]
    if how == "swap":
        told.insert(min(at + 1, len(told)), one)
    elif how == "later":
        told.insert(data.draw(st.integers(0, len(told))), one)
    return told


@given(turns(), st.data())
def test_one_event_too_few_too_many_or_out_of_place_is_caught(
    events: list[AnyEvent], data: st.DataObject
) -> None:
    assert is_right(events)
    told = _mutations(events, data)
    if told and is_right(told):
        assert read(written(told)) == tuple(told)
    else:
        violation(written(told))


@given(turns(), st.data())
def test_one_field_renamed_missing_added_or_of_another_type_is_caught(
    events: list[AnyEvent], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(events) - 1))
    event = events[at]
    field = data.draw(st.sampled_from(sorted(event.model_dump(exclude={"type"}))))
    value = getattr(event, field)
    how = data.draw(st.sampled_from(["missing", "renamed", "added", "type"]))
    if how == "missing":
        wrong = altered(event, {}, gone=field)
    elif how == "renamed":
        wrong = altered(event, {f"{field}s": value}, gone=field)
    elif how == "added":
        wrong = altered(event, {data.draw(st.sampled_from(["extra", "type", "i"])): "x"})
    elif field == "output":
        wrong = altered(event, {"status": "error", "output": data.draw(st.sampled_from([None, 1]))})
    else:
        wrong = altered(event, {field: data.draw(st.sampled_from([None, 1, True, [value]]))})
    found = violation(written(events[:at]) + wrong + written(events[at + 1 :]))
    assert found.event == event.type
    assert event.type in str(found)


@given(turns(), st.integers(1, 400))
def test_a_stream_cut_short_is_never_taken_for_a_turn(events: list[AnyEvent], cut: int) -> None:
    raw = written(events)
    violation(raw[: max(0, len(raw) - cut)])


@pytest.mark.parametrize(
    "raw",
    [
        b": keep-alive\n\n" + HELLO + END,
        b"\n\n" + HELLO + b"\n" + END,
        HELLO + b":\n" + END + b": keep-alive\n\n",
        b'data: {"delta":"Hello"}\nevent: text-delta\n\n' + END,
        b'event:text-delta\ndata:{"delta":"Hello"}\n\n' + END,
        b'event: text-delta\n: keep-alive\ndata: {"delta":"Hello"}\n\n' + END,
    ],
)
def test_what_the_standard_allows_and_changes_nothing_is_read(raw: bytes) -> None:
    assert read(raw) == AS_WRITTEN


@pytest.mark.parametrize(
    ("raw", "event"),
    [
        (b"", "stream"),
        (HELLO, "stream"),
        (END.replace(b"done", b"finished"), "stream"),
        (b"data: {}\n\n", "stream"),
        (b"event: done\n\n", "done"),
        (b"id: 1\n" + END, "stream"),
        (b"event: done\nretry: 5\n" + END, "done"),
        (b"event: done\n" + END, "done"),
        (END.replace(b"\n\n", b"\ndata: {}\n\n"), "done"),
        (b"\xff\n" + END, "stream"),
        (b'event: text-delta\ndata: {"delta":"\xff"}\n\n' + END, "text-delta"),
        (b"event: text-delta\ndata: [1]\n\n" + END, "text-delta"),
        (b'event: text-delta\ndata: {"delta":"a","delta":"b"}\n\n' + END, "text-delta"),
        (b'event: text-delta\ndata: {"delta":NaN}\n\n' + END, "text-delta"),
        (b"event: tool-call\ndata: " + b'{"input":' * 5_000 + b"\n\n" + END, "tool-call"),
        (b'event: tool-call\ndata: {"id":"c","name":"n","input":{"a":1e999}}\n\n', "tool-call"),
        (END + HELLO, "text-delta"),
        (END + END, "done"),
        (END + b"event: done\n", "done"),
        (END + b"d", "stream"),
        (HELLO.replace(b"{", b'{"type":"text-delta",') + END, "text-delta"),
        (written([Failed(code="tool_error", message="m"), DONE]), "done"),
        (b'event: error\ndata: {"code":"other","message":"m"}\n\n', "error"),
    ],
)
def test_what_is_not_as_agreed_is_named(raw: bytes, event: str) -> None:
    assert violation(raw).event == event
    assert violation(*(bytes([byte]) for byte in raw)).event == event


@pytest.mark.parametrize(
    ("status", "output"),
    [
        ("error", {"code": "not_found", "message": "m"}),
        ("error", {"code": "not_found", "message": "m", "recoverable": "yes"}),
        ("error", {"code": "not_found", "message": "m", "recoverable": True, "path": "/srv/x"}),
        ("error", "not found"),
        ("denied", {"reason": "Denied by owner"}),
        ("fine", {}),
    ],
)
def test_a_failure_has_the_shape_of_a_failure_and_nobody_denied_unasked(
    status: str, output: object
) -> None:
    call = ToolCall(id="c", name="memory_read", input={})
    raw = altered(ToolResult(id="c", status="ok", output=None), {"status": status}, "output")
    raw = raw.replace(b"}", b', "output": ' + json.dumps(output).encode() + b"}", 1)
    assert violation(written([call]) + raw + END).event == "tool-result"


def test_a_call_that_failed_for_good_ends_the_turn_in_an_error() -> None:
    output = {"code": "execution_failed", "message": "m", "recoverable": False}
    told: list[AnyEvent] = [
        ToolCall(id="c", name="memory_read", input={}),
        ToolResult(id="c", status="error", output=output),
    ]
    error = Failed(code="tool_error", message="Tool execution failed")
    assert read(written([*told, error])) == (*told, error)
    assert violation(written([*told, DONE])).event == "done"
    assert violation(written([*told, TextDelta(delta="On I go.")])).event == "text-delta"


CALL = ToolCall(id="c", name="memory_write", input={})
RESULT = ToolResult(id="c", status="ok", output={})
ASKS = ApprovalRequest(request_id="q", tool_name="memory_write", summary="s")
YES = ApprovalResult(request_id="q", decision="approved")
OPEN_END = DONE.model_copy(update={"finish_reason": "awaiting_approval"})


@pytest.mark.parametrize(
    ("told", "at_fault"),
    [
        ([CALL, RESULT, CALL, RESULT, DONE], "tool-call"),
        ([CALL, RESULT.model_copy(update={"id": "d"}), DONE], "tool-result"),
        (
            [CALL, ASKS, YES, RESULT, CALL.model_copy(update={"id": "d"}), ASKS],
            "approval-request",
        ),
        ([YES, RESULT, CALL, ASKS], "approval-request"),
        ([YES, RESULT, YES, RESULT, DONE], "approval-result"),
        ([CALL, ASKS, YES.model_copy(update={"request_id": "r"})], "approval-result"),
        ([CALL, ASKS.model_copy(update={"tool_name": "memory_read"})], "approval-request"),
        ([CALL, ASKS, DONE], "done"),
        ([OPEN_END], "done"),
        ([CALL, ASKS, YES, RESULT, OPEN_END], "done"),
        ([CALL, DONE], "done"),
        ([CALL, ASKS, YES, DONE], "done"),
        ([YES, DONE], "done"),
    ],
)
def test_what_belongs_together_names_the_same(told: list[AnyEvent], at_fault: str) -> None:
    assert violation(written(told)).event == at_fault
    assert not is_right(told)


def test_a_stream_without_line_ends_does_not_fill_the_memory() -> None:
    frames = Frames()
    piece = b"x" * (LINE_BYTES // 4)
    for _ in range(4):
        assert list(frames.feed(piece)) == []
    with pytest.raises(ShapeViolation, match="too long"):
        list(frames.feed(b"x"))


def test_a_violation_repeats_nothing_of_what_was_said() -> None:
    found = violation(b'event: text-delta\ndata: {"delta": 5, "my secret": 1}\n\n')
    assert "secret" not in str(found)

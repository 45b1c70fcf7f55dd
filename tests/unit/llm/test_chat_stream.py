"""A stream says the same however it was cut, and its calls lose nothing and mix nothing."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.llm.chat_stream import Heard, objects
from judgment.llm.structured_tools import WrongShape, answered, schema
from judgment.llm.tool_calls import ToolCalls
from judgment.llm.written import clean
from tests.unit.llm.chatting import DONE, READ, line, piece

TEXTS = st.lists(st.text(max_size=20), max_size=6)
NAMES = st.sampled_from(["f", "g", "h"])
KEPT = st.characters(exclude_categories=["Cs"], exclude_characters="\0")
ARGUMENTS = st.dictionaries(
    st.text(KEPT, max_size=5), st.integers() | st.text(KEPT, max_size=10), max_size=3
)


def heard(parts: list[bytes]) -> tuple[str, list[tuple[str, Any]], bool]:
    one = Heard()
    text = "".join([one.take(found) for found in objects(parts)])
    return text, [(call.name, call.arguments) for call in one.calls.finished()], one.ended


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    marks = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[a:b] for a, b in pairwise(marks)]


@pytest.mark.promise("P4-provider")
@given(
    TEXTS,
    st.lists(st.tuples(NAMES, ARGUMENTS), max_size=3),
    st.lists(st.integers(min_value=0), max_size=8),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_cutting_a_stream_changes_nothing(
    texts: list[str], calls: list[tuple[str, Any]], places: list[int], end: bytes
) -> None:
    parts = [line({"content": text}) for text in texts]
    parts += [
        piece(number, id=f"c{number}", name=name, arguments=json.dumps(given))
        for number, (name, given) in enumerate(calls)
    ]
    stream = (b"".join(parts) + line({}, "stop") + DONE).replace(b"\n", end)
    whole = heard([stream])
    assert whole == (clean("".join(texts)), calls, True)
    assert heard(cut(stream, places)) == whole
    assert heard([bytes([byte]) for byte in stream]) == whole


@pytest.mark.promise("P4-provider")
@given(
    st.lists(st.integers(min_value=0), max_size=8),
    st.sampled_from([b"\n", b"\r\n", b"\r"]),
)
def test_an_event_of_several_lines_is_one_however_it_is_cut(places: list[int], end: bytes) -> None:
    event = {"choices": [{"index": 0, "delta": {"content": "Yes."}, "finish_reason": "stop"}]}
    told = "".join(f"data: {one}\n" for one in json.dumps(event, indent=1).split("\n"))
    stream = (told.encode() + b"\n" + DONE).replace(b"\n", end)
    assert heard(cut(stream, places)) == ("Yes.", [], True)
    assert heard([bytes([byte]) for byte in stream]) == ("Yes.", [], True)


@pytest.mark.promise("P4-provider-calls")
@given(
    st.lists(st.tuples(NAMES, ARGUMENTS), min_size=1, max_size=4),
    st.data(),
    st.sampled_from(["own", "nought", "none"]),
)
def test_calls_with_ids_come_whole_whatever_their_index_says(
    calls: list[tuple[str, Any]], data: st.DataObject, index: str
) -> None:
    made = ToolCalls()
    for number, (name, given_) in enumerate(calls):
        text = json.dumps(given_)
        at = data.draw(st.integers(0, len(text)))
        for first, bit in ((True, text[:at]), (False, text[at:])):
            told: dict[str, Any] = {"id": f"c{number}", "function": {"arguments": bit}}
            told["function"] |= {"name": name} if first else {}
            told |= {"own": {"index": number}, "nought": {"index": 0}, "none": {}}[index]
            made.add([told])
    finished = made.finished()
    assert [(call.name, call.arguments) for call in finished] == calls
    assert [call.id for call in finished] == [f"c{number}" for number in range(len(calls))]


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5),
                    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(
                        st.sampled_from(["index", "id", "function", "name", "arguments", "x"]),
                        inner, max_size=4)))  # fmt: skip
def test_pieces_of_any_form_break_nothing(pieces: Any) -> None:
    made = ToolCalls()
    made.add(pieces)
    made.add([pieces])
    finished = made.finished()
    assert len({call.id for call in finished}) == len(finished)
    assert all((call.arguments is None) == (call.problem is not None) for call in finished)


@given(st.text() | st.from_regex(r"\{.*\}"))
def test_an_answer_is_words_a_call_that_is_offered_or_wrong(text: str) -> None:
    try:
        found = answered(text, [READ], "c1")
    except WrongShape:
        return
    assert isinstance(found, str) or (
        found.name == "memory_read" and set(found.arguments) <= {"path"}
    )


def test_the_schema_of_an_answer_is_closed_and_flat() -> None:
    for one in schema([READ])["anyOf"]:
        assert one["additionalProperties"] is False
        assert all(kind["type"] == "string" for kind in one["properties"].values())


@given(st.text(st.characters(codec=None)))
def test_what_is_clean_can_be_kept(text: str) -> None:
    made = clean(text)
    assert "\0" not in made
    assert made.encode("utf-8").decode("utf-8") == made
    assert clean(made) == made

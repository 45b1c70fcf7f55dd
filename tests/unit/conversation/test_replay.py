"""A stored conversation told again: whatever was stored, a provider takes it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.conversation.model import Message, ToolRecord
from judgment.conversation.replay import units

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from judgment.conversation.model import Role
    from judgment.conversation.replay import Unit
    from judgment.llm.chat import ChatMessage

AT = datetime(2026, 7, 26, tzinfo=UTC)


def kept(position: int, turn: int, role: Role, content: str, name: str = "m") -> Message:
    return Message(name, UUID(int=turn), role, content, AT, position)


def tool(position: int, turn: int, name: str, path: str = "me/profile.md") -> Message:
    record = ToolRecord(name, "memory_read", {"path": path}, "ok", {"path": path, "content": "x"})
    return kept(position, turn, "tool", record.to_content(), name)


def shape(told: Sequence[Unit]) -> list[list[tuple[str, str, list[str]]]]:
    """Role, text (of a tool, the call that it answers), and calls of each message."""
    return [
        [
            (one.role, one.call_id or one.text, [call.id for call in one.calls])
            for one in unit.messages
        ]
        for unit in told
    ]


def assert_a_provider_takes(told: Sequence[ChatMessage]) -> None:
    """Each answer follows, with other answers at most between, the message that makes its call;
    each call has one answer; no id is there twice."""
    open_calls: list[str] = []
    for message in told:
        if message.role == "tool":
            assert message.call_id in open_calls
            assert not message.calls
            open_calls.remove(message.call_id)
            continue
        assert not open_calls
        assert message.call_id is None
        if message.role == "assistant":
            assert message.calls or message.text.strip()
            open_calls = [call.id for call in message.calls]
        else:
            assert message.role == "user"
            assert not message.calls
    assert not open_calls
    made = Counter(call.id for message in told for call in message.calls)
    assert set(made.values()) <= {1}
    assert "" not in made


@pytest.mark.promise("P4-conversations", "P4-message-loop", "002-12.1")
def test_calls_stand_at_the_words_before_them_and_are_grouped() -> None:
    told = units(
        [
            kept(1, 1, "user", "Hi"),
            kept(2, 1, "assistant", "I look."),
            tool(3, 1, "a"),
            tool(4, 1, "b"),
            kept(5, 1, "assistant", "One thing."),
            kept(6, 1, "assistant", "And another."),
            kept(7, 2, "user", "Again"),
            tool(8, 2, "c"),
        ]
    )
    assert shape(told) == [
        [
            ("user", "Hi", []),
            ("assistant", "I look.", ["a", "b"]),
            ("tool", "a", []),
            ("tool", "b", []),
            ("assistant", "One thing.", []),
            ("assistant", "And another.", []),
        ],
        [("user", "Again", []), ("assistant", "", ["c"]), ("tool", "c", [])],
    ]
    answer = told[0].messages[2]
    assert json.loads(answer.text) == {
        "status": "ok",
        "output": {"path": "me/profile.md", "content": "x"},
    }
    assert told[0].messages[1].calls[0].arguments == {"path": "me/profile.md"}


@pytest.mark.promise("P4-conversations")
def test_turns_that_ran_at_once_are_told_one_after_the_other() -> None:
    at_once = [
        kept(1, 1, "user", "first"),
        kept(2, 2, "user", "second"),
        tool(3, 2, "two"),
        tool(4, 1, "one"),
        kept(5, 2, "assistant", "to second"),
        kept(6, 1, "assistant", "to first"),
    ]
    told = units(list(reversed(at_once)))
    assert [unit.turn_id.int for unit in told] == [1, 2]
    assert [[one.text for one in unit.messages if one.role != "tool"] for unit in told] == [
        ["first", "", "to first"],
        ["second", "", "to second"],
    ]


@pytest.mark.promise("P4-conversations")
@pytest.mark.parametrize("content", ["", "old notes", '{"status":"ok","output":1}', "[1]"])
def test_a_tool_message_that_names_no_call_is_left_out(content: str) -> None:
    told = units([kept(1, 1, "user", "Hi"), kept(2, 1, "tool", content, "x")])
    assert shape(told) == [[("user", "Hi", [])]]
    assert units([kept(1, 1, "tool", content, "x")]) == []


@pytest.mark.promise("P4-conversations", "P4-provider-calls")
def test_calls_of_one_id_are_told_apart() -> None:
    told = units(
        [
            *(tool(place, 1, "call_0", f"{place}.md") for place in (1, 2)),
            tool(3, 2, "call_0", "3.md"),
            tool(4, 2, "call_0-2", "4.md"),
        ]
    )
    flat = [message for unit in told for message in unit.messages]
    assert_a_provider_takes(flat)
    paths = {c.id: (c.arguments or {})["path"] for one in flat for c in one.calls}
    answered = {one.call_id: json.loads(one.text) for one in flat if one.role == "tool"}
    assert {name: answered[name]["output"]["path"] for name in paths} == paths
    assert sorted(paths.values()) == ["1.md", "2.md", "3.md", "4.md"]


@pytest.mark.promise("P4-conversations")
def test_a_silence_is_not_told() -> None:
    assert shape(units([kept(1, 1, "user", " "), kept(2, 1, "assistant", " \n")])) == [
        [("user", " ", [])]
    ]


contents = st.one_of(
    st.text(max_size=5),
    st.sampled_from(["", " ", "{}", '{"status":"ok","output":null,"call":{"name":"a"}}']),
    st.builds(
        lambda status: ToolRecord("", "memory_read", {"path": "a"}, status, {}).to_content(),
        st.sampled_from(["ok", "denied", "error"]),
    ),
)
messages = st.lists(
    st.builds(
        Message,
        id=st.sampled_from(["", "a", "a-2", "b", "call"]),
        turn_id=st.integers(1, 3).map(lambda number: UUID(int=number)),
        role=st.sampled_from(["user", "assistant", "tool"]),
        content=contents,
        sent_at=st.just(AT),
        position=st.just(0),
    ),
    max_size=14,
).map(lambda made: [replace(one, position=place) for place, one in enumerate(made, 1)])


@pytest.mark.promise("P4-conversations", "P4-message-loop", "002-12.1")
@given(messages, st.randoms())
def test_whatever_was_stored_is_told_in_pairs(stored: list[Message], chance: Random) -> None:
    shuffled = list(stored)
    chance.shuffle(shuffled)
    told = units(shuffled)
    assert told == units(stored)
    assert_a_provider_takes([one for unit in told for one in unit.messages])


@pytest.mark.promise("P4-conversations")
@given(messages)
def test_nothing_that_was_said_is_lost_or_told_out_of_order(stored: list[Message]) -> None:
    told = {unit.turn_id: unit.messages for unit in units(stored)}
    for turn_id in {one.turn_id for one in stored}:
        turn = [one for one in stored if one.turn_id == turn_id]
        said = [
            (one.role, one.content)
            for one in turn
            if one.role == "user" or (one.role == "assistant" and one.content.strip())
        ]
        told_again = [
            (one.role, one.text)
            for one in told.get(turn_id, ())
            if one.role == "user" or (one.role == "assistant" and one.text.strip())
        ]
        assert told_again == said
        recorded = [
            one for one in turn if one.role == "tool" and ToolRecord.from_content("", one.content)
        ]
        assert sum(one.role == "tool" for one in told.get(turn_id, ())) == len(recorded)

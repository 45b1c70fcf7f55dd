"""What a conversation has seen of files is what its record gives, and no more."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.conversation.knowledge import known
from judgment.conversation.model import Message, ToolRecord
from judgment.kit.hashing import sha256_hex

NOW = datetime(2026, 12, 1, tzinfo=UTC)
TURN = uuid.uuid4()

pytestmark = pytest.mark.promise("P4-memory-cas", "P4-memory-owner")


def told(name: str, given: dict[str, Any], output: Any, status: Any = "ok") -> Message:
    record = ToolRecord("c", name, given, status, output)
    return Message("c", TURN, "tool", record.to_content(), NOW, 1)


def read(path: str, text: str) -> Message:
    return told("memory_read", {"path": path}, {"path": path, "content": text})


def write(path: str, text: str) -> Message:
    given = {"path": path, "content": text}
    return told("memory_write", given, {"path": path, "bytes_written": len(text)})


def edit(path: str, find: str, replace: str) -> Message:
    given = {"path": path, "find": find, "replace": replace}
    return told("memory_edit", given, {"path": path, "updated": True})


def delete(path: str) -> Message:
    return told("memory_delete", {"path": path}, {"path": path, "deleted": True})


def test_the_last_of_reading_writing_and_editing_counts() -> None:
    seen = known([read("a", "one"), write("b", "two"), edit("a", "n", "N"), read("b", "three")])
    assert seen == {"a": sha256_hex("oNe"), "b": sha256_hex("three")}


def test_what_was_deleted_is_known_to_be_absent() -> None:
    assert known([read("d/a", "x"), read("e", "y"), delete("d")]) == {
        "d/a": None,
        "e": sha256_hex("y"),
    }


@pytest.mark.parametrize(
    "message",
    [
        edit("a", "not there", "x"),
        edit("b", "x", "y"),
        told("memory_read", {"path": "a"}, {"code": "not_found"}, "error"),
        told("memory_list", {"path": "a"}, {"path": "a", "entries": []}),
        told("memory_read", {"path": "a"}, "odd"),
        told("memory_read", {"path": "a"}, {"path": 7, "content": "x"}),
        Message("m", TURN, "user", '{"status": "ok"}', NOW, 1),
        Message("m", TURN, "tool", "damaged", NOW, 1),
    ],
)
def test_of_what_cannot_be_told_nothing_is_said(message: Message) -> None:
    assert known([message]) == {}
    assert set(known([read("z", "kept"), message])) == {"z"}


@given(
    st.lists(
        st.tuples(st.sampled_from(["read", "write", "edit", "delete"]), st.text("ab", max_size=4)),
        max_size=12,
    )
)
def test_following_a_file_through_its_record_gives_the_file(steps: list[tuple[str, str]]) -> None:
    """Whatever a lone writer did, what is known of the file is what it holds."""
    text: str | None = None
    messages: list[Message] = []
    for step, word in steps:
        if step == "write":
            text = word
            messages.append(write("f", word))
        elif text is None:
            continue
        elif step == "read":
            messages.append(read("f", text))
        elif step == "delete":
            text = None
            messages.append(delete("f"))
        elif word and text.count(word) == 1 and text.find(word, text.find(word) + 1) < 0:
            text = text.replace(word, "B")
            messages.append(edit("f", word, "B"))
    seen = known(messages)
    assert seen == ({} if not messages else {"f": None if text is None else sha256_hex(text)})

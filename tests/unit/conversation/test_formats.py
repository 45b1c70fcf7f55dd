"""The reference's files: written as it writes them, read whole or not at all."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from itertools import groupby
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.conversation.fields import MOST_CHARACTERS
from judgment.conversation.formats import (
    DamagedFile,
    parse_conversation,
    parse_index,
    parse_projects,
    render_conversation,
    render_index,
    render_projects,
)
from judgment.conversation.model import (
    Conversation,
    Message,
    Project,
    ToolRecord,
    json_value,
    parse_timestamp,
    timestamp,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgment.contract.messages import ToolStatus

NOON = datetime(2026, 7, 26, 12, 0, 0, 5000, tzinfo=UTC)
TURN = UUID(int=1)
HOSTILE = (
    "```\n## message x\n```json\n---\r\n# Heading\u2028\u2029\x85 \x0b\x0c\x1b \U0001f9ed \\ \" '"
)
FILE = """---
id: "c-1"
title: "Hello \\"you\\""
created_at: "2026-07-26T12:00:00.005Z"
updated_at: "2026-07-26T12:00:01.000Z"
message_count: 2
active_skill_ids: ["s1"]
---

## message m1
```json
{"id":"m1","role":"user","timestamp":"2026-07-26T12:00:00.005Z","content":"Hello \\"you\\""}
```

## message m2
```json
{"id":"m2","role":"assistant","timestamp":"2026-07-26T12:00:01.000Z","content":"a\\n```\\nb"}
```
"""
CONVERSATION = Conversation("c-1", 'Hello "you"', NOON, NOON.replace(second=1, microsecond=0), 2)

storable = st.characters(exclude_categories=("Cs",), exclude_characters="\0")
texts = st.one_of(st.text(storable), st.just(HOSTILE), st.text("`#-\n\r\u2028 m"))
names = st.one_of(st.text(storable, min_size=1, max_size=40), st.just(HOSTILE))
slugs = st.from_regex(r"[a-z0-9][a-z0-9-]{0,20}", fullmatch=True)
ids = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", fullmatch=True)
moments = st.datetimes(timezones=st.just(UTC)).map(
    lambda moment: moment.replace(microsecond=moment.microsecond // 1000 * 1000)
)


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Conversation, list[Message]]:
    messages = [
        Message(
            id=draw(names),
            turn_id=uuid4(),
            role=draw(st.sampled_from(["user", "assistant", "tool"])),
            content=draw(texts),
            sent_at=draw(moments),
            position=place,
        )
        for place in range(1, draw(st.integers(1, 6)))
    ]
    skills = tuple(draw(st.lists(names, max_size=3)))
    conversation = Conversation(
        draw(ids), draw(names), draw(moments), draw(moments), len(messages), skills
    )
    return conversation, messages


@pytest.mark.promise("P4-conversations", "R-41", "002-12.1")
def test_a_conversation_is_the_references_markdown() -> None:
    conversation, messages = parse_conversation(FILE)
    assert conversation == replace(CONVERSATION, active_skill_ids=("s1",))
    assert [(one.id, one.role, one.content, one.position) for one in messages] == [
        ("m1", "user", 'Hello "you"', 1),
        ("m2", "assistant", "a\n```\nb", 2),
    ]
    assert messages[0].sent_at == NOON
    assert render_conversation(conversation, messages) == FILE


@pytest.mark.promise("P4-conversations")
@given(conversations())
def test_any_conversation_comes_back_as_it_was(
    made: tuple[Conversation, list[Message]],
) -> None:
    conversation, messages = made
    text = render_conversation(conversation, messages)
    text.encode()
    again, read = parse_conversation(text)
    assert again == conversation
    unturned = [replace(one, turn_id=TURN) for one in messages]
    assert [replace(one, turn_id=TURN) for one in read] == unturned
    assert render_conversation(again, read) == text
    assert parse_conversation(text.replace("\n", "\r\n")) == (again, read)


@pytest.mark.promise("P4-conversations")
@given(conversations())
def test_each_message_of_the_owner_begins_a_turn(made: tuple[Conversation, list[Message]]) -> None:
    _, read = parse_conversation(render_conversation(*made))
    turns = [list(turn) for _, turn in groupby(read, key=lambda one: one.turn_id)]
    assert len({one.turn_id for one in read}) == len(turns)
    for turn in turns[1:]:
        assert turn[0].role == "user"
    assert all(one.role != "user" for turn in turns for one in turn[1:])


@pytest.mark.promise("P4-conversations")
@given(conversations(), st.data())
def test_no_part_of_a_conversation_is_read_for_the_whole(
    made: tuple[Conversation, list[Message]], data: st.DataObject
) -> None:
    text = render_conversation(*made)
    end = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(DamagedFile):
        parse_conversation(text[:end])


def edited(old: str, new: str) -> str:
    assert FILE.count(old) >= 1
    return FILE.replace(old, new, 1)


@pytest.mark.promise("P4-conversations", "P4-memory-import")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Notes\n\nJust a file.\n",
        "\ufeff" + FILE,
        FILE + "\n",
        FILE + "And then we went on.\n",
        FILE.split("\n## ")[0].replace("count: 2", "count: 0").strip() + "x",
        edited('id: "c-1"', 'id: "../AGENT"'),
        edited('id: "c-1"', "id: c-1"),
        edited('id: "c-1"', 'owner: "c-1"'),
        edited('active_skill_ids: ["s1"]', 'title: "again"'),
        edited('active_skill_ids: ["s1"]', "active_skill_ids: [1]"),
        edited('active_skill_ids: ["s1"]', 'active_skill_ids: [""]'),
        edited("message_count: 2", "message_count: 3"),
        edited("message_count: 2", "message_count: true"),
        edited("message_count: 2", "message_count: 2.0"),
        edited("message_count: 2", "message_count: -2"),
        edited("message_count: 2", "message_count: " + "9" * 5000),
        edited('title: "Hello', 'title: "\\u0000Hello'),
        edited('title: "Hello \\"you\\""', 'title: ""'),
        edited('title: "Hello \\"you\\""', 'title: "' + "t" * 1001 + '"'),
        edited("00.005Z", "00Z"),
        edited("00.005Z", "00.005+00:00"),
        edited("2026-07", "2026-17"),
        edited("## message m1", "## message m9"),
        edited("## message m1", "### message m1"),
        edited("\n\n## message m2", "\n## message m2"),
        edited("```json", "```"),
        edited('"role":"user"', '"role":"system"'),
        edited('"role":"user"', '"role":"user","role":"user"'),
        edited('"role":"user"', '"role":"user","more":1'),
        edited('"role":"user",', ""),
        edited('"id":"m1"', '"id":1'),
        edited('"a\\n```\\nb"', "NaN"),
        edited('"a\\n```\\nb"', '"\\ud800"'),
        edited('"a\\n```\\nb"', "[" * 100_000),
        edited("a\\n```\\nb", "a\n```\nb"),
    ],
)
def test_a_file_that_is_foreign_or_damaged_is_refused(text: str) -> None:
    with pytest.raises(DamagedFile) as refused:
        parse_conversation(text)
    assert str(refused.value).endswith(".")
    assert "Hello" not in str(refused.value)


@pytest.mark.promise("P4-conversations")
def test_a_file_beyond_all_measure_is_refused_before_it_is_read() -> None:
    huge = " " * (MOST_CHARACTERS + 1)
    readers: list[Callable[[str], object]] = [parse_conversation, parse_index, parse_projects]
    for read in readers:
        with pytest.raises(DamagedFile, match="too large"):
            read(huge)


@pytest.mark.promise("P4-conversations")
def test_a_conversation_without_a_title_is_read() -> None:
    conversation, _ = parse_conversation(edited('title: "Hello \\"you\\""', "title: null"))
    assert conversation.title


@pytest.mark.promise("P4-conversations")
def test_a_message_may_hold_what_other_readers_take_for_the_end_of_a_line() -> None:
    """The reference leaves U+2028 as it is."""
    _, messages = parse_conversation(edited("a\\n```\\nb", "a\u2028b\u2029c"))
    assert messages[1].content == "a\u2028b\u2029c"
    assert "\u2028" not in render_conversation(CONVERSATION, messages)


@pytest.mark.promise("P4-conversations", "R-41")
def test_the_index_has_the_latest_conversation_first() -> None:
    older = replace(CONVERSATION, id="c-0", updated_at=NOON)
    text = render_index([older, CONVERSATION])
    entry = {"created_at": "2026-07-26T12:00:00.005Z", "message_count": 2, "title": 'Hello "you"'}
    assert json.loads(text) == {
        "conversations": [
            {"id": "c-1", "updated_at": "2026-07-26T12:00:01.000Z", **entry},
            {"id": "c-0", "updated_at": "2026-07-26T12:00:00.005Z", **entry},
        ]
    }
    assert text.startswith('{\n  "conversations": [\n    {\n      "id": "c-1",\n      "title"')
    assert text.endswith("\n  ]\n}\n")
    assert parse_index(text) == (CONVERSATION, older)
    assert render_index([]) == '{\n  "conversations": []\n}\n'
    assert parse_index(render_index([])) == ()


@pytest.mark.promise("P4-conversations", "P4-memory-import")
@pytest.mark.parametrize("count", [-1, 1.0, True, "2", None, 10**9])
def test_an_index_counts_messages_by_whole_numbers(count: object) -> None:
    index = json.loads(render_index([CONVERSATION]))
    index["conversations"][0]["message_count"] = count
    with pytest.raises(DamagedFile, match="message_count"):
        parse_index(json.dumps(index))


@pytest.mark.promise("P4-conversations")
@given(st.lists(conversations(), unique_by=lambda made: made[0].id, max_size=4))
def test_any_index_comes_back_as_it_was(made: list[tuple[Conversation, list[Message]]]) -> None:
    listed = [replace(one, active_skill_ids=()) for one, _ in made]
    text = render_index(listed)
    read = parse_index(text)
    assert sorted(read, key=lambda one: one.id) == sorted(listed, key=lambda one: one.id)
    assert render_index(read) == text


@st.composite
def pages(draw: st.DrawFn) -> list[Project]:
    found = draw(st.lists(slugs, unique=True, max_size=5))
    attached = st.one_of(st.none(), ids)
    skills = st.lists(names, max_size=2).map(tuple)
    return [
        Project(one, draw(names), draw(names), draw(attached), draw(skills), place)
        for place, one in enumerate(found, 1)
    ]


@pytest.mark.promise("P4-conversations", "R-41")
def test_pages_are_the_references_manifest_in_their_order() -> None:
    career = Project("career", "Career", "briefcase", None, (), 2)
    finance = Project("finance", "Finance", "dollar-sign", "c-1", ("s1",), 1)
    text = render_projects([career, finance])
    assert text == (
        '[\n  {\n    "id": "finance",\n    "name": "Finance",\n    "icon": "dollar-sign",\n'
        '    "conversation_id": "c-1",\n    "default_skill_ids": [\n      "s1"\n    ]\n  },\n'
        '  {\n    "id": "career",\n    "name": "Career",\n    "icon": "briefcase",\n'
        '    "conversation_id": null,\n    "default_skill_ids": []\n  }\n]\n'
    )
    assert parse_projects(text) == (finance, career)


@pytest.mark.promise("P4-conversations")
@given(pages())
def test_any_manifest_comes_back_as_it_was(made: list[Project]) -> None:
    text = render_projects(list(reversed(made)))
    assert list(parse_projects(text)) == made
    assert render_projects(parse_projects(text)) == text


PAGE = {"id": "a", "name": "A", "icon": "i", "conversation_id": None, "default_skill_ids": []}


@pytest.mark.promise("P4-conversations", "P4-memory-import")
@pytest.mark.parametrize(
    "pages",
    [
        {},
        [1],
        [PAGE, PAGE],
        [PAGE | {"id": "../a"}],
        [PAGE | {"id": "A"}],
        [PAGE | {"name": ""}],
        [PAGE | {"name": None}],
        [PAGE | {"icon": 1}],
        [PAGE | {"conversation_id": ""}],
        [PAGE | {"conversation_id": "a/b"}],
        [PAGE | {"default_skill_ids": "s"}],
        [PAGE | {"colour": "red"}],
        [{"id": "a"}],
    ],
)
def test_a_manifest_that_is_foreign_or_damaged_is_refused(pages: object) -> None:
    with pytest.raises(DamagedFile):
        parse_projects(json.dumps(pages))
    with pytest.raises(DamagedFile):
        parse_index(json.dumps({"conversations": pages}))


@pytest.mark.promise("P4-conversations")
def test_times_have_milliseconds_and_a_z() -> None:
    east = timezone(timedelta(hours=5, minutes=30))
    assert timestamp(datetime(2026, 1, 1, 3, 0, 0, 999_999, tzinfo=east)) == (
        "2025-12-31T21:30:00.999Z"
    )
    assert parse_timestamp("2025-12-31T21:30:00.999Z").utcoffset() == timedelta(0)
    with pytest.raises(ValueError, match="offset"):
        timestamp(datetime(2026, 1, 1))  # noqa: DTZ001


@pytest.mark.promise("P4-conversations")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "{}",
        "Read it.",
        '{"status":"ok","output":1}',
        '{"status":"ok","output":1,"call":{"name":"","input":{}}}',
        '{"status":"ok","output":1,"call":{"name":"a","input":[]}}',
        '{"status":"fine","output":1,"call":{"name":"a","input":{}}}',
        '{"status":["ok"],"output":1,"call":{"name":"a","input":{}}}',
        '{"status":"ok","output":1e999,"call":{"name":"a","input":{}}}',
        "[" * 100_000,
    ],
)
def test_what_records_no_call_is_none(text: str) -> None:
    assert ToolRecord.from_content("x", text) is None


values = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text()
    ).filter(lambda value: value not in (float("inf"), float("-inf"))),
    lambda inner: st.one_of(st.lists(inner), st.dictionaries(st.text(), inner)),
    max_leaves=5,
)


@pytest.mark.promise("P4-conversations")
@given(st.dictionaries(st.text(), values), values, st.sampled_from(["ok", "denied", "error"]))
def test_a_tool_call_is_kept_as_one_line_of_json(
    put: dict[str, object], output: object, status: ToolStatus
) -> None:
    record = ToolRecord("id", "memory_read", put, status, output)
    content = record.to_content()
    content.encode()
    assert content.splitlines() == [content]
    assert list(json_value(content)) == ["status", "output", "call"]
    assert ToolRecord.from_content("id", content) == record


@pytest.mark.promise("P4-conversations")
def test_half_a_character_in_a_call_can_still_be_stored() -> None:
    record = ToolRecord("id", "memory_write", {"content": "\ud83d"}, "ok", None)
    record.to_content().encode()
    assert ToolRecord.from_content("id", record.to_content()) == record

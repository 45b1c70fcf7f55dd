"""A memory leaves in pages of one revision, with conversations and pages as they came."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

import psycopg
import pytest

from judgment.conversation import store as rows
from judgment.kit.errors import InvalidRequest
from judgment.memory.transfer.exports import PATH, Place
from tests.fakes.transfers import AT, Seen, memory, pages, send
from tests.integration.transferring import ODD, Harness

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P4-memory-import", "R-33", "002-29")


@pytest.fixture
def h(module_database: TestDatabase) -> Iterator[Harness]:
    harness = Harness(module_database)
    yield harness
    harness.postgres.close()


def test_pages_of_any_size_tell_the_same_and_fit(h: Harness):
    who = h.owner()
    large = bytes(range(256)) * 12_000  # three pieces
    files = {**ODD, "large.bin": large, **{f"many/{n}": b"x%d" % n for n in range(300)}}
    send(h.imports, who, memory(files, ("one", {"large.bin": large}), ("two", {"a": b"b"})))
    whole = h.exported(who)
    assert whole.files.items() >= files.items()
    for size in (1_450_000, 20_000):
        small = Harness(h.database, size)
        found = pages(small.exports, who)
        small.postgres.close()
        assert len(found) > 2
        assert all(len(json.dumps(page)) <= max(size, 1_450_000) + 2_000 for page in found)
        seen = Seen(found)
        assert (seen.history, seen.files) == (whole.history, whole.files)


def test_what_is_written_meanwhile_does_not_tear_an_export(h: Harness):
    who = h.owner()
    send(h.imports, who, memory({"a": b"1", "b": b"1"}, ("one", {"a": b"1", "b": b"1"})))
    small = Harness(h.database, 600)
    first = small.exports.page(who, None)
    send(h.imports, who, memory({"a": b"2"}, ("two", {"a": b"2"})), conflicts="replace")
    rest = [first]
    while (last := json.loads(rest[-1].splitlines()[-1]))["type"] == "next":
        rest.append(small.exports.page(who, last["cursor"]))
    small.postgres.close()
    seen = Seen(rest)
    assert [name for name, _ in seen.history] == ["one\n"]
    assert seen.files.items() >= {"a": b"1", "b": b"1"}.items()
    assert h.files(who)["a"] == b"2"


def test_the_path_that_a_tool_gives_leads_to_the_memory_as_it_was_then(h: Harness):
    who = h.owner()
    send(h.imports, who, memory({"a": b"1"}, ("one", {"a": b"1"})))
    with h.postgres.transaction(who) as tx:
        path, _, cursor = h.exports.path(tx, who).partition("?cursor=")
    assert path == PATH
    send(h.imports, who, memory({"a": b"2"}), conflicts="replace")
    assert Seen([h.exports.page(who, cursor)]).files["a"] == b"1"


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize("cursor", ["x", "e30", "W10", "WzEsMl0", "é", "A" * 300, "WzEsIngiXQ"])
def test_a_cursor_of_somebody_else_is_refused(h: Harness, cursor: str):
    with pytest.raises(InvalidRequest):
        h.exports.page(h.owner(), cursor)


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize(
    "place",
    [
        Place(10**15, AT, "history", 1),
        Place(1, AT, "history", -1),
        Place(1, AT, "files", 2**70),
        Place(1, AT, "blobs"),
        Place(1, AT, "views", line=-1, path="a"),
    ],
)
def test_a_cursor_that_leads_nowhere_is_refused(h: Harness, place: Place):
    who = h.owner()
    send(h.imports, who, memory({"a": b"1"}))
    with pytest.raises(InvalidRequest):
        h.exports.page(who, place.cursor())


def test_a_cursor_shows_nothing_of_another_owner(h: Harness):
    who, other = h.owner(), h.owner()
    send(h.imports, who, memory({"secret": b"s"}, ("one", {"secret": b"s"})))
    send(h.imports, other, memory({"mine": b"m"}, ("two", {"mine": b"m"})))
    with h.postgres.transaction(who) as tx:
        cursor = h.exports.path(tx, who).partition("?cursor=")[2]
    assert "secret" not in h.exports.page(other, cursor)


CONVERSATION = b"""---
id: "c-1"
title: "Hello"
created_at: "2026-01-31T12:34:56.789Z"
updated_at: "2026-01-31T12:35:56.789Z"
message_count: 1
active_skill_ids: []
---

## message m1
```json
{"id": "m1", "role": "user",   "timestamp": "2026-01-31T12:34:56.789Z", "content": "hi"}
```
"""
PAGES = b"""[{"id": "garden", "name": "Garden", "icon": "leaf",
  "conversation_id": "c-1", "default_skill_ids": ["s"]}]"""


def test_conversations_and_pages_come_alive_and_go_out_as_they_came(h: Harness):
    who = h.owner()
    files = {
        "conversations/c-1.md": CONVERSATION,
        "conversations/broken.md": b"what?",
        "documents/projects.json": PAGES,
    }
    assert send(h.imports, who, memory(files)).conversations == 1
    with h.postgres.transaction(who) as tx:
        (said,) = rows.messages(tx, who, "c-1")
        (page,) = rows.projects(tx, who)
    assert (said.content, said.role) == ("hi", "user")
    assert (page.id, page.name, page.conversation_id) == ("garden", "Garden", "c-1")
    assert h.exported(who).files.items() >= files.items()
    assert send(h.imports, who, memory(files)).conversations == 0


def test_a_conversation_that_went_on_goes_out_as_it_is_now(h: Harness):
    who = h.owner()
    send(h.imports, who, memory({"conversations/c-1.md": CONVERSATION}))
    with psycopg.connect(h.database.admin_url) as admin:
        admin.execute("UPDATE judgment.conversations SET title = 'New' WHERE user_id = %s", (who,))
    told = h.exported(who).files["conversations/c-1.md"]
    assert b'title: "New"' in told
    # And an older copy of it is kept out, without a conflict.
    send(h.imports, who, memory({"conversations/c-1.md": CONVERSATION + b"\n"}))
    assert h.exported(who).files["conversations/c-1.md"] == told


def _page(name: str, title: str, talk: str | None = None) -> dict[str, object]:
    """An entry of a list of pages."""
    shown = {"id": name, "name": title, "icon": "leaf"}
    return {**shown, "conversation_id": talk, "default_skill_ids": []}


def test_a_known_page_takes_the_imports_name_and_talk_and_a_former_id_is_todays(h: Harness):
    who = h.owner()
    before = [_page("your-agent", "Your Agent"), _page("garden", "Old")]
    send(h.imports, who, memory({"documents/projects.json": json.dumps(before).encode()}))
    later = [
        _page("garden", "New", "c-1"),
        _page("braindrive-plus-one", "BrainDrive+1"),
        _page("pond", "Pond", "not-here"),
    ]
    files = {
        "conversations/c-1.md": CONVERSATION,
        "documents/projects.json": json.dumps(later).encode(),
    }
    send(h.imports, who, memory(files))
    with h.postgres.transaction(who) as tx:
        found = [(one.id, one.name, one.conversation_id) for one in rows.projects(tx, who)]
    assert found == [
        ("your-agent", "Your Agent", None),
        ("garden", "New", "c-1"),
        ("pond", "Pond", None),
    ]


def test_a_conversation_under_a_name_that_is_not_its_own_stays_a_file(h: Harness):
    who = h.owner()
    files = {"conversations/other.md": CONVERSATION}
    assert send(h.imports, who, memory(files)).conversations == 0
    with h.postgres.transaction(who) as tx:
        assert rows.conversation(tx, who, "c-1") is None
    assert h.exported(who).files.items() >= files.items()

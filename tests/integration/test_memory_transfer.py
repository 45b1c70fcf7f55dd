"""A memory arrives, against a real database: all of it or nothing, and harmless again."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from judgment.kit.errors import Conflict, InvalidRequest, NotFound, TooLarge
from judgment.kit.hashing import sha256_hex
from tests.fakes.transfers import commit_id, memory, order, raw, send
from tests.integration.transferring import ODD, STARTER, Harness

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P4-memory-import", "R-33", "002-29")


@pytest.fixture
def h(module_database: TestDatabase) -> Iterator[Harness]:
    harness = Harness(module_database)
    yield harness
    harness.postgres.close()


def test_what_came_in_goes_out_byte_for_byte_with_its_history(h: Harness):
    who = h.owner()
    first = {"AGENT.md": b"old", "gone.md": b"was here", "documents/empty": b""}
    history = (
        ("one", first),
        ("two", {"AGENT.md": ODD["AGENT.md"], "gone.md": None}),
        ("three", {}),
    )
    said = send(h.imports, who, memory(ODD, *history))
    # The rest of the files came with no commit: one of ours says so.
    assert (said.files, said.commits, said.kept, said.conversations) == (len(ODD), 4, 0, 0)
    assert h.files(who) == ODD
    told = h.exported(who)
    assert [(c.id, c.author) for c in told.commits[:3]] == [
        (commit_id(name), f"{name} <{name}@example.org>") for name in ("one", "two", "three")
    ]
    assert told.history[:3] == [(f"{name}\n", changes) for name, changes in history]
    assert h.is_consistent(who)


def test_the_same_import_again_changes_nothing_and_is_answered_the_same(h: Harness):
    who, import_id = h.owner(), uuid.uuid4()
    lines = memory(ODD, ("one", ODD))
    said = send(h.imports, who, lines, import_id=import_id)
    whole = "".join(f"{line}\n" for line in lines).encode()
    parts = -(-len(whole) // max(1_000, len(whole) // 400))
    before = h.counts(who)
    assert h.imports.carry_out(who, import_id, order(whole, parts)) == said
    with pytest.raises(Conflict):
        h.imports.carry_out(who, import_id, order(whole, parts, "replace"))
    again = send(h.imports, who, lines)
    assert (again.files, again.commits, again.kept) == (0, 0, 0)
    assert h.counts(who) == before


def test_a_later_state_of_the_same_root_brings_only_what_is_new(h: Harness):
    who = h.owner()
    send(h.imports, who, memory({"a": b"1"}, ("one", {"a": b"1"})))
    later = memory({"a": b"1", "b": b"2"}, ("one", {"a": b"1"}), ("two", {"b": b"2"}))
    said = send(h.imports, who, later)
    assert (said.files, said.commits) == (1, 1)
    assert [name for name, _ in h.exported(who).history] == ["one\n", "two\n"]
    assert h.is_consistent(who)


@pytest.mark.promise("P4-refuse")
def test_a_file_of_the_owners_that_differs_refuses_all_of_it_unless_it_may_be_replaced(h: Harness):
    who = h.owner()
    mine = {"a.md": b"mine", "mine.md": b"only here", "starter.md": STARTER}
    send(h.imports, who, memory(mine))
    before = h.counts(who)
    theirs = {"a.md": b"theirs", "starter.md": b"filled in", "new.md": b"new"}
    with pytest.raises(Conflict, match=r"a\.md\.$"):
        send(h.imports, who, memory(theirs, ("theirs", theirs)))
    assert h.counts(who) == before
    assert h.files(who) == mine
    said = send(h.imports, who, memory(theirs, ("theirs", theirs)), conflicts="replace")
    assert (said.files, said.commits, said.kept) == (3, 1, 1)
    assert h.files(who) == {**theirs, "mine.md": b"only here"}
    assert ("theirs\n", theirs) in h.exported(who).history
    assert h.is_consistent(who)


def test_what_a_starter_pack_put_there_gives_way_without_a_word(h: Harness):
    who = h.owner()
    send(h.imports, who, memory({"me/profile.md": STARTER}))
    send(h.imports, who, memory({"me/profile.md": b"I am"}))
    assert h.files(who) == {"me/profile.md": b"I am"}


def test_a_conflict_names_twenty_files_and_counts_the_rest(h: Harness):
    who = h.owner()
    many = [f"f{number:02}" for number in range(23)]
    send(h.imports, who, memory(dict.fromkeys(many, b"mine")))
    with pytest.raises(Conflict, match="f19 and 3 more") as refused:
        send(h.imports, who, memory(dict.fromkeys(many, b"theirs")))
    assert "f20" not in str(refused.value)


def test_a_file_that_only_the_imports_history_had_and_that_stays_is_there_afterwards(h: Harness):
    who = h.owner()
    send(h.imports, who, memory({"todo.md": b"mine"}))
    brought = memory({"a": b"1"}, ("one", {"a": b"1", "todo.md": b"x"}), ("two", {"todo.md": None}))
    send(h.imports, who, brought)
    assert h.files(who) == {"todo.md": b"mine", "a": b"1"}
    assert h.is_consistent(who)


@pytest.mark.parametrize("theirs", ["Notes/A.md", "NOTES/b.md", "notes", "notes/a.md/b"])
def test_a_name_that_cannot_stand_beside_one_of_the_owners_is_a_conflict(h: Harness, theirs: str):
    who = h.owner()
    send(h.imports, who, memory({"notes/a.md": b"mine"}))
    with pytest.raises(Conflict, match=r"notes/a\.md"):
        send(h.imports, who, memory({theirs: b"theirs"}))
    send(h.imports, who, memory({theirs: b"theirs"}), conflicts="replace")
    assert h.files(who) == {theirs: b"theirs"}
    assert h.is_consistent(who)


def _with(lines: list[str], index: int, *put: str) -> list[str]:
    return [*lines[:index], *put, *lines[index:]]


SMALL = memory({"a": b"1"}, ("one", {"a": b"1"}))
SHA = sha256_hex(b"1")
NONE = sha256_hex(b"never sent")
WRONG: Mapping[str, list[str]] = {
    "no end": SMALL[:-1],
    "no beginning": SMALL[1:],
    "two beginnings": _with(SMALL, 1, SMALL[0]),
    "lines after the end": [*SMALL, SMALL[-1]],
    "a commit after the files": _with(SMALL, -1, SMALL[2].replace(commit_id("one"), "0" * 40)),
    "a digest that is not the content's": [SMALL[0], SMALL[1].replace(SHA, NONE), *SMALL[2:]],
    "a file without its content": _with(SMALL, -1, raw(type="file", path="b", sha256=NONE)),
    "a change without its content": [SMALL[0], *SMALL[2:]],
    "a file twice": _with(SMALL, -1, SMALL[3]),
    "a file twice but for its case": _with(SMALL, -1, raw(type="file", path="A", sha256=SHA)),
    "a way out": _with(SMALL, -1, raw(type="file", path="../a", sha256=SHA)),
    "an absolute path": _with(SMALL, -1, raw(type="file", path="/etc/passwd", sha256=SHA)),
    "a repository": _with(SMALL, -1, raw(type="file", path=".git/config", sha256=SHA)),
    "a repository below": _with(SMALL, -1, raw(type="file", path="x/.GIT/hooks/a", sha256=SHA)),
    "a way out of what is foreign": _with(
        SMALL, -1, raw(type="file", path="diagnostics/../../a", sha256=SHA)
    ),
    "a page's end": _with(SMALL, -1, raw(type="next", cursor="x")),
    "an unknown line": _with(SMALL, -1, raw(type="hook", run="x")),
    "no JSON": _with(SMALL, 1, "{"),
    "too deep": _with(SMALL, 1, "[" * 100_000),
}


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize("what", WRONG)
def test_what_is_not_whole_is_refused_and_nothing_is_there(h: Harness, what: str):
    who = h.owner()
    with pytest.raises(InvalidRequest):
        send(h.imports, who, WRONG[what])
    assert h.counts(who) == [0, 0, 0, 0]


def test_one_import_carried_out_by_two_at_once_happens_once(h: Harness):
    """The client that gave up waiting, and asked again while the first was still at it."""
    who, import_id, other = h.owner(), uuid.uuid4(), Harness(h.database)
    whole = "".join(f"{line}\n" for line in memory(ODD, ("one", ODD))).encode()
    h.imports.part(who, import_id, 1, whole)
    with ThreadPoolExecutor(2) as hands:
        asked = [
            hands.submit(one.imports.carry_out, who, import_id, order(whole, 1))
            for one in (h, other)
        ]
        first, second = (one.result(60) for one in asked)
    other.postgres.close()
    assert first == second
    assert [name for name, _ in h.exported(who).history] == ["one\n"]


@pytest.mark.promise("P4-refuse")
def test_parts_that_are_missing_or_others_are_refused(h: Harness):
    who, import_id = h.owner(), uuid.uuid4()
    whole = "".join(f"{line}\n" for line in SMALL).encode()
    h.imports.part(who, import_id, 1, whole)
    with pytest.raises(NotFound):
        h.imports.carry_out(who, import_id, order(whole, 2))
    with pytest.raises(InvalidRequest):
        h.imports.carry_out(who, import_id, order(whole + b"x", 1))
    with pytest.raises(NotFound):
        h.imports.carry_out(h.owner(), import_id, order(whole, 1))
    h.imports.part(who, import_id, 1, whole[:-3])
    h.imports.part(who, import_id, 1, whole)
    assert h.imports.carry_out(who, import_id, order(whole, 1)).files == 1


def test_a_new_import_ends_the_one_before(h: Harness):
    who, left = h.owner(), uuid.uuid4()
    whole = "".join(f"{line}\n" for line in SMALL).encode()
    h.imports.part(who, left, 1, whole)
    h.imports.part(who, uuid.uuid4(), 1, b"{")
    with pytest.raises(NotFound):
        h.imports.carry_out(who, left, order(whole, 1))


@pytest.mark.promise("P4-refuse")
def test_a_line_without_an_end_is_refused_before_memory_runs_out(h: Harness):
    who, import_id = h.owner(), uuid.uuid4()
    part = b"x" * 2_500_000
    for number in (1, 2, 3):
        h.imports.part(who, import_id, number, part)
    with pytest.raises(TooLarge):
        h.imports.carry_out(who, import_id, order(part * 3, 3))

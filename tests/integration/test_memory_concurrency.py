"""Two processes on one memory: nothing is lost, the owner wins, whoever comes second is told."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from judgment.db.connection import Database
from judgment.memory import files
from judgment.memory.model import Change, MemoryFailure
from tests.fakes.memory_hands import NOW, OWNER, ROLE, Hand, assert_whole
from tests.fakes.people import make_owner
from tests.integration.memory_child import Child, url_of

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P4-memory-cas", "002-20.1")

Children = tuple[Child, Child]


@pytest.fixture(scope="module")
def children(module_database: TestDatabase) -> Iterator[Children]:
    """Two processes, each with its own connection."""
    made = Child(url_of(module_database)), Child(url_of(module_database))
    yield made
    for child in made:
        child.close()


@pytest.fixture
def hand(module_database: TestDatabase) -> Iterator[Hand]:
    memory = Database(module_database.url(ROLE))
    made = Hand.of_somebody(module_database, memory)
    yield made
    memory.close()
    assert_whole(module_database, made.who)


def code(answer: Any) -> str:
    return answer["failure"]["code"] if "failure" in answer else "ok"


@pytest.mark.parametrize(
    ("tool", "there"),
    [
        ("memory_write", None),
        ("memory_write", b"1\n"),
        ("memory_edit", b"1\n"),
        ("memory_delete", b"1\n"),
    ],
)
def test_of_two_writers_of_one_file_one_wins_and_the_other_is_told(
    children: Children, hand: Hand, tool: str, there: bytes | None
) -> None:
    hand.keep({"a.md": there})
    wanted = {
        "memory_write": lambda n: {"content": f"whole {n}"},
        "memory_edit": lambda n: {"find": "1", "replace": f"edit {n}"},
        "memory_delete": lambda n: {},
    }[tool]
    for n, child in enumerate(children):
        child.ask(hand.who, "prepare", tool, path="a.md", **wanted(n))
    for child in children:  # both saw the same file; neither waits for the other
        child.send(hand.who, "run")
    answers = [child.answer() for child in children]
    told = Counter(code(one) for one in answers)
    late = "not_found" if tool == "memory_delete" else "conflict"
    assert told == {"ok": 1, late: 1}
    winner = [code(one) for one in answers].index("ok")
    held = hand.held().get("a.md")
    assert held is None if tool == "memory_delete" else held and str(winner).encode() in held


def test_the_first_two_files_of_a_memory_both_come_to_be(
    children: Children, module_database: TestDatabase
) -> None:
    for _ in range(5):
        who = make_owner(module_database)
        for n, child in enumerate(children):
            child.send(who, "call", "memory_write", path=f"{n}.md", content="x")
        assert [code(child.answer()) for child in children] == ["ok", "ok"]
        assert_whole(module_database, who)


def test_two_spellings_of_one_name_do_not_both_come_to_be(children: Children, hand: Hand) -> None:
    for path, child in zip(["me/a.md", "ME/b.md"], children, strict=True):
        child.ask(hand.who, "prepare", "memory_write", path=path, content="x")
    for child in children:
        child.send(hand.who, "run")
    assert Counter(code(child.answer()) for child in children) == {"ok": 1, "path_invalid": 1}
    assert len(hand.held()) == 1


def test_a_turn_that_read_before_somebody_else_wrote_reads_again(
    children: Children, hand: Hand
) -> None:
    hand.keep({"a.md": b"one\n"})
    first, second = children
    first.ask(hand.who, "call", "memory_read", path="a.md")
    second.ask(hand.who, "call", "memory_read", path="a.md")
    edit = {"path": "a.md", "find": "one", "replace": "two"}
    assert code(second.ask(hand.who, "call", "memory_edit", **edit)) == "ok"
    for tool, wanted in [
        ("memory_write", {"path": "a.md", "content": "mine"}),
        ("memory_edit", {"path": "a.md", "find": "two", "replace": "three"}),
        ("memory_delete", {"path": "a.md"}),
    ]:
        assert code(first.ask(hand.who, "call", tool, **wanted)) == "conflict"
    assert hand.held() == {"a.md": b"two\n"}
    first.ask(hand.who, "call", "memory_read", path="a.md")
    edit = {"path": "a.md", "find": "two", "replace": "three"}
    assert code(first.ask(hand.who, "call", "memory_edit", **edit)) == "ok"
    again = {"path": "a.md", "content": "a turn knows what it wrote itself"}
    assert code(first.ask(hand.who, "call", "memory_write", **again)) == "ok"


def test_a_folder_is_not_deleted_with_what_came_into_it_since(hand: Hand) -> None:
    hand.keep({"a/1.md": b"1", "a/2.md": b"2"})
    prepared = hand.prepare("memory_delete", path="a")
    for change in ({"a/3.md": b"3"}, {"a/3.md": None, "a/1.md": b"new"}, {"a/1.md": None}):
        hand.keep(change)
        with pytest.raises(MemoryFailure, match="conflict"):
            hand.run(prepared)
    hand.keep({"a/1.md": b"1"})  # as it was seen
    assert hand.run(prepared) == {"path": "a", "deleted": True}


def test_what_was_approved_runs_over_what_was_shown_or_not_at_all(hand: Hand) -> None:
    hand.keep({"a.md": b"1"})
    shown = dict(hand.prepare("memory_write", path="a.md", content="2").expected)
    hand.keep({"a.md": b"owner"})
    later = hand.another()
    with pytest.raises(MemoryFailure, match="conflict"):
        later.run(later.prepare("memory_write", path="a.md", content="2"), shown)
    with pytest.raises(MemoryFailure, match="conflict"):
        later.run(later.prepare("memory_write", path="a.md", content="2"), {})
    hand.keep({"a.md": b"1"})
    later.run(later.prepare("memory_write", path="a.md", content="2"), shown)
    assert hand.held() == {"a.md": b"2"}


@pytest.mark.promise("P4-memory-owner")
def test_an_owners_edit_during_a_models_write_wins(
    hand: Hand, module_database: TestDatabase
) -> None:
    """The model's write is under way and waits for the owner's transaction."""
    hand.keep({"a.md": b"1"})
    model = Database(module_database.url(ROLE), application_name="the model")
    turn = Hand(model, hand.who)
    prepared = turn.prepare("memory_write", path="a.md", content="model")
    told: list[str] = []

    def write() -> None:
        with pytest.raises(MemoryFailure) as refused:
            turn.run(prepared)
        told.append(refused.value.code)

    writing = threading.Thread(target=write)
    with hand.begin() as tx:
        files.commit(
            tx,
            hand.who,
            [Change("a.md", b"owner")],
            origin="owner",
            author=OWNER,
            message="Update a.md via UI",
            at=NOW,
        )
        writing.start()
        wait_until_blocked(module_database, "the model")
    writing.join(30)
    model.close()
    assert told == ["conflict"]
    assert hand.state() == ({"a.md": b"owner"}, ["Mine", "Update a.md via UI"])


def wait_until_blocked(database: TestDatabase, name: str) -> None:
    """Until that connection waits for a lock."""
    blocked = (
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE application_name = %s AND wait_event_type = 'Lock'"
    )
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        for _ in range(20_000):
            if admin.execute(blocked, (name,)).fetchall() == [(1,)]:
                return
    raise AssertionError(f"{name} waits for nothing.")


@pytest.mark.promise("P4-memory-owner")
def test_the_owner_asks_for_no_digest_and_is_never_told_of_a_conflict(
    children: Children, hand: Hand
) -> None:
    first, second = children
    for n in range(10):
        first.send(hand.who, "keep", **{"a.md": f"owner {n}"})
        second.send(hand.who, "forget")
        second.send(hand.who, "call", "memory_write", path="a.md", content=f"model {n}")
        assert first.answer()["commit"]
        second.answer()
        assert code(second.answer()) in ("ok", "conflict")
    owner = [text for text in hand.state()[1] if text == "Mine"]
    assert len(owner) == 10


def test_a_digest_is_that_of_the_bytes(hand: Hand) -> None:
    hand.write("a.md", "é")
    assert hand.seen == {"a.md": hashlib.sha256("é".encode()).hexdigest()}

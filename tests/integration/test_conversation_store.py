"""The rows of conversations against a real database: places, ids, what the door's role may do."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from judgment.conversation import store
from judgment.conversation.model import ToolRecord
from judgment.db.errors import PermissionDenied, UniqueViolated
from judgment.kit.errors import InvalidRequest
from tests.fakes.owner_desk import T0, Desk
from tests.fakes.rounds import rows

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P4-conversations", "R-41")


@pytest.fixture
def desk(module_database: TestDatabase) -> Iterator[Desk]:
    made = Desk(module_database)
    yield made
    made.close()


@pytest.fixture
def who(desk: Desk) -> uuid.UUID:
    return desk.somebody()


def say(desk: Desk, who: uuid.UUID, talk: str, content: str = "Hello", **changes: Any) -> Any:
    given = {
        "id": str(uuid.uuid4()),
        "turn_id": uuid.uuid4(),
        "role": "user",
        "content": content,
        "at": T0,
    }
    with desk.postgres.transaction(who) as tx:
        return store.append(tx, who, talk, **(given | changes))


def said(desk: Desk, who: uuid.UUID, talk: str) -> list[tuple[int, str]]:
    with desk.postgres.transaction(who) as tx:
        return [(one.position, one.content) for one in store.messages(tx, who, talk)]


def test_a_message_takes_the_next_place_and_the_conversation_counts_it(desk: Desk, who: uuid.UUID):
    talk = desk.talk(who)
    made = [say(desk, who, talk, text, at=T0 + timedelta(hours=h)) for h, text in enumerate("abc")]
    say(desk, who, talk, "d", at=T0 - timedelta(days=1))
    with desk.postgres.transaction(who) as tx:
        kept = store.messages(tx, who, talk)
        conversation = store.conversation(tx, who, talk)
    assert kept[:3] == made
    assert [one.position for one in kept] == [1, 2, 3, 4]
    assert conversation is not None
    assert conversation.message_count == 4
    assert conversation.updated_at == T0 + timedelta(hours=2), "it never goes back"
    assert conversation.created_at == T0


def test_a_message_that_is_taken_back_gives_its_place_back(desk: Desk, who: uuid.UUID):
    talk = desk.talk(who)
    say(desk, who, talk, "a")

    def say_and_fail() -> None:
        with desk.postgres.transaction(who) as tx:
            store.append(
                tx, who, talk, id="x", turn_id=uuid.uuid4(), role="user", content="lost", at=T0
            )
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        say_and_fail()
    say(desk, who, talk, "b")
    assert said(desk, who, talk) == [(1, "a"), (2, "b")]


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_a_message_that_cannot_be_kept_takes_no_place(desk: Desk, who: uuid.UUID, text: str):
    talk = desk.talk(who)
    with pytest.raises(InvalidRequest):
        say(desk, who, talk, text)
    with desk.postgres.transaction(who) as tx:
        conversation = store.conversation(tx, who, talk)
    assert conversation is not None
    assert conversation.message_count == 0


def test_nothing_is_said_in_a_conversation_that_is_not_the_owners(desk: Desk, who: uuid.UUID):
    talk = desk.talk(who)
    stranger = desk.somebody()
    for name in (talk, "nowhere"):
        with pytest.raises(LookupError):
            say(desk, stranger, name)
    assert said(desk, who, talk) == said(desk, stranger, talk) == []


def test_an_id_is_a_conversations_once(desk: Desk, who: uuid.UUID):
    talk = desk.talk(who, ("user", "First"))
    with pytest.raises(UniqueViolated):
        desk.talk(who, name=talk)
    assert said(desk, who, talk) == [(1, "First")]


@pytest.mark.promise("P4-approval", "R-30")
def test_a_call_is_told_from_another_turns_call_of_the_same_id(desk: Desk, who: uuid.UUID):
    """Providers number calls anew in each turn."""
    talk, (early, late) = desk.talk(who), (uuid.uuid4(), uuid.uuid4())
    for turn, text in ((early, "waits"), (late, "done")):
        say(desk, who, talk, text, id="call_0", turn_id=turn, role="tool")
    with desk.postgres.transaction(who) as tx:
        store.replace_content(tx, who, talk, "call_0", "carried out", turn_id=early)
        found = store.message(tx, who, talk, "call_0", turn_id=late)
        assert found is not None
        assert found.content == "done"
        assert store.message(tx, who, talk, "call_0", turn_id=uuid.uuid4()) is None
    assert said(desk, who, talk) == [(1, "carried out"), (2, "done")]


def test_a_tools_record_comes_back_as_it_was_kept(desk: Desk, who: uuid.UUID):
    talk = desk.talk(who)
    given = {"path": "a", "content": "\0 \ud83d \u2028 é", "n": 2**70, "x": [1.5, None]}
    record = ToolRecord("call_0", "memory_write", given, "ok", {"bytes_written": 3})
    say(desk, who, talk, record.to_content(), id="call_0", role="tool")
    ((_, text),) = said(desk, who, talk)
    assert ToolRecord.from_content("call_0", text) == record


@pytest.mark.promise("P4-approval", "R-30")
def test_a_question_comes_back_as_it_was_put(desk: Desk, who: uuid.UUID):
    talk = desk.talk(who)
    given = {"content": "\0 \ud800 é", "n": 2**70, "third": 1 / 3, "b": 1, "a": None}
    asked = store.Approval(
        *(uuid.uuid4(), talk, uuid.uuid4(), "call_0", "memory_write"),
        summary="memory_write on é",
        input=given,
        expected={"b.md": None, "a.md": "0" * 64},
        decision="pending",
        created_at=T0,
    )
    with desk.postgres.transaction(who) as tx:
        store.ask(tx, who, asked)
        kept = store.approval(tx, who, asked.request_id)
    assert kept is not None
    assert (kept.input, kept.expected) == (asked.input, asked.expected)
    assert list(kept.input) == list(given)
    assert (kept.decision, kept.settled_at) == ("pending", None)
    assert (kept.turn_id, kept.tool_call_id) == (asked.turn_id, "call_0")


def test_open_questions_are_those_of_one_conversation_or_of_all(desk: Desk, who: uuid.UUID):
    one, two = desk.talk(who), desk.talk(who)
    first, second = desk.ask(who, one), desk.ask(who, two)
    with desk.postgres.transaction(who) as tx:
        ids = [[a.request_id for a in store.open_approvals(tx, who, c)] for c in (one, two, None)]
    assert ids == [[first.request_id], [second.request_id], [first.request_id, second.request_id]]


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize("name", ["a\0b", "../x", "\ud800", "x" * 65, "", "Finance", "finance\n"])
def test_a_page_that_cannot_be_is_asked_of_no_database(desk: Desk, who: uuid.UUID, name: str):
    talk = desk.talk(who)
    with desk.postgres.transaction(who) as tx:
        assert store.project(tx, who, name) is None
        store.attach(tx, who, name, talk)
        assert tx.value("SELECT 1") == 1, "no statement failed"


MAY_NOT = (
    "UPDATE judgment.conversation_messages SET role = 'user'",
    "UPDATE judgment.conversation_messages SET position = 9",
    "DELETE FROM judgment.conversation_messages",
    "DELETE FROM judgment.conversations",
    "UPDATE judgment.approvals SET input = '{}'",
    "UPDATE judgment.approvals SET expected = '{}'",
    "DELETE FROM judgment.approvals",
    "DELETE FROM judgment.memory_commits",
    "UPDATE judgment.memory_revisions SET sha256 = NULL",
)


@pytest.mark.parametrize("statement", MAY_NOT)
def test_the_doors_role_cannot_rewrite_what_was_said_or_asked(
    desk: Desk, who: uuid.UUID, statement: str
):
    desk.ask(who, desk.talk(who, ("user", "Hello")))
    with pytest.raises(PermissionDenied), desk.postgres.transaction(who) as tx:
        tx.execute(statement)


def test_a_statement_without_an_owner_in_it_reaches_the_callers_rows_alone(
    desk: Desk, who: uuid.UUID
):
    desk.ask(who, desk.talk(who, ("user", "Hello")))
    with desk.postgres.transaction(desk.somebody()) as tx:
        assert (
            tx.execute("UPDATE judgment.approvals SET decided_at = now(), decision = 'denied'") == 0
        )
        assert tx.execute("UPDATE judgment.conversation_messages SET content = ''") == 0
        assert tx.all("SELECT FROM judgment.conversations") == []
    found = rows(desk.database, "SELECT decision FROM judgment.approvals WHERE user_id = %s", who)
    assert found == [("pending",)]

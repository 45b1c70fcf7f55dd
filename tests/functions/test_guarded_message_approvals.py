"""A write that waits for its owner: answered while the stream is open, later, or never."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from judgment.conversation import pages
from judgment.conversation.modes import set_approval_mode
from judgment.db.connection import Database
from judgment.kit.clock import utc_now
from judgment.memory import files
from judgment.memory.model import Change
from judgment.memory.starter import STARTER
from tests.fakes.chat_models import Script, ScriptedChat, call, in_order
from tests.fakes.message_door import HangUp, Talk

if TYPE_CHECKING:
    from judgment.contract.messages import AnyEvent
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P4-approval", "R-30")

NOTE = "documents/fitness/note.md"
WRITE = call("memory_write", path=NOTE, content="Run on Mondays.\n")
Decide = Callable[[uuid.UUID, str, str], None]


@pytest.fixture
def owners(module_database: TestDatabase) -> Iterator[Database]:
    """The owner's other connection: another process than the stream's."""
    database = Database(module_database.url("judgment_process"), application_name="owner")
    yield database
    database.close()


@pytest.fixture
def decide(owners: Database) -> Decide:
    from judgment.conversation.approvals import Approvals

    approvals = Approvals(owners.transaction)
    return lambda who, request, decision: approvals.decide(who, request, decision) and None


@pytest.fixture
def talking(
    module_database: TestDatabase, owners: Database
) -> Iterator[Callable[..., tuple[Talk, ScriptedChat, uuid.UUID]]]:
    made: list[Talk] = []

    def talk(script: Script) -> tuple[Talk, ScriptedChat, uuid.UUID]:
        models = ScriptedChat(script)
        one = Talk(module_database, models)
        made.append(one)
        who = one.somebody()
        with owners.transaction(who) as tx:
            pages.ensure(tx, who, utc_now())
            set_approval_mode(tx, who, "ask-on-write", utc_now())
        return one, models, who

    yield talk
    for one in made:
        one.close()


def text_of(owners: Database, who: uuid.UUID, path: str) -> str | None:
    with owners.transaction(who) as tx:
        if files.digest(tx, who, path) is None:
            return None
        return files.read(tx, who, path).content.decode()


def commits(talk: Talk, who: uuid.UUID) -> list[str]:
    found = talk.rows(
        "SELECT message FROM judgment.memory_commits WHERE user_id = %(who)s"
        " AND origin = 'tool' ORDER BY revision",
        who,
    )
    return [row["message"] for row in found]


def when_asked(act: Callable[[str], None]) -> Callable[[AnyEvent], None]:
    def on_event(event: AnyEvent) -> None:
        if event.type == "approval-request":
            act(event.request_id)

    return on_event


@pytest.mark.promise("P4-approval-mode", "AC-034")
def test_what_is_approved_while_the_stream_waits_is_written(
    talking: Any, owners: Database, decide: Decide
) -> None:
    talk, models, who = talking(in_order(["I note it.", WRITE], ["Noted."]))
    seen: list[str | None] = []

    def approve(request: str) -> None:
        seen.append(text_of(owners, who, NOTE))
        decide(who, request, "approved")

    answer = talk.say(who, on_event=when_asked(approve))
    assert answer.types == [
        *("text-delta", "tool-call", "approval-request", "approval-result", "tool-result"),
        *("text-delta", "done"),
    ]
    asked = next(event for event in answer.events if event.type == "approval-request")
    assert (asked.tool_name, asked.summary) == ("memory_write", f"memory_write on {NOTE}")
    assert seen == [None]
    assert text_of(owners, who, NOTE) == "Run on Mondays.\n"
    assert answer.results[0][0] == "ok"
    assert commits(talk, who) == [f"Write {NOTE}"]
    assert json.loads(models.rounds[1].answers[0])["status"] == "ok"


@pytest.mark.promise("P4-approval-mode", "AC-034")
def test_what_is_denied_is_not_written_and_the_model_hears_it(
    talking: Any, owners: Database, decide: Decide
) -> None:
    talk, models, who = talking(in_order([WRITE], ["As you wish."]))
    answer = talk.say(who, on_event=when_asked(lambda r: decide(who, r, "denied")))
    assert answer.results == [("denied", {"reason": "Denied by owner"})]
    assert text_of(owners, who, NOTE) is None
    assert json.loads(models.rounds[1].answers[0]) == {
        "status": "denied",
        "output": {"reason": "Denied by owner"},
    }
    assert answer.text == "As you wish."


def test_reading_waits_for_nobody(talking: Any) -> None:
    talk, _, who = talking(in_order([call("memory_read", path="AGENT.md")], ["Read."]))
    answer = talk.say(who)
    assert "approval-request" not in answer.types
    assert answer.results[0][0] == "ok"


def test_an_answer_that_comes_late_is_carried_out_by_the_next_turn_once(
    talking: Any, owners: Database, decide: Decide
) -> None:
    talk, models, who = talking(in_order([WRITE], ["Good."], ["Still good."]))
    first = talk.say(who, seconds=10.5)
    assert (first.last.type, first.last.finish_reason) == ("done", "awaiting_approval")
    assert first.types == ["tool-call", "approval-request", "done"]
    assert text_of(owners, who, NOTE) is None
    request = next(event.request_id for event in first.events if event.type == "approval-request")
    decide(who, request, "approved")
    assert text_of(owners, who, NOTE) is None
    again = Talk(talk.database, models)  # another process: nothing of the first is left
    second = again.say(who, "Well?", to=first.conversation)
    assert second.types[:2] == ["approval-result", "tool-result"]
    assert second.results[0][0] == "ok"
    assert text_of(owners, who, NOTE) == "Run on Mondays.\n"
    told = models.rounds[1]
    assert [json.loads(answer)["status"] for answer in told.answers] == ["ok"]
    third = again.say(who, "And?", to=first.conversation)
    assert third.types == ["text-delta", "done"]
    assert commits(talk, who) == [f"Write {NOTE}"]
    again.close()


def test_while_it_is_undecided_the_conversation_goes_on(talking: Any, owners: Database) -> None:
    talk, models, who = talking(in_order([WRITE], ["Without it, then."]))
    first = talk.say(who, seconds=10.5)
    second = talk.say(who, "Never mind", to=first.conversation)
    assert second.types == ["text-delta", "done"]
    (answer,) = models.rounds[1].answers
    assert json.loads(answer)["output"]["code"] == "awaiting_approval"
    assert text_of(owners, who, NOTE) is None


@pytest.mark.promise("P4-memory-owner", "P4-memory-cas", "R-13")
def test_what_the_owner_edits_meanwhile_is_not_overwritten(
    talking: Any, owners: Database, decide: Decide
) -> None:
    first = STARTER["me/todo.md"].decode().splitlines()[0] + "\n"
    edit = call("memory_edit", path="me/todo.md", find=first, replace="# Theirs\n")
    talk, _, who = talking(in_order([edit], ["I see."]))

    def edit_then_approve(request: str) -> None:
        with owners.transaction(who) as tx:
            files.commit(
                tx,
                who,
                [Change("me/todo.md", b"# Mine\n")],
                origin="owner",
                author="Owner <owner@judgment.invalid>",
                message="Update me/todo.md via UI",
                at=utc_now(),
            )
        decide(who, request, "approved")

    answer = talk.say(who, on_event=when_asked(edit_then_approve))
    ((status, output),) = answer.results
    assert (status, output["code"], output["recoverable"]) == ("error", "conflict", True)
    assert text_of(owners, who, "me/todo.md") == "# Mine\n"
    assert commits(talk, who) == []


def test_two_turns_that_find_it_decided_carry_it_out_once(
    talking: Any, owners: Database, decide: Decide
) -> None:
    """The stream that asked is still open when the owner, having decided, goes on elsewhere."""
    talk, models, who = talking(in_order([WRITE], ["Done there."], ["Done here."]))
    other = Talk(talk.database, models)
    others: list[Any] = []

    def decide_and_go_on(request: str) -> None:
        decide(who, request, "approved")
        conversation = talk.rows(
            "SELECT id FROM judgment.conversations WHERE user_id = %(who)s", who
        )[0]["id"]
        others.append(other.say(who, "Elsewhere", to=conversation))

    answer = talk.say(who, on_event=when_asked(decide_and_go_on))
    assert others[0].types[:2] == ["approval-result", "tool-result"]
    assert answer.results == others[0].results
    assert commits(talk, who) == [f"Write {NOTE}"]
    other.close()


def test_a_client_that_leaves_while_it_waits_leaves_the_question_open(
    talking: Any, owners: Database, decide: Decide
) -> None:
    talk, _, who = talking(in_order([WRITE], ["Good."]))
    asked: list[str] = []

    def leave(request: str) -> None:
        asked.append(request)
        raise HangUp

    first = talk.say(who, on_event=when_asked(leave))
    assert first.types == ["tool-call", "approval-request"]
    decide(who, asked[0], "approved")
    second = talk.say(who, "Back again", to=first.conversation)
    assert second.types == ["approval-result", "tool-result", "text-delta", "done"]
    assert text_of(owners, who, NOTE) == "Run on Mondays.\n"


@pytest.mark.promise("P4-refuse", "002-26.1")
def test_another_owner_decides_nothing(talking: Any, owners: Database, decide: Decide) -> None:
    from judgment.kit.errors import NotFound

    talk, _, who = talking(in_order([WRITE], ["Good."]))
    stranger = talk.somebody()

    def try_as_another(request: str) -> None:
        with pytest.raises(NotFound):
            decide(stranger, request, "approved")
        decide(who, request, "denied")

    answer = talk.say(who, on_event=when_asked(try_as_another))
    assert answer.results[0][0] == "denied"

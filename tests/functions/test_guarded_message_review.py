"""A turn at its edges: defects of our own, time that runs out, ids and calls that come again."""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from judgment.conversation import pages, store
from judgment.conversation.approvals import Approvals
from judgment.conversation.modes import set_approval_mode
from judgment.db.connection import Database
from judgment.kit.clock import utc_now
from judgment.kit.errors import Unavailable
from judgment.llm.chat import ChatFailure, ChatMessage, ToolUse
from judgment.llm.chat_body import streaming_body
from judgment.memory import files
from judgment.memory.model import Change
from tests.fakes.chat_models import Script, ScriptedChat, call, in_order, spent
from tests.fakes.message_door import HangUp, Talk
from tests.fakes.model_server import ModelServer
from tests.fakes.model_trouble import Chatter
from tests.unit.llm.chatting import client, line

if TYPE_CHECKING:
    from uuid import UUID

    from judgment.contract.messages import AnyEvent
    from tests.databases import TestDatabase
    from tests.fakes.model_wire import Turn

Talking = Callable[..., tuple[Talk, ScriptedChat]]
NOTE, OTHER = "documents/career/note.md", "documents/career/other.md"
CALLS = "SELECT outcome, model FROM judgment.model_calls WHERE user_id = %(who)s"
WRITTEN = "SELECT message FROM judgment.memory_commits WHERE user_id = %(who)s AND origin = 'tool'"


@pytest.fixture
def talking(module_database: TestDatabase) -> Iterator[Talking]:
    made: list[Talk] = []

    def talk(script: Script, **more: Any) -> tuple[Talk, ScriptedChat]:
        models = ScriptedChat(script)
        made.append(Talk(module_database, models, **more))
        return made[-1], models

    yield talk
    for one in made:
        one.close()


@pytest.fixture
def owners(module_database: TestDatabase) -> Iterator[Database]:
    """The owner's other connection."""
    database = Database(module_database.url("judgment_process"), application_name="owner")
    yield database
    database.close()


class Failing(Database):
    """Storage that is lost after so many transactions: before the next, in it, or once that is
    committed. `after`: how many are left; None: no end."""

    def __init__(self, url: str, error: Exception | None = None, how: str = "before"):
        super().__init__(url, application_name="under-test")
        self.error = error or Unavailable()
        self.how = how
        self.after: int | None = None

    @contextmanager
    def transaction(self, *given: Any, **named: Any) -> Generator[Any]:
        lost = self.after is not None and self.after <= 0
        self.after = None if self.after is None else self.after - 1
        if lost and self.how == "before":
            raise self.error
        with super().transaction(*given, **named) as tx:
            yield tx
            if lost and self.how == "in it":
                raise self.error
        if lost:
            raise self.error


def asking(owners: Database, who: UUID) -> None:
    """Writes wait for their owner from here on."""
    with owners.transaction(who) as tx:
        pages.ensure(tx, who, utc_now())
        set_approval_mode(tx, who, "ask-on-write", utc_now())


def broken() -> None:
    raise RuntimeError("a defect of ours")


@pytest.mark.promise("P4-message-events", "P4-message-kept")
def test_a_defect_in_the_middle_ends_in_one_error_event_and_keeps_what_was_said(
    talking: Talking, capsys: pytest.CaptureFixture[str]
) -> None:
    talk, models = talking(in_order(["Half a ", "sentence", broken], ["Whole."]))
    who = talk.somebody()
    answer = talk.say(who)
    assert (answer.types, answer.last.code) == (["text-delta", "error"], "tool_error")
    assert talk.kept(who) == [("user", "Hello"), ("assistant", "Half a sentence")]
    told = [json.loads(one) for one in capsys.readouterr().out.splitlines()]
    assert len([one for one in told if one.get("error_type") == "RuntimeError"]) == 1
    assert any("InternalError" in one for one in told)
    assert [one["ended"] for one in told if one.get("message") == "request"] == ["tool_error"]
    assert talk.say(who, "Again", to=answer.conversation).text == "Whole."
    assert models.rounds[1].messages[-2].text == "Half a sentence"


@pytest.mark.promise("P4-message-events", "P4-stream-gone")
def test_a_defect_after_the_client_left_is_logged_and_told_to_nobody(
    talking: Talking, module_database: TestDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    postgres = Failing(module_database.url("judgment_process"), RuntimeError("a defect"))
    talk, _ = talking(in_order(["One. ", "Two. ", "Three. "], ["Anew."]), postgres=postgres)
    who = talk.somebody()

    def leave(event: AnyEvent) -> None:
        postgres.after = 0
        raise HangUp

    answer = talk.say(who, on_event=leave)
    assert set(answer.types) == {"text-delta"}
    assert '"error_type":"RuntimeError"' in capsys.readouterr().out
    postgres.after = None
    assert talk.say(who, "Anew", to=answer.conversation).last.type == "done"


@pytest.mark.promise("P4-message-events")
def test_storage_lost_in_the_middle_is_counted_and_logged(
    talking: Talking, module_database: TestDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    postgres = Failing(module_database.url("judgment_process"))
    talk, _ = talking(in_order(["Some."]), postgres=postgres)
    who = talk.somebody()
    postgres.after = 5  # of all before the model is asked
    answer = talk.say(who)
    assert (answer.last.type, answer.last.code) == ("error", "tool_error")
    assert "message is kept" in answer.last.message
    told = capsys.readouterr().out
    assert '"Unavailable"' in told
    assert '"error_type":"Unavailable"' in told


@pytest.mark.promise("P4-message-events", "P4-message-kept", "P4-refuse")
@pytest.mark.parametrize("error", [Unavailable(), RuntimeError("a defect")], ids=["away", "defect"])
@pytest.mark.parametrize("after", range(2, 5))
def test_once_the_message_is_stored_no_trouble_is_a_status(
    talking: Talking, module_database: TestDatabase, error: Exception, after: int
) -> None:
    postgres = Failing(module_database.url("judgment_process"), error)
    talk, _ = talking(in_order(["Never told."]), postgres=postgres)
    who = talk.somebody()
    postgres.after = after  # the model's choice, the message, and then nothing more
    answer = talk.say(who, "Keep this")
    assert answer.status == 200
    assert (answer.types, answer.last.code) == (["error"], "tool_error")
    assert talk.kept(who) == [("user", "Keep this")]
    postgres.after = None
    assert talk.say(who, "Go on", to=answer.conversation).text == "Never told."


@pytest.mark.promise("P4-approval", "P4-message-events")
def test_what_was_settled_before_storage_failed_is_told(
    talking: Talking, module_database: TestDatabase, owners: Database
) -> None:
    postgres = Failing(module_database.url("judgment_process"))
    talk, _ = talking(
        in_order([call("memory_write", path=NOTE, content="1")], ["Done."]), postgres=postgres
    )
    who = talk.somebody()
    asking(owners, who)
    first = talk.say(who, seconds=10.8)
    asked = next(e.request_id for e in first.events if e.type == "approval-request")
    Approvals(owners.transaction).decide(who, asked, "approved")
    postgres.after = 5  # choice, message, mode, open approvals, the settling; the prompt fails
    second = talk.say(who, "Well?", to=first.conversation)
    assert second.types == ["approval-result", "tool-result", "error"]
    assert second.results[0][0] == "ok"
    assert talk.rows(WRITTEN, who) == [{"message": f"Write {NOTE}"}]
    postgres.after = None
    assert talk.say(who, "And?", to=first.conversation).types == ["text-delta", "done"]


@pytest.mark.promise("P4-stream-gone")
def test_a_stop_holds_between_two_calls_of_one_completion(
    module_database: TestDatabase, owners: Database
) -> None:
    passed = [0.0]

    def stop_at_result(event: AnyEvent) -> None:
        if event.type == "tool-result":
            (one,) = talk.rows("SELECT id FROM judgment.conversations WHERE user_id = %(who)s", who)
            with owners.transaction(who) as tx:
                store.request_stop(tx, who, one["id"], utc_now())
            passed[0] += 10.0

    both = [
        "I write.",
        call("memory_write", "a", path=NOTE, content="1"),
        call("memory_write", "b", path=OTHER, content="2"),
    ]
    models = ScriptedChat(in_order(both, ["Anew."]))
    talk = Talk(module_database, models, monotonic=lambda: passed[0])
    who = talk.somebody()
    answer = talk.say(who, on_event=stop_at_result)
    assert answer.types == ["text-delta", "tool-call", "tool-result", "done"]
    assert answer.last.finish_reason == "stopped"
    assert talk.rows(WRITTEN, who) == [{"message": f"Write {NOTE}"}]
    assert talk.say(who, "Anew", to=answer.conversation).text == "Anew."
    calls = [one for message in models.rounds[1].messages for one in message.calls]
    assert [one.id for one in calls] == ["a"]
    talk.close()


@pytest.mark.promise("P4-stream-time")
def test_a_call_that_the_turns_time_cuts_off_ends_the_turn_as_stopped(talking: Talking) -> None:
    late = ChatFailure("provider_error", "The provider took too long.", spent("timeout"))
    talk, _ = talking(in_order(["Some ", late]))
    who = talk.somebody()
    answer = talk.say(who, seconds=11.5)
    assert (answer.last.type, answer.last.finish_reason) == ("done", "stopped")
    assert talk.kept(who)[-1] == ("assistant", "Some ")
    assert talk.rows(CALLS, who) == [{"outcome": "timeout", "model": "scripted"}]
    assert talk.say(who, "Again").last.type == "error"  # there was time left: the provider's fault


@pytest.mark.promise("P4-stream-time", "P4-refuse")
def test_a_provider_without_end_is_stopped_by_the_clock_and_accounted_for(
    module_database: TestDatabase,
) -> None:
    import_module("judgment.llm.chat_line")  # which takes a while, and is not what is timed
    endless = Chatter(line({"content": "On and "}), line({"content": "on "}))

    def without_end(turn: Turn) -> Chatter:
        return endless

    with ModelServer(without_end) as server:
        talk = Talk(module_database, client(server))
        who = talk.somebody()
        answer = talk.say(who, seconds=15.0)
        talk.close()
    assert (answer.last.type, answer.last.finish_reason) == ("done", "stopped")
    assert talk.kept(who)[-1] == ("assistant", answer.text)
    assert len(talk.rows(CALLS, who)) == 1


@pytest.mark.promise("P4-stream-gone")
def test_a_call_that_was_left_is_on_record_too(talking: Talking) -> None:
    talk, _ = talking(in_order(["One. ", "Two. ", "Three. "]))
    who = talk.somebody()

    def leave(event: AnyEvent) -> None:
        raise HangUp

    talk.say(who, on_event=leave)
    assert talk.rows(CALLS, who) == [{"outcome": "stopped", "model": "scripted"}]


@pytest.mark.promise("P4-provider-calls", "P4-message-loop")
def test_an_id_that_an_earlier_turn_used_is_not_used_again(talking: Talking) -> None:
    read = call("memory_read", "call_1", path="AGENT.md")
    talk, models = talking(in_order([read], ["Read."], [read], ["Read again."]))
    who = talk.somebody()
    first = talk.say(who)
    talk.say(who, "Again", to=first.conversation)
    ids = [one.id for message in models.rounds[3].messages for one in message.calls]
    answered = [message.call_id for message in models.rounds[3].messages if message.call_id]
    assert len(ids) == 2 == len(set(ids))
    assert answered == ids


@pytest.mark.promise("P4-message-loop")
def test_a_model_that_keeps_calling_what_is_not_there_is_ended(talking: Talking) -> None:
    talk, models = talking(in_order([call("memory_burn", path="x")]))
    answer = talk.say(talk.somebody(), seconds=25.0)
    assert (answer.last.type, answer.last.code) == ("error", "provider_error")
    assert len(models.rounds) == 5
    assert {output["code"] for _, output in answer.results} == {"tool_unavailable"}


@pytest.mark.promise("P4-message-prompt")
def test_a_page_of_blanks_is_no_page(talking: Talking) -> None:
    talk, models = talking(in_order(["Hello."]))
    assert talk.say(talk.somebody(), page="  ").status == 200
    assert "Active Project" not in models.rounds[0].told


@pytest.mark.promise("P4-message-window")
def test_what_is_too_long_to_be_given_is_refused_and_not_kept(
    talking: Talking, owners: Database
) -> None:
    talk, _ = talking(in_order(["Hello."], [call("memory_read", path=NOTE)], ["I see."]))
    who = talk.somebody()
    conversation = talk.say(who).conversation
    with owners.transaction(who) as tx:
        big = [Change(NOTE, b"word\n" * 300_000)]
        files.commit(tx, who, big, origin="import", author="A <a@b>", message="m", at=utc_now())
    answer = talk.say(who, "Read it", to=conversation)
    assert [output["code"] for _, output in answer.results] == ["invalid_input"]
    assert sum(len(text) for _, text in talk.kept(who)) < 2_000


@pytest.mark.promise("P4-provider-calls", "P4-message-loop")
def test_a_name_that_a_model_made_up_is_sent_as_a_name_can_be() -> None:
    made_up = ToolUse("c1", "functions.memory read\n" + "x" * 100, {})
    body = streaming_body([ChatMessage("assistant", "", (made_up,))], (), counted=False)
    name = body["messages"][0]["tool_calls"][0]["function"]["name"]
    assert name == "functions_memory_read_" + "x" * 42


@pytest.mark.promise("P4-refuse", "P4-message-kept", "P4-approval", "P4-message-events")
@pytest.mark.parametrize("how", ["before", "in it", "committed"])
def test_wherever_storage_is_lost_files_and_messages_agree_and_it_goes_on(
    module_database: TestDatabase, owners: Database, how: str
) -> None:
    approvals = Approvals(owners.transaction)

    def approve(event: AnyEvent) -> None:
        if event.type == "approval-request":
            approvals.decide(who, event.request_id, "approved")

    for at in range(2, 14):  # after the model's choice and the message
        write = ["I write.", call("memory_write", path=NOTE, content="1")]
        edit = [call("memory_edit", path=NOTE, find="1", replace="2")]
        models = ScriptedChat(in_order(write, edit, ["Done."]))
        torn = Failing(module_database.url("judgment_process"), how=how)
        talk = Talk(module_database, models, postgres=torn)
        who = talk.somebody()
        asking(owners, who)
        torn.after = at
        answer = talk.say(who, on_event=approve)
        assert torn.after < 0, "the turn never came so far"
        assert [e.type for e in answer.events if e.type in ("done", "error")] == ["error"]
        torn.after, models.script = None, in_order(["Next."])
        for _ in range(2):
            assert talk.say(who, "And?", to=answer.conversation).last.type == "done"
        kept = [json.loads(text) for role, text in talk.kept(who) if role == "tool"]
        done = [one["call"]["name"] for one in kept if one["status"] == "ok"]
        assert len(talk.rows(WRITTEN, who)) == len(done) == len(set(done))
        told = models.rounds[-1].messages
        made = [one.id for message in told for one in message.calls]
        assert made == [message.call_id for message in told if message.call_id]
        talk.close()

"""What goes wrong in a turn: providers, clients, time, storage. Nothing confirmed is lost."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from judgment.conversation import store
from judgment.db.connection import Database
from judgment.kit.clock import utc_now
from judgment.llm.chat import ChatFailure
from judgment.memory import files
from judgment.memory.model import Change
from tests.fakes.chat_models import Script, ScriptedChat, call, in_order, spent
from tests.fakes.message_door import HangUp, Talk

if TYPE_CHECKING:
    from judgment.contract.messages import AnyEvent
    from tests.databases import TestDatabase

Talking = Callable[..., tuple[Talk, ScriptedChat]]
NOTE = "documents/career/note.md"


@pytest.fixture
def talking(module_database: TestDatabase) -> Iterator[Talking]:
    made: list[Talk] = []

    def talk(script: Script, **more: Any) -> tuple[Talk, ScriptedChat]:
        models = ScriptedChat(script, **more)
        made.append(Talk(module_database, models))
        return made[-1], models

    yield talk
    for one in made:
        one.close()


def trouble(kind: Any = "provider_error", outcome: str = "provider_error") -> ChatFailure:
    return ChatFailure(kind, "The provider is in trouble.", spent(outcome))


def cut_connections(talk: Talk) -> None:
    with psycopg.connect(talk.database.admin_url, autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE usename = 'judgment_process' AND datname = current_database()"
        )


def close_the_door(talk: Talk, *, allowed: bool) -> None:
    """Let `judgment_process` in or not, as an outage does; the statement is the server's."""
    with psycopg.connect(talk.database.admin_url, autocommit=True) as admin:
        limit = -1 if allowed else 0
        admin.execute(f"ALTER DATABASE {talk.database.name} CONNECTION LIMIT {limit}".encode())
    if not allowed:
        cut_connections(talk)


@pytest.mark.promise("P4-refuse", "P4-message-kept")
def test_a_provider_that_fails_at_once_leaves_the_message(talking: Talking) -> None:
    talk, _ = talking(in_order([trouble()]))
    who = talk.somebody()
    answer = talk.say(who, "Hello", page="career")
    assert answer.status == 200
    assert answer.types == ["error"]
    assert (answer.last.code, answer.last.message) == (
        "provider_error",
        "The provider is in trouble.",
    )
    assert talk.kept(who) == [("user", "Hello")]
    calls = talk.rows("SELECT outcome FROM judgment.model_calls WHERE user_id = %(who)s", who)
    assert calls == [{"outcome": "provider_error"}]
    page = "SELECT conversation_id FROM judgment.projects WHERE user_id = %(who)s AND id = 'career'"
    assert talk.rows(page, who) == [{"conversation_id": answer.conversation}]


@pytest.mark.promise("P4-refuse")
def test_what_was_said_before_the_provider_failed_is_kept(talking: Talking) -> None:
    talk, models = talking(in_order(["Half a ", "sent", trouble()], ["Whole."]))
    who = talk.somebody()
    answer = talk.say(who)
    assert answer.types == ["text-delta", "error"]
    assert talk.kept(who)[-1] == ("assistant", "Half a sent")
    assert talk.say(who, "Again", to=answer.conversation).text == "Whole."
    assert [m.text for m in models.rounds[1].messages[1:]] == ["Hello", "Half a sent", "Again"]


@pytest.mark.promise("P4-refuse")
def test_a_provider_that_fails_after_a_tools_result_leaves_the_effect(talking: Talking) -> None:
    talk, models = talking(
        in_order(
            [call("memory_write", path=NOTE, content="Kept.\n")], [trouble()], ["It is written."]
        )
    )
    who = talk.somebody()
    answer = talk.say(who)
    assert answer.types == ["tool-call", "tool-result", "error"]
    again = talk.say(who, "And?", to=answer.conversation)
    assert again.text == "It is written."
    assert len(models.rounds[2].answers) == 1
    written = talk.rows("SELECT path FROM judgment.memory_files WHERE user_id = %(who)s", who)
    assert {"path": NOTE} in written


@pytest.mark.promise("P4-refuse", "P4-message-window")
def test_what_does_not_fit_the_window_is_said_and_kept(talking: Talking) -> None:
    talk, models = talking(in_order(["never"]), window=4096)
    who = talk.somebody()
    answer = talk.say(who, "word " * 4000)
    assert (answer.types, answer.last.code) == (["error"], "context_overflow")
    assert models.rounds == []
    assert len(talk.kept(who)) == 1


@pytest.mark.promise("P4-message-window", "P4-starter-size")
def test_a_small_window_takes_a_turn_that_reads_a_procedure_whole(talking: Talking) -> None:
    read = "documents/fitness/run-interview.md"
    talk, models = talking(in_order([call("memory_read", path=read)], ["Ready."]), window=4096)
    answer = talk.say(talk.somebody(), "Let's get started", page="fitness")
    assert answer.text == "Ready."
    assert answer.results[0][1]["content"] in _told(models.rounds[1].answers[0])


def _told(answer: str) -> str:
    return json.loads(answer)["output"]["content"]


@pytest.mark.promise("P4-stream-gone", "P4-refuse")
def test_a_client_that_leaves_ends_the_generation(talking: Talking) -> None:
    talk, models = talking(in_order(["One. ", "Two. ", "Three. "], ["Going on."]))
    who = talk.somebody()

    def leave_at_two(event: AnyEvent) -> None:
        if event.type == "text-delta" and event.delta == "Two. ":
            raise HangUp

    answer = talk.say(who, on_event=leave_at_two)
    assert "done" not in answer.types
    assert "error" not in answer.types
    (role, text) = talk.kept(who)[-1]
    assert role == "assistant"
    assert text.startswith("One. Two. ")
    assert talk.say(who, "Go on", to=answer.conversation).text == "Going on."
    assert models.rounds[1].messages[-2].text == text


@pytest.mark.promise("P4-stream-time")
def test_a_turn_ends_before_the_function_does(talking: Talking) -> None:
    talk, models = talking(in_order(["never"]))
    answer = talk.say(talk.somebody(), seconds=5.0)
    assert (answer.last.type, answer.last.finish_reason) == ("done", "stopped")
    talk, models = talking(in_order(["Yes."]))
    talk.say(talk.somebody(), seconds=60.0)
    assert models.rounds[0].deadline.remaining() <= 50.0


@pytest.mark.promise("P4-stream-gone")
def test_the_owner_stops_a_running_turn(module_database: TestDatabase) -> None:
    passed = [0.0]
    owners = Database(module_database.url("judgment_process"), application_name="owner")

    def stop() -> None:
        with owners.transaction(who) as tx:
            (one,) = talk.rows("SELECT id FROM judgment.conversations WHERE user_id = %(who)s", who)
            store.request_stop(tx, who, one["id"], utc_now())
        passed[0] += 10.0  # more than a turn goes without looking

    models = ScriptedChat(in_order(["One. ", stop, "Two. ", "Three. "], ["Anew."]))
    talk = Talk(module_database, models, monotonic=lambda: passed[0])
    who = talk.somebody()
    answer = talk.say(who)
    assert (answer.text, answer.last.finish_reason) == ("One. ", "stopped")
    assert talk.kept(who)[-1] == ("assistant", "One. ")
    assert talk.say(who, "Anew", to=answer.conversation).last.finish_reason == "stop"
    talk.close()
    owners.close()


@pytest.mark.promise("P4-memory-cas", "P4-memory-owner", "P4-refuse")
def test_a_file_that_changed_since_the_turn_read_it_is_not_overwritten(
    talking: Talking,
) -> None:
    owners: list[Database] = []

    def owner_edits() -> None:
        owners.append(Database(talk.database.url("judgment_process")))
        with owners[0].transaction(who) as tx:
            files.commit(
                tx,
                who,
                [Change("me/profile.md", b"# Mine\n")],
                origin="owner",
                author="Owner <owner@judgment.invalid>",
                message="Update owner profile via UI",
                at=utc_now(),
            )

    talk, models = talking(
        in_order(
            [call("memory_read", "a", path="me/profile.md")],
            [owner_edits, call("memory_write", "b", path="me/profile.md", content="# Theirs\n")],
            [call("memory_read", "c", path="me/profile.md")],
            [call("memory_write", "d", path="me/profile.md", content="# Both\n")],
            ["Written."],
        )
    )
    who = talk.somebody()
    answer = talk.say(who)
    codes = [output.get("code") for _, output in answer.results]
    assert codes == [None, "conflict", None, None]
    assert "# Mine" in models.rounds[3].answers[-1]
    owners[0].close()


@pytest.mark.promise("P4-memory-cas", "P4-memory-owner", "P4-refuse")
@pytest.mark.parametrize("edits", [False, True])
def test_what_the_owner_edits_between_two_turns_is_not_overwritten(
    talking: Talking, edits: bool
) -> None:
    path = "me/profile.md"
    first = [call("memory_read", "a", path=path)]
    if edits:
        first.append(call("memory_edit", "b", path=path, find="# Your Profile", replace="# Me"))
    talk, _ = talking(
        in_order(
            first,
            ["Read."],
            [call("memory_write", "c", path=path, content="# Theirs\n")],
            ["I see."],
            [call("memory_read", "d", path=path)],
            [call("memory_write", "e", path=path, content="# Both\n")],
            ["Written."],
        )
    )
    who = talk.somebody()
    conversation = talk.say(who).conversation
    with talk.postgres.transaction(who) as tx:
        files.commit(
            tx,
            who,
            [Change(path, b"# Mine\n")],
            origin="owner",
            author="Owner <owner@judgment.invalid>",
            message="Update owner profile via UI",
            at=utc_now(),
        )
    second = talk.say(who, "Write it", to=conversation)
    assert [output.get("code") for _, output in second.results] == ["conflict"]
    third = talk.say(who, "Read it first", to=conversation)
    assert [status for status, _ in third.results] == ["ok", "ok"]


@pytest.mark.promise("P4-refuse", "P4-message-kept")
def test_storage_lost_in_the_middle_ends_with_an_error_of_ours(fresh_database: Any) -> None:
    models = ScriptedChat(lambda told: ["Some ", lose, "more."])
    talk = Talk(fresh_database, models)
    lose: Callable[[], None] = lambda: close_the_door(talk, allowed=False)  # noqa: E731
    who = talk.somebody()
    answer = talk.say(who, "Keep this")
    assert answer.text == "Some more."
    assert (answer.last.type, answer.last.code) == ("error", "tool_error")
    assert "message is kept" in answer.last.message
    close_the_door(talk, allowed=True)
    assert talk.kept(who) == [("user", "Keep this")]
    models.script = in_order(["Here again."])
    assert talk.say(who, "Go on", to=answer.conversation).text == "Here again."
    talk.close()


@pytest.mark.promise("P4-refuse")
def test_storage_away_before_the_message_is_a_503(fresh_database: Any) -> None:
    models = ScriptedChat(in_order(["never"]))
    talk = Talk(fresh_database, models)
    who = talk.somebody()
    close_the_door(talk, allowed=False)
    answer = talk.say(who, "Hello")
    assert answer.status == 503
    assert set(answer.error) == {"error"}
    assert models.rounds == []
    close_the_door(talk, allowed=True)
    talk.close()


@pytest.mark.promise("P4-message")
def test_turns_at_once_do_not_mix(module_database: TestDatabase) -> None:
    """Two messages into one conversation and one into another, all at the same time."""
    meet = threading.Barrier(3, timeout=30)

    talk = Talk(module_database, ScriptedChat(in_order(["First."])))
    who = talk.somebody()
    conversation = talk.say(who, "Begin").conversation

    answers: dict[str, Any] = {}

    def one(name: str, to: str | None) -> None:
        def own(told: Any) -> list[Any]:
            if told.messages[-1].role == "tool":
                return [f"Answer to {name}."]
            assert told.messages[-1].text == name
            return [meet.wait, f"Looking for {name}. ", call("memory_read", path="AGENT.md")]

        mine = Talk(module_database, ScriptedChat(own))
        answers[name] = mine.say(who, name, to=to)
        mine.close()

    threads = [
        threading.Thread(target=one, args=(name, to))
        for name, to in (("alpha", conversation), ("beta", conversation), ("gamma", None))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in ("alpha", "beta", "gamma"):
        assert answers[name].text == f"Looking for {name}. Answer to {name}."
    models = ScriptedChat(in_order(["Last."]))
    after = Talk(module_database, models)
    after.say(who, "End", to=conversation)
    told = [m.text for m in models.rounds[0].messages if m.role in ("user", "assistant")]
    for name in ("alpha", "beta"):
        place = told.index(name)
        assert told[place : place + 3] == [name, f"Looking for {name}. ", f"Answer to {name}."]
    assert "gamma" not in told
    after.close()
    talk.close()


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("memory_read", {"path": "../../etc/passwd"}),
        ("memory_read", {"path": "/etc/passwd"}),
        ("memory_read", {"path": ".git/config"}),
        ("memory_read", {"path": ".GIT/config"}),
        ("memory_write", {"path": ".g\u200dit/config", "content": "x"}),
        ("memory_write", {"path": "Diagnostics/process-guardrails/state/x.json", "content": "x"}),
        ("memory_write", {"path": "preferences/default.json", "content": "{}"}),
        ("memory_write", {"path": "conversations/x.md", "content": "x"}),
        ("memory_write", {"path": "documents/projects.json", "content": "[]"}),
        ("memory_write", {"path": "ME/profile.md", "content": "x"}),
        ("memory_write", {"path": "", "content": "x"}),
        ("memory_write", {"path": "a\0b", "content": "x"}),
        ("memory_write", {"path": "me/profile.md", "content": "# Me\n[rest unchanged]\n"}),
        ("memory_write", {"path": "a.md", "content": "\ud800"}),
        ("memory_write", {"path": "a.md"}),
        ("memory_edit", {"path": "me/profile.md", "find": "\n", "replace": ""}),
        ("memory_delete", {"path": "."}),
        ("memory_list", {"path": "..", "x": 1}),
    ],
)
def test_a_call_that_must_not_be_is_an_error_the_turn_survives(
    talking: Talking, name: str, given: dict[str, Any]
) -> None:
    talk, _ = talking(in_order([call(name, **given)], ["I see."]))
    who: uuid.UUID = talk.somebody()
    answer = talk.say(who)
    ((status, output),) = answer.results
    assert status == "error"
    assert set(output) == {"code", "message", "recoverable"}
    assert output["recoverable"] is True
    assert answer.text == "I see."
    made = talk.rows(
        "SELECT message FROM judgment.memory_commits WHERE user_id = %(who)s AND origin = 'tool'",
        who,
    )
    assert made == []


def test_a_replacement_is_taken_literally(talking: Talking) -> None:
    edit = call("memory_edit", "b", path=NOTE, find="cost", replace="$& $$5 $1")
    talk, _ = talking(
        in_order([call("memory_write", "a", path=NOTE, content="The cost.\n")], [edit], ["Done."])
    )
    who = talk.somebody()
    talk.say(who)
    (row,) = talk.rows(
        "SELECT convert_from(b.content, 'UTF8') AS text FROM judgment.memory_files f"
        " JOIN judgment.memory_blobs b USING (user_id, sha256)"
        f" WHERE f.user_id = %(who)s AND f.path = '{NOTE}'",
        who,
    )
    assert row["text"] == "The $& $$5 $1.\n"

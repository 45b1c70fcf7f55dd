"""An ordinary turn through the door: a real database, a scripted model."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.fakes.chat_models import CHOICE, Round, Script, ScriptedChat, call, in_order
from tests.fakes.message_door import Talk

if TYPE_CHECKING:
    from tests.databases import TestDatabase

Talking = Callable[..., tuple[Talk, ScriptedChat]]
SAID = "SELECT role, content, id FROM judgment.conversation_messages WHERE user_id = %(who)s"
COUNTED = (
    *("memory_state", "memory_commits", "conversations", "conversation_messages", "projects"),
    "model_calls",
)


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


def rows_of(talk: Talk, who: uuid.UUID) -> dict[str, int]:
    return {
        table: talk.rows(f"SELECT count(*) FROM judgment.{table} WHERE user_id = %(who)s", who)[0][
            "count"
        ]
        for table in COUNTED
    }


@pytest.mark.promise("P4-message-events", "002-12.1", "FR-018", "NFR-008", "AC-034")
def test_a_message_is_answered_piece_by_piece_and_kept(talking: Talking) -> None:
    talk, models = talking(in_order(["Good ", "morning."]))
    who = talk.somebody()
    answer = talk.say(who, " ")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/event-stream"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["connection"] == "keep-alive"
    assert [event.delta for event in answer.events[:-1]] == ["Good ", "morning."]
    done = answer.last
    assert (done.type, done.finish_reason) == ("done", "stop")
    assert done.conversation_id == answer.conversation
    assert talk.kept(who) == [("user", " "), ("assistant", "Good morning.")]
    (said,) = [row for row in talk.rows(SAID, who) if row["role"] == "assistant"]
    assert done.message_id == said["id"]
    calls = talk.rows("SELECT * FROM judgment.model_calls WHERE user_id = %(who)s", who)
    assert [(one["role"], one["prompt_tokens"], one["outcome"]) for one in calls] == [
        ("message", 10, "ok")
    ]
    assert models.rounds[0].messages[-1].text == " "


@pytest.mark.promise("P4-message", "R-41", "002-20.1", "P4-refuse")
@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "null",
        {"content": ""},
        {"content": 7},
        {"content": None},
        {"metadata": {}},
        {"content": "x", "metadata": {"process": {}}},
        {"content": "x", "metadata": {"Client": "web"}},
        {"content": "x", "metadata": {"project": ""}},
        {"content": "x", "metadata": {"client": 1}},
        {"content": "x", "metadata": []},
        {"content": "a\0b"},
        {"content": "x", "metadata": {"project": "a\0"}},
        '{"content": "\\ud800"}',
        '{"content": "\\udc00x"}',
    ],
)
def test_what_is_no_message_is_refused_in_the_gateways_words(talking: Talking, body: Any) -> None:
    talk, models = talking(in_order(["never"]))
    who = talk.somebody()
    answer = talk.say(who, body=body)
    assert (answer.status, answer.error) == (400, {"error": "Invalid request"})
    assert set(rows_of(talk, who).values()) == {0}
    assert models.rounds == []


@pytest.mark.promise("P4-message", "R-41")
def test_unknown_outer_keys_are_ignored_and_retry_fields_accepted(talking: Talking) -> None:
    talk, _ = talking(in_order(["Yes."]))
    retry = {"client": "web", "project": "fitness"}
    retry |= {"retry_of_message_id": "m-1", "retry_reason": "network"}
    answer = talk.say(talk.somebody(), body={"content": "x", "metadata": retry, "other": [1]})
    assert answer.text == "Yes."


@pytest.mark.promise("P4-message", "P4-refuse")
@pytest.mark.parametrize(
    "name",
    [
        "nobody",
        "../../etc",
        "..%2f",
        "a/b",
        "",
        "5d1c1c1e-52c2-4c8e-8d0c-6a4f5f1d8a10",
        "x" * 500,
        "é",
        "a b",
    ],
)
def test_an_unknown_conversation_is_404_before_anything_is_written(
    talking: Talking, name: str
) -> None:
    talk, models = talking(in_order(["never"]))
    who = talk.somebody()
    answer = talk.say(who, "Hello", to=name)
    assert (answer.status, answer.error) == (404, {"error": "Conversation not found"})
    assert set(rows_of(talk, who).values()) == {0}
    assert models.rounds == []


@pytest.mark.promise("P4-refuse", "002-26.1")
def test_anothers_conversation_is_as_unknown_as_none(talking: Talking) -> None:
    talk, _ = talking(in_order(["Mine."]))
    mine, other = talk.somebody(), talk.somebody()
    first = talk.say(mine, "Hello")
    answer = talk.say(other, "Hello", to=first.conversation)
    assert (answer.status, answer.error) == (404, {"error": "Conversation not found"})
    assert len(talk.kept(mine)) == 2


@pytest.mark.promise("P4-refuse")
def test_a_message_of_a_megabyte_is_too_large(talking: Talking) -> None:
    talk, _ = talking(in_order(["never"]))
    who = talk.somebody()
    answer = talk.say(who, "x" * 1_000_000)
    assert answer.status == 413
    assert set(answer.error) == {"error"}
    assert set(rows_of(talk, who).values()) == {0}


def test_nobody_is_401(talking: Talking) -> None:
    talk, _ = talking(in_order(["never"]))
    answer = talk.say(None, "Hello")
    assert (answer.status, answer.error) == (401, {"error": "Unauthorized"})


def test_without_a_model_it_says_what_to_set_and_keeps_nothing(talking: Talking) -> None:
    talk, _ = talking(in_order(["never"]), operator=None)
    who = talk.somebody()
    answer = talk.say(who, "Hello")
    assert answer.status == 503
    assert "MODEL_MESSAGE" in answer.error["error"]
    assert set(rows_of(talk, who).values()) == {0}


@pytest.mark.promise("P4-message-kept")
def test_the_message_is_stored_and_attached_before_the_model_is_asked(talking: Talking) -> None:
    found: list[Any] = []

    def script(told: Round) -> list[Any]:
        found.append(talk.kept(who))
        found.append(talk.rows(attached, who))
        return ["Yes."]

    attached = (
        "SELECT id, conversation_id FROM judgment.projects"
        " WHERE user_id = %(who)s AND conversation_id IS NOT NULL"
    )
    talk, _ = talking(script)
    who = talk.somebody()
    answer = talk.say(who, "Plan my week", page="fitness")
    assert found[0] == [("user", "Plan my week")]
    assert found[1] == [{"id": "fitness", "conversation_id": answer.conversation}]


def test_a_conversation_goes_on_with_what_was_said_and_done(talking: Talking) -> None:
    talk, models = talking(
        in_order(
            ["I look.", call("memory_read", path="me/profile.md")],
            ["Read it."],
            ["As I said."],
        )
    )
    who = talk.somebody()
    first = talk.say(who, "Read my profile")
    assert first.types == ["text-delta", "tool-call", "tool-result", "text-delta", "done"]
    talk.say(who, "Go on", to=first.conversation)
    told = [(message.role, message.text) for message in models.rounds[2].messages[1:]]
    assert [role for role, _ in told] == ["user", "assistant", "tool", "assistant", "user"]
    assert [text for role, text in told if role != "tool"] == [
        "Read my profile",
        "I look.",
        "Read it.",
        "Go on",
    ]
    answered = models.rounds[2].messages[3]
    assert answered.call_id == models.rounds[2].messages[2].calls[0].id
    assert json.loads(answered.text)["output"]["path"] == "me/profile.md"


@pytest.mark.promise("P4-message-prompt")
def test_the_prompt_is_date_base_overlay_and_page(talking: Talking) -> None:
    talk, models = talking(
        in_order(
            [call("memory_write", path="AGENT-user.md", content="Call me Captain.  \n\n")],
            ["Done."],
            ["Aye."],
        )
    )
    who = talk.somebody()
    talk.say(who, "Remember how to call me", page="career")
    talk.say(who, "Hello", page="career")
    system = models.rounds[2].messages[0]
    assert system.role == "system"
    assert system.text.startswith("Today's date is 20")
    base = system.text.index("## Managed Base: AGENT.md")
    overlay = system.text.index("## Owner Overlay: AGENT-user.md")
    page = system.text.index("## Active Project")
    assert base < overlay < page
    assert "Call me Captain.  \n\n" in system.text
    assert "documents/career/spec.md" in system.text[page:]
    assert "# Active Skills" not in system.text


@pytest.mark.promise("P4-message-loop")
def test_a_tool_that_is_not_offered_is_told_so(talking: Talking) -> None:
    talk, _ = talking(in_order([call("process_start", kind="x")], ["I see."]))
    answer = talk.say(talk.somebody())
    ((status, output),) = answer.results
    assert (status, output["code"], output["recoverable"]) == ("error", "tool_unavailable", True)
    assert answer.text == "I see."


@pytest.mark.promise("P4-message-loop")
def test_the_third_identical_call_is_not_made(talking: Talking) -> None:
    talk, _ = talking(
        in_order(
            [call("memory_list", "a", path="me")],
            [call("memory_list", "b", path="me"), call("memory_list", "c", path="documents")],
            [call("memory_list", "d", path="me")],
            ["Enough."],
        )
    )
    answer = talk.say(talk.somebody())
    assert [status for status, _ in answer.results] == ["ok", "ok", "ok", "error"]
    assert answer.results[-1][1]["code"] == "loop_guard"


@pytest.mark.promise("P4-message-loop")
def test_a_model_that_only_repeats_itself_is_ended(talking: Talking) -> None:
    talk, models = talking(in_order([call("memory_list", path="me")]))
    answer = talk.say(talk.somebody())
    assert (answer.last.type, answer.last.code) == ("error", "provider_error")
    assert "repeating" in answer.last.message
    assert [status for status, _ in answer.results] == ["ok", "ok", "error", "error", "error"]
    assert len(models.rounds) == 5


@pytest.mark.promise("P4-message-loop")
def test_what_a_turn_wrote_it_does_not_delete(talking: Talking) -> None:
    talk, _ = talking(
        in_order(
            [call("memory_write", "a", path="documents/x/note.md", content="1")],
            [call("memory_delete", "b", path="documents/x")],
            [call("memory_delete", "c", path="documents/./x/note.md")],
            ["Kept."],
        )
    )
    who = talk.somebody()
    answer = talk.say(who)
    assert [output.get("code") for _, output in answer.results[1:]] == ["mutation_scope_guard"] * 2
    kept = talk.rows("SELECT path FROM judgment.memory_files WHERE user_id = %(who)s", who)
    assert {"path": "documents/x/note.md"} in kept


@pytest.mark.promise("P4-provider-calls", "P4-message-loop")
def test_malformed_arguments_are_an_error_the_model_hears(talking: Talking) -> None:
    from judgment.llm.chat import ToolUse

    broken = ToolUse("a", "memory_write", None, "The arguments are no JSON object.")
    talk, models = talking(in_order([broken], ["Again?"]))
    who = talk.somebody()
    answer = talk.say(who)
    ((status, output),) = answer.results
    assert (status, output["code"]) == ("error", "invalid_input")
    assert "no JSON object" in models.rounds[1].answers[0]


@pytest.mark.promise("P4-message-loop")
def test_nothing_said_is_asked_again_once(talking: Talking) -> None:
    talk, models = talking(in_order([" \n"], ["There."]))
    assert talk.say(talk.somebody()).text.strip() == "There."
    assert len(models.rounds) == 2
    talk, models = talking(in_order([""[:0]], [], []))
    who = talk.somebody()
    answer = talk.say(who)
    assert (answer.last.type, answer.last.code) == ("error", "provider_error")
    assert len(models.rounds) == 2
    assert [role for role, _ in talk.kept(who)] == ["user"]


def test_two_calls_of_one_id_are_told_apart(talking: Talking) -> None:
    talk, _ = talking(
        in_order(
            [call("memory_list", "call_0", path="me")],
            [call("memory_list", "call_0", path="documents")],
            ["Both."],
        )
    )
    answer = talk.say(talk.somebody())
    ids = [event.id for event in answer.events if event.type == "tool-call"]
    assert len(set(ids)) == 2
    assert ids == [event.id for event in answer.events if event.type == "tool-result"]


@pytest.mark.promise("P4-provider-keys", "R-31")
def test_the_owners_own_model_is_asked(module_database: TestDatabase) -> None:
    from judgment.llm.model import ModelChoice

    asked: list[ModelChoice] = []

    class Noting(ScriptedChat):
        def converse(self, choice: ModelChoice, *args: Any, **more: Any) -> Any:
            asked.append(choice)
            return super().converse(choice, *args, **more)

    mine = ModelChoice("openrouter", "some/model", key_secret="judgment/owners/x/y")
    talk = Talk(module_database, Noting(in_order(["Yes."])), own=lambda tx, who, role: mine)
    talk.say(talk.somebody())
    assert asked == [mine]
    assert mine != CHOICE
    talk.close()

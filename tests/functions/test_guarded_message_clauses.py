"""A turn over the bytes of a provider in trouble, its guards in their order, and what it reads."""

from __future__ import annotations

import itertools
import json
import uuid
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from judgment.conversation import pages
from judgment.conversation.modes import set_approval_mode
from judgment.kit.clock import utc_now
from tests.fakes.chat_models import Script, ScriptedChat, call, in_order
from tests.fakes.message_door import HangUp, Talk
from tests.fakes.model_server import ModelServer, always
from tests.fakes.model_trouble import Chatter, Pieces
from tests.fakes.model_wire import Call, Fail, OfferedTool, Say, Turn
from tests.unit.llm.chatting import DONE, client, line, piece

if TYPE_CHECKING:
    from judgment.contract.messages import AnyEvent
    from tests.databases import TestDatabase

NOTE, OTHER = "documents/career/note.md", "documents/career/other.md"
Talking = Callable[..., tuple[Talk, ScriptedChat]]
PATHS = "SELECT path FROM judgment.memory_files WHERE user_id = %(who)s AND path LIKE '%%note.md'"
BOTH = "SELECT path FROM judgment.memory_files WHERE user_id = %(who)s AND path IN ('{}', '{}')"
TOOL_COMMITS = (
    "SELECT message FROM judgment.memory_commits WHERE user_id = %(who)s AND origin = 'tool'"
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(always("no script")) as made:
        yield made


@pytest.fixture
def talk(module_database: TestDatabase, server: ModelServer) -> Iterator[Talk]:
    """The door over a client that speaks to `server` on a socket; its window has 4,096 tokens."""
    made = Talk(module_database, client(server))
    yield made
    made.close()


@pytest.fixture
def talking(module_database: TestDatabase) -> Iterator[Talking]:
    made: list[Talk] = []

    def begin(script: Script) -> tuple[Talk, ScriptedChat]:
        models = ScriptedChat(script)
        made.append(Talk(module_database, models))
        return made[-1], models

    yield begin
    for one in made:
        one.close()


def replies(server: ModelServer, *rounds: Any) -> None:
    """One a request, the last for ever."""
    left = list(rounds)

    def script(turn: Turn) -> Any:
        return left.pop(0) if len(left) > 1 else left[0]

    server.script = script


def write(path: str = NOTE) -> Call:
    return Call(OfferedTool("memory_write"), {"path": path, "content": "Kept.\n"})


def goes_on(talk: Talk, server: ModelServer, who: uuid.UUID, conversation: str) -> list[Any]:
    """The conversation has the owner's message and takes another; what its model was told."""
    assert talk.kept(who)[0] == ("user", "Hello")
    server.turns.clear()
    replies(server, Say("Going on."))
    again = talk.say(who, "And now?", to=conversation)
    assert again.text == "Going on."
    assert again.last.type == "done"
    told = server.turns[0].body["messages"]
    assert [m["content"] for m in told if m["role"] == "user"] == ["Hello", "And now?"]
    return told


@pytest.mark.promise("P4-refuse", "P4-provider-errors", "P4-message-kept")
@pytest.mark.parametrize(
    ("reply", "code", "said"),
    [
        (Fail(429, "slow down"), "provider_error", ""),
        (Fail(500, "no user query found in messages"), "context_overflow", ""),
        (Fail(400, "maximum context length is 4096 tokens"), "context_overflow", ""),
        (Pieces((line({"content": "Half."}),)), "provider_error", "Half."),
        (
            Pieces(
                (
                    line({"content": "I wri"}),
                    piece(0, id="a", name="memory_write", arguments='{"path": "' + NOTE + '", "co'),
                )
            ),
            "provider_error",
            "I wri",
        ),
    ],
    ids=["429", "overflow after a tool", "4k overflow", "stops", "stops in a call"],
)
def test_a_provider_that_fails_costs_the_answer_and_nothing_else(
    talk: Talk, server: ModelServer, reply: Any, code: str, said: str
) -> None:
    who = talk.somebody()
    replies(server, reply)
    answer = talk.say(who)
    assert answer.status == 200
    assert answer.types == [*(["text-delta"] if said else []), "error"]
    assert (answer.last.code, answer.text) == (code, said)
    assert len(server.turns) == 1
    assert talk.kept(who) == [("user", "Hello"), *([("assistant", said)] if said else [])]
    assert talk.rows(TOOL_COMMITS, who) == []
    goes_on(talk, server, who, answer.conversation)


@pytest.mark.promise("P4-refuse", "P4-message-loop")
def test_a_provider_that_fails_after_a_tools_result_leaves_both(
    talk: Talk, server: ModelServer
) -> None:
    who = talk.somebody()
    replies(server, write(), Fail(500, "oops"))
    answer = talk.say(who)
    assert answer.types == ["tool-call", "tool-result", "error"]
    assert talk.rows(PATHS, who) == [{"path": NOTE}]
    told = goes_on(talk, server, who, answer.conversation)
    (result,) = [json.loads(m["content"]) for m in told if m["role"] == "tool"]
    assert result == {"status": "ok", "output": {"path": NOTE, "bytes_written": 6}}
    assert len(talk.rows(TOOL_COMMITS, who)) == 1


@pytest.mark.promise("P4-refuse", "P4-provider-calls")
def test_calls_that_all_have_the_index_0_are_all_carried_out(
    talk: Talk, server: ModelServer
) -> None:
    who = talk.somebody()
    given = [json.dumps({"path": path, "content": path}) for path in (NOTE, OTHER)]
    calls = [
        piece(0, id=f"c{n}", name="memory_write", arguments=text) for n, text in enumerate(given)
    ]
    replies(server, Pieces((*calls, line({}, "tool_calls"), DONE)), Say("Both."))
    answer = talk.say(who)
    assert [output["path"] for _, output in answer.results] == [NOTE, OTHER]
    assert answer.text == "Both."
    assert len(talk.rows(BOTH.format(NOTE, OTHER), who)) == 2
    goes_on(talk, server, who, answer.conversation)


@pytest.mark.promise("P4-refuse", "P4-provider-calls", "P4-message-loop")
@pytest.mark.parametrize("arguments", ['{"path": "documents/car', "[]", '"x"', '{"path": NaN}'])
def test_arguments_that_are_no_object_are_told_to_the_model_that_sent_them(
    talk: Talk, server: ModelServer, arguments: str
) -> None:
    who = talk.somebody()
    broken = piece(0, id="a", name="memory_write", arguments=arguments)
    replies(server, Pieces((broken, line({}, "tool_calls"), DONE)), Say("I see."))
    answer = talk.say(who)
    ((status, output),) = answer.results
    assert (status, output["code"], output["recoverable"]) == ("error", "invalid_input", True)
    (told,) = map(json.loads, server.turns[1].results)
    assert told == {"status": "error", "output": output}
    assert answer.last.type == "done"
    goes_on(talk, server, who, answer.conversation)


@pytest.mark.promise("P4-refuse", "P4-message-loop")
def test_a_provider_that_says_nothing_is_asked_once_more(talk: Talk, server: ModelServer) -> None:
    who = talk.somebody()
    replies(server, Say(""), Say("There."))
    answer = talk.say(who)
    assert (answer.text, answer.last.type) == ("There.", "done")
    other = talk.somebody()
    server.turns.clear()
    replies(server, Say(" \n"))
    answer = talk.say(other)
    assert (answer.last.type, answer.last.code) == ("error", "provider_error")
    assert len(server.turns) == 2
    goes_on(talk, server, other, answer.conversation)


@pytest.mark.promise("P4-refuse", "P4-provider-notools")
def test_a_model_without_tools_still_writes(talk: Talk, server: ModelServer) -> None:
    who = talk.somebody()
    acts = iter(
        [
            json.dumps({"tool": "memory_write", "path": NOTE, "content": "Kept.\n"}),
            json.dumps({"say": "It is written."}),
        ]
    )

    def script(turn: Turn) -> Any:
        if turn.tools:
            return Fail(400, "registry/fake does not support tools")
        return Say(next(acts))

    server.script = script
    answer = talk.say(who)
    assert answer.types == ["tool-call", "tool-result", "text-delta", "done"]
    assert answer.text == "It is written."
    assert talk.rows(PATHS, who) == [{"path": NOTE}]


@pytest.mark.promise("P4-refuse", "P4-stream-time")
@pytest.mark.parametrize("again", [b": ping\n\n", line({"content": "on "})], ids=["pings", "words"])
def test_a_stream_that_never_ends_is_ended_before_the_function_is(
    talk: Talk, server: ModelServer, again: bytes
) -> None:
    who = talk.somebody()
    endless = Chatter(line({"content": "On and "}), again)
    replies(server, endless)
    answer = talk.say(who, seconds=12.0)
    assert endless.left.wait(20), "the provider is still being listened to"
    assert answer.text.startswith("On and ")
    assert answer.last.type in ("done", "error")
    assert talk.kept(who) == [("user", "Hello"), ("assistant", answer.text)]
    goes_on(talk, server, who, answer.conversation)


@pytest.mark.promise("P4-stream-gone", "P4-refuse")
def test_a_model_that_never_ends_is_ended_by_a_client_that_leaves(talking: Talking) -> None:
    """Were it not, this would run until the turn's time is up, and the turn would end as done."""
    talk, models = talking(lambda told: itertools.repeat("More. "))  # type: ignore[arg-type, return-value]
    heard: list[str] = []

    def leave_at_three(event: AnyEvent) -> None:
        heard.append(event.type)
        if len(heard) == 3:
            raise HangUp

    who = talk.somebody()
    answer = talk.say(who, on_event=leave_at_three)
    assert set(answer.types) == {"text-delta"}
    assert talk.kept(who)[-1][1].startswith("More. More. More. ")
    models.script = in_order(["Here again."])
    assert talk.say(who, "Go on", to=answer.conversation).text == "Here again."


def codes(answer: Any) -> list[str | None]:
    return [output.get("code") for _, output in answer.results]


def asking(talk: Talk, who: uuid.UUID) -> None:
    """Writes wait for their owner from here on."""
    with talk.postgres.transaction(who) as tx:
        pages.ensure(tx, who, utc_now())
        set_approval_mode(tx, who, "ask-on-write", utc_now())


def deciding(talk: Talk, who: uuid.UUID, decision: str) -> Callable[[AnyEvent], None]:
    """Every request is answered so, by another process."""

    def on_event(event: AnyEvent) -> None:
        if event.type == "approval-request":
            with psycopg.connect(talk.database.admin_url) as admin:
                admin.execute(
                    "UPDATE judgment.approvals SET decision = %s, decided_at = now()"
                    " WHERE user_id = %s AND request_id = %s",
                    (decision, who, event.request_id),
                )

    return on_event


@pytest.mark.promise("P4-message-loop", "002-12.1")
def test_a_tool_that_is_not_there_is_said_before_a_repetition_is(talking: Talking) -> None:
    talk, _ = talking(in_order([call("memory_burn", f"c{n}", path="x") for n in range(4)], ["Ok."]))
    assert codes(talk.say(talk.somebody())) == ["tool_unavailable"] * 4


@pytest.mark.promise("P4-message-loop", "002-12.1")
def test_a_third_identical_call_is_said_before_what_else_stands_against_it(
    talking: Talking,
) -> None:
    talk, _ = talking(
        in_order(
            [call("memory_write", "w", path=NOTE, content="1")],
            [call("memory_delete", f"d{n}", path=NOTE) for n in range(3)],
            ["Kept."],
        )
    )
    who = talk.somebody()
    answer = talk.say(who)
    assert codes(answer)[1:] == ["mutation_scope_guard", "mutation_scope_guard", "loop_guard"]
    assert talk.rows(PATHS, who) == [{"path": NOTE}]


@pytest.mark.promise("P4-message-loop", "P4-approval-mode", "P4-approval")
def test_nobody_is_asked_about_a_call_that_a_guard_stops(talking: Talking) -> None:
    same = [call("memory_write", f"w{n}", path=OTHER, content="1") for n in range(3)]
    talk, _ = talking(in_order(same, ["As you wish."]))
    who = talk.somebody()
    asking(talk, who)
    answer = talk.say(who, on_event=deciding(talk, who, "denied"))
    assert [status for status, _ in answer.results] == ["denied", "denied", "error"]
    assert codes(answer)[2] == "loop_guard"
    assert answer.types.count("approval-request") == 2
    talk, _ = talking(
        in_order(
            [call("memory_write", "w", path=NOTE, content="1")],
            [call("memory_delete", "d", path=NOTE)],
            [call("memory_edit", "e", path=NOTE, find="2", replace="3")],
            ["Kept."],
        )
    )
    who = talk.somebody()
    asking(talk, who)
    answer = talk.say(who, on_event=deciding(talk, who, "approved"))
    assert codes(answer) == [None, "mutation_scope_guard", "invalid_input"]
    assert answer.types.count("approval-request") == 1


@pytest.mark.promise("P4-refuse", "P4-message-kept")
def test_storage_lost_while_a_tool_is_to_write_leaves_no_half(fresh_database: Any) -> None:
    models = ScriptedChat(in_order(["I write.", call("memory_write", path=NOTE, content="1")]))
    talk = Talk(fresh_database, models)

    def allow(connections: int) -> None:
        with psycopg.connect(talk.database.admin_url, autocommit=True) as admin:
            name = talk.database.name
            admin.execute(f"ALTER DATABASE {name} CONNECTION LIMIT {connections}".encode())
            if connections == 0:
                admin.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE usename = 'judgment_process' AND datname = current_database()"
                )

    def lose(event: AnyEvent) -> None:
        if event.type == "tool-call":
            allow(0)

    who = talk.somebody()
    answer = talk.say(who, on_event=lose)
    assert answer.types == ["text-delta", "tool-call", "error"]
    assert answer.last.code == "tool_error"
    assert "message is kept" in answer.last.message
    allow(-1)
    assert talk.kept(who) == [("user", "Hello"), ("assistant", "I write.")]
    assert talk.rows(PATHS, who) == talk.rows(TOOL_COMMITS, who) == []
    models.script = in_order(["Here again."])
    assert talk.say(who, "Go on", to=answer.conversation).text == "Here again."
    talk.close()


@pytest.mark.promise("R-31", "NFR-008")
def test_a_turn_reads_neither_the_judgment_profile_nor_preferences(talking: Talking) -> None:
    """Canaries in their rows; one in the owner's own memory shows that canaries are heard."""
    talk, models = talking(in_order([call("memory_search", query="canary")], ["Done."]))
    who = talk.somebody()
    planted = [
        ("UPDATE public.profiles SET personal_context = 'canary-context' WHERE id = %(w)s"),
        (
            "INSERT INTO judgment.preference_signals (user_id, id, position, key, scope, instant,"
            " sequence, sent_sha256, statement, recorded_at) VALUES (%(w)s, gen_random_uuid(), 1,"
            " 'a.b', 'global', now(), 0, '',"
            ' \'{"kind": "preference", "value": "canary-signal"}\', now())'
        ),
        (
            "INSERT INTO judgment.preference_documents (user_id, digest, document)"
            ' VALUES (%(w)s, \'\', \'{"keys": {"a.b": {"value": "canary-document"}}}\')'
        ),
        (
            "INSERT INTO public.player_decision_profiles (user_id, summary_text,"
            " agent_context_block) VALUES (%(w)s, 'canary-summary', 'canary-block')"
        ),
    ]
    with psycopg.connect(talk.database.admin_url) as admin:
        for statement in planted:
            assert admin.execute(statement.encode(), {"w": who}).rowcount == 1
    talk.say(who, body={"content": "What am I like?", "metadata": {"project": "career"}})
    talk.say(who, "I have a canary-bird.")
    whole = json.dumps([[m.text for m in told.messages] for told in models.rounds])
    assert whole.count("canary-bird") == 1
    for name in ("context", "signal", "document", "summary", "block"):
        assert f"canary-{name}" not in whole

"""A conversing model over the wire: pieces, calls, schemas."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from judgment.kit.deadline import Deadline
from judgment.llm.chat import ChatMessage, Completed, TextPiece, ToolUse
from judgment.llm.providers import PROVIDERS
from tests.fakes.model_server import ModelServer, always
from tests.fakes.model_trouble import Raw
from tests.fakes.model_wire import Fail, Say, Turn
from tests.unit.llm.chatting import (
    CHOICE,
    DONE,
    HELLO,
    client,
    conversed,
    counted,
    failed,
    line,
    piece,
    says,
)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(always("Good morning.")) as made:
        yield made


@pytest.mark.promise("P4-provider", "002-21.1", "002-21.2", "AC-034")
def test_the_body_has_the_references_keys_and_no_other(server: ModelServer) -> None:
    conversed(client(server))
    body = server.turns[0].body
    assert set(body) == {"model", "stream", "messages", "tools", "tool_choice", "stream_options"}
    assert (body["model"], body["stream"], body["tool_choice"]) == ("fake", True, "auto")
    assert body["messages"][1] == {"role": "user", "content": "Hello"}
    assert body["tools"][0]["function"]["name"] == "memory_read"
    conversed(client(server), tools=())
    body = server.turns[1].body
    assert body["tools"] == []
    assert "tool_choice" not in body
    assert server.headers[0]["Authorization"] == "Bearer a-key"


@pytest.mark.promise("P4-provider", "002-21.2")
def test_the_three_stable_providers_answer_where_the_reference_says() -> None:
    assert {one.id: one.base_url for one in PROVIDERS.values() if one.base_url} == {
        "ollama": "http://127.0.0.1:11434/v1",
        "braindrive-models": "https://my.braindrive.ai/credits/v1",
        "openrouter": "https://openrouter.ai/api/v1",
    }


def test_calls_and_answers_of_before_are_told_in_pairs(server: ModelServer) -> None:
    use = ToolUse("c1", "memory_read", {"path": "a"})
    told = (*HELLO, ChatMessage("assistant", "", (use,)), ChatMessage("tool", "{}", call_id="c1"))
    conversed(client(server), told)
    _, _, assistant, tool = server.turns[0].body["messages"]
    assert assistant["tool_calls"] == [
        {
            "id": "c1",
            "type": "function",
            "function": {"name": "memory_read", "arguments": '{"path": "a"}'},
        }
    ]
    assert tool == {"role": "tool", "content": "{}", "tool_call_id": "c1"}


@pytest.mark.promise("P4-provider")
def test_text_comes_piece_by_piece_while_the_rest_is_still_being_made(server: ModelServer) -> None:
    heard = threading.Event()
    says(
        server,
        line({"role": "assistant", "content": "Good "}),
        lambda: heard.wait(20),
        line({"content": "morning."}),
        line({}, "stop"),
        counted(7, 3),
        DONE,
    )
    pieces = client(server).converse(CHOICE, "message", HELLO, (), deadline=Deadline.after(30))
    assert next(pieces) == TextPiece("Good ")
    heard.set()
    assert next(pieces) == TextPiece("morning.")
    end = next(pieces)
    assert isinstance(end, Completed)
    assert (end.text, end.finish_reason) == ("Good morning.", "stop")
    assert (end.call.prompt_tokens, end.call.completion_tokens) == (7, 3)
    assert end.call.cost_usd == pytest.approx(13e-6)
    assert (end.call.role, end.call.outcome) == ("message", "ok")


@pytest.mark.promise("P4-provider")
def test_a_provider_that_does_not_stream_is_read_whole(server: ModelServer) -> None:
    message = {"role": "assistant", "content": "Whole.", "tool_calls": []}
    body = {"choices": [{"message": message}], "usage": {"prompt_tokens": 1}}
    for text in (json.dumps(body), json.dumps(body, indent=2)):
        server.script = lambda turn, text=text: Raw(text.encode())
        text, end = conversed(client(server))
        assert (text, end.finish_reason, end.call.prompt_tokens) == ("Whole.", "completed", 1)


@pytest.mark.parametrize(
    "reshape",
    [
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: text.replace(b"\n", b"\r"),
        lambda text: b": comment\n\n" + text.replace(b"data: ", b"data:"),
        lambda text: b"\n\nevent: x\nid: 7\n" + text,
        lambda text: text.removesuffix(b"\n"),
    ],
)
def test_every_form_of_an_event_stream_is_read(server: ModelServer, reshape: Any) -> None:
    says(server, reshape(line({"content": "é 👩‍🚀"}) + line({}, "stop") + DONE))
    assert conversed(client(server))[0] == "é 👩‍🚀"


@pytest.mark.parametrize("end", [line({}, "stop"), DONE])
def test_a_stream_ends_with_a_reason_or_with_done(server: ModelServer, end: bytes) -> None:
    says(server, line({"content": "Yes."}), end)
    text, done = conversed(client(server))
    assert text == "Yes."
    assert done.finish_reason == ("stop" if end != DONE else "completed")


@pytest.mark.promise("P4-provider-calls", "P4-refuse")
@pytest.mark.parametrize(
    "parts",
    [
        [
            piece(0, id="a", name="f", arguments='{"x": 1}'),
            piece(1, id="b", name="g", arguments="{}"),
        ],
        [
            piece(0, id="a", name="f", arguments='{"x": 1}'),
            piece(0, id="b", name="g", arguments="{}"),
        ],
        [
            piece(0, id="a", name="f", arguments='{"x"'),
            piece(0, id="a", name="f", arguments=": 1}"),
            piece(0, id="b", name="g", arguments="{}"),
        ],
        [
            piece(0, id="a", name="f", arguments=""),
            piece(0, arguments='{"x": '),
            piece(0, arguments="1}"),
            piece(0, id="b", name="g", arguments="{}"),
        ],
        [
            piece(0, id="a", name="f", arguments=""),
            piece(1, id="b", name="g", arguments=""),
            piece(0, arguments='{"x": 1}'),
            piece(1, arguments="{}"),
        ],
        [piece(None, id="a", name="f", arguments='{"x": 1}'), piece(None, id="b", name="g")],
        [piece(0, id="a", name="f", arguments={"x": 1}), piece(0, id="b", name="g", arguments={})],
    ],
)
def test_calls_are_told_apart_by_index_and_id(server: ModelServer, parts: list[bytes]) -> None:
    says(server, *parts, line({}, "tool_calls"), DONE)
    _, end = conversed(client(server))
    assert [(c.id, c.name, c.arguments) for c in end.calls] == [
        ("a", "f", {"x": 1}),
        ("b", "g", {}),
    ]
    assert end.finish_reason == "tool_calls"


@pytest.mark.promise("P4-provider-calls")
def test_calls_without_ids_are_told_apart_by_their_names(server: ModelServer) -> None:
    says(
        server,
        piece(0, name="f", arguments='{"x": 1}'),
        piece(0, name="f", arguments='{"x": 2}'),
        line({}, "tool_calls"),
    )
    _, end = conversed(client(server))
    assert [c.arguments for c in end.calls] == [{"x": 1}, {"x": 2}]
    assert len({c.id for c in end.calls}) == 2


@pytest.mark.promise("P4-provider-calls", "P4-refuse")
@pytest.mark.parametrize(
    "arguments",
    [
        *('{"x": ', "[1]", '"text"', "7", "null", '{"x": NaN}', "{" * 5000, '{"x": 1} {}'),
        *('{"x": 1e999}', '{"x": ' + "[" * 60 + "]" * 60 + "}"),
    ],
)
def test_malformed_arguments_are_said_to_be_so(server: ModelServer, arguments: str) -> None:
    says(server, piece(0, id="a", name="f", arguments=arguments), line({}, "tool_calls"))
    _, end = conversed(client(server))
    (call,) = end.calls
    assert call.arguments is None
    assert call.problem


def test_a_call_without_a_name_or_arguments(server: ModelServer) -> None:
    says(server, piece(0, id="a"), line({}, "tool_calls"))
    _, end = conversed(client(server))
    assert [(c.name, c.arguments) for c in end.calls] == [("unknown_tool", {})]


@pytest.mark.promise("P4-refuse")
def test_a_stream_that_breaks_off_in_a_call_reports_no_call(server: ModelServer) -> None:
    says(server, line({"content": "I wri"}), piece(0, id="a", name="f", arguments='{"x": "y'))
    failure = failed(client(server))
    assert failure.trouble == "provider_error"
    assert "reached" in failure.message


@pytest.mark.promise("P4-provider")
def test_a_provider_that_counts_no_tokens_in_streams_is_asked_without(server: ModelServer) -> None:
    def script(turn: Turn) -> Any:
        if "stream_options" in turn.body:
            return Fail(400, "Unknown field: stream_options")
        return Say("Yes.")

    server.script = script
    one = client(server)
    assert conversed(one)[0] == "Yes."
    assert conversed(one)[0] == "Yes."
    assert ["stream_options" in turn.body for turn in server.turns] == [True, False, False]


@pytest.mark.promise("P4-provider-notools", "P4-refuse")
def test_a_model_without_tools_acts_through_a_schema(server: ModelServer) -> None:
    answers = iter(['{"tool": "memory_read", "path": "me/profile.md"}', '{"say": "Read."}'])

    def script(turn: Turn) -> Any:
        if turn.tools:
            return Fail(400, '"fake" does not support tools')
        return Say(next(answers))

    server.script = script
    one = client(server)
    _, end = conversed(one)
    (call,) = end.calls
    assert (call.name, call.arguments) == ("memory_read", {"path": "me/profile.md"})
    told = (
        *HELLO,
        ChatMessage("assistant", "", (call,)),
        ChatMessage("tool", "{}", call_id=call.id),
    )
    assert conversed(one, told)[0] == "Read."
    assert len(server.turns) == 3
    body = server.turns[1].body
    assert "tools" not in body
    wanted = body["response_format"]["json_schema"]["schema"]["anyOf"]
    assert [set(one["required"]) for one in wanted] == [{"say"}, {"tool", "path"}]
    assert "memory_read(path)" in body["messages"][0]["content"]
    assert [m["role"] for m in server.turns[2].body["messages"]] == [
        *("system", "user", "assistant", "user"),
    ]


@pytest.mark.promise("P4-provider-notools")
def test_an_operator_may_say_that_a_model_has_no_tools(server: ModelServer) -> None:
    server.script = always('```json\n{"say": "Hello."}\n```')
    assert conversed(client(server, model_without_tools="ollama:fake"))[0] == "Hello."
    assert "tools" not in server.turns[0].body


@pytest.mark.promise("P4-provider-notools", "P4-refuse")
@pytest.mark.parametrize(
    "wrong",
    [
        "Sure, I will read it.",
        '{"tool": "rm", "path": "x"}',
        '{"tool": "memory_read", "path": "x", "mode": "fast"}',
        '{"say": 7}',
        "[]",
        '{"say": "a", "tool": "memory_read"}',
    ],
)
def test_an_answer_of_another_form_is_asked_for_once_more(server: ModelServer, wrong: str) -> None:
    answers = iter([wrong, '{"say": "Better."}', wrong, wrong])
    server.script = lambda turn: Say(next(answers))
    one = client(server, model_without_tools="ollama:*")
    text, end = conversed(one)
    assert text == "Better."
    assert end.call.prompt_tokens == 20
    assert wrong in server.turns[1].body["messages"][-2]["content"]
    failure = failed(one)
    assert failure.call
    assert failure.call.outcome == "invalid_output"


@pytest.mark.promise("P4-provider-notools")
def test_a_provider_that_takes_no_schema_gets_it_in_words_alone(server: ModelServer) -> None:
    def script(turn: Turn) -> Any:
        if "response_format" in turn.body:
            return Fail(400, "response_format is not supported")
        return Say('{"say": "So be it."}')

    server.script = script
    assert conversed(client(server, model_without_tools="ollama:fake"))[0] == "So be it."

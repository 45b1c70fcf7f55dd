"""A conversing model over the wire: pieces, calls, refusals, and providers that go wrong."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from judgment.kit.deadline import Deadline
from judgment.llm.calling import Patience
from judgment.llm.chat import ChatFailure, ChatMessage, Completed, TextPiece, ToolOffer, ToolUse
from judgment.llm.chat_client import ChatClient
from judgment.llm.keys import KeyUnavailable
from judgment.llm.model import ModelChoice
from judgment.llm.providers import PROVIDERS
from judgment.llm.settings import ModelSettings, configured
from judgment.llm.trouble_words import GENERIC, NO_MODEL, OVERFLOW
from tests.fakes.model_server import ModelServer, always
from tests.fakes.model_trouble import Flood, HangUp, Late, Pieces, Raw
from tests.fakes.model_wire import Fail, Say, Turn

READ = ToolOffer(
    "memory_read",
    "Read a file.",
    {
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
        "additionalProperties": False,
    },
)
HELLO = (ChatMessage("system", "Be brief."), ChatMessage("user", "Hello"))
CHOICE = ModelChoice("ollama", "fake")
CHUNK = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "fake"}
DONE = b"data: [DONE]\n\n"


class Keys:
    def __init__(self, key: str | None = "a-key"):
        self.given = key

    def key(self, choice: ModelChoice) -> str | None:
        if self.given == "none to be had":
            raise KeyUnavailable
        return self.given


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(always("Good morning.")) as made:
        yield made


def client(server: ModelServer, *, timeout: float = 20.0, key: str | None = "a-key", **more: Any):
    settings = ModelSettings(
        model_message="ollama:fake",
        ollama_base_url=f"{server.url}/v1",
        model_prices='{"ollama:fake": [1.0, 2.0]}',
        **more,
    )
    return ChatClient(configured(settings), Keys(key), Patience(timeout))


def conversed(
    one: ChatClient,
    messages: Sequence[ChatMessage] = HELLO,
    tools: Sequence[ToolOffer] = (READ,),
    seconds: float = 30.0,
) -> tuple[str, Completed]:
    *pieces, end = one.converse(
        CHOICE, "message", messages, tools, deadline=Deadline.after(seconds)
    )
    assert isinstance(end, Completed)
    text = "".join(piece.text for piece in pieces if isinstance(piece, TextPiece))
    assert text == end.text
    return text, end


def failed(one: ChatClient, **more: Any) -> ChatFailure:
    with pytest.raises(ChatFailure) as raised:
        conversed(one, **more)
    return raised.value


def line(delta: dict[str, Any], reason: str | None = None, **more: Any) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return f"data: {json.dumps({**CHUNK, 'choices': [choice], **more})}\n\n".encode()


def piece(index: int | None = 0, **call: Any) -> bytes:
    function = {k: call.pop(k) for k in ("name", "arguments") if k in call}
    told = {**({} if index is None else {"index": index}), **call, "function": function}
    return line({"tool_calls": [told]})


def counted(into: int, out: int) -> bytes:
    usage = {"prompt_tokens": into, "completion_tokens": out}
    return f"data: {json.dumps({**CHUNK, 'choices': [], 'usage': usage})}\n\n".encode()


def says(server: ModelServer, *parts: bytes | Callable[[], object], **more: Any) -> None:
    server.script = lambda turn: Pieces(parts, **more)


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


@pytest.mark.promise("P4-refuse", "P4-stream-gone")
def test_who_stops_listening_ends_the_connection(server: ModelServer) -> None:
    broken = threading.Event()

    class UntilNobodyReads(Pieces):
        def give(self, handler: Any, stopped: threading.Event) -> None:
            try:
                while not stopped.wait(0.01):
                    super().give(handler, stopped)
            except OSError:
                broken.set()

    server.script = lambda turn: UntilNobodyReads((line({"content": "One."}),))
    pieces = client(server).converse(CHOICE, "message", HELLO, (), deadline=Deadline.after(30))
    assert next(pieces) == TextPiece("One.")
    pieces.close()  # type: ignore[attr-defined]
    assert broken.wait(20)
    assert list(pieces) == []


@pytest.mark.promise("P4-stream-gone")
def test_a_silent_provider_is_left_when_nobody_listens(server: ModelServer) -> None:
    says(server, line({"content": "One."}), more=True)
    stop = threading.Event()
    pieces = client(server).converse(
        CHOICE, "message", HELLO, (), deadline=Deadline.after(60), stopped=stop.is_set
    )
    assert next(pieces) == TextPiece("One.")
    stop.set()
    assert list(pieces) == []


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize(("timeout", "seconds"), [(1.0, 60.0), (30.0, 2.2)])
def test_a_stream_that_says_nothing_more_ends(
    server: ModelServer, timeout: float, seconds: float
) -> None:
    says(server, line({"content": "One."}), more=True)
    failure = failed(client(server, timeout=timeout), seconds=seconds)
    assert failure.trouble == "provider_error"
    assert "too long" in failure.message
    assert failure.call
    assert failure.call.outcome == "timeout"


@pytest.mark.promise("P4-refuse")
def test_a_stream_without_end_is_ended(server: ModelServer) -> None:
    long = line({"content": "x" * 60_000})
    says(server, *[long] * 200)
    failure = failed(client(server))
    assert failure.call
    assert failure.call.outcome == "too_large"
    says(server, b"data: " + b"x" * 3_000_000)
    assert failed(client(server)).trouble == "provider_error"
    server.script = lambda turn: Flood(20 * 1_048_576)
    assert failed(client(server)).trouble == "provider_error"


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize(
    ("parts", "text"),
    [
        ([line({"content": "\ud83d"}), line({"content": "\ude00!"})], "😀!"),
        ([line({"content": "a\ud83d"}), line({"content": "b"})], "a�b"),
        ([line({"content": "a\0b"})], "a�b"),
        ([b'data: {"choices":[{"index":0,"delta":{"content":"\xff"}}]}\n\n'], "�"),
    ],
)
def test_text_is_what_utf_8_and_a_database_hold(
    server: ModelServer, parts: list[bytes], text: str
) -> None:
    says(server, *parts, DONE)
    assert conversed(client(server))[0] == text


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


@pytest.mark.promise("P4-provider-errors", "P4-refuse")
@pytest.mark.parametrize(
    ("fail", "trouble", "words"),
    [
        (
            Fail(400, "This model's maximum context length is 4096 tokens"),
            "context_overflow",
            OVERFLOW,
        ),
        (Fail(500, "the request exceeds the available context size"), "context_overflow", OVERFLOW),
        (Fail(400, "prompt is too long: model not found 401"), "context_overflow", OVERFLOW),
        (Fail(500, "no user query found in messages"), "context_overflow", OVERFLOW),
        (Fail(500, "context deadline exceeded"), "provider_error", "too long"),
        (Fail(401, "nope"), "provider_error", "did not accept the key"),
        (Fail(403, "model not found"), "provider_error", "did not accept the key"),
        (Fail(402, "pay"), "provider_error", "no credits"),
        (Fail(429, "You exceeded your current quota"), "provider_error", "no credits"),
        (Fail(404, 'model "x" not found, try pulling it'), "provider_error", NO_MODEL),
        (Fail(400, "No endpoints found for this model"), "provider_error", NO_MODEL),
        (Fail(400, "tool message without tool_call_id"), "provider_error", "earlier tool call"),
        (Fail(429, "slow down"), "provider_error", "busy"),
        (Fail(503, "Overloaded"), "provider_error", "busy"),
        (Fail(504, "upstream timed out"), "provider_error", "too long"),
        (Fail(500, "error parsing tool call"), "provider_error", GENERIC),
        (Fail(500, ""), "provider_error", GENERIC),
        (HangUp(), "provider_error", "cannot be reached"),
        (Raw(b"<html>"), "provider_error", "cannot be reached"),
        (Raw(b"{"), "provider_error", GENERIC),
        (Raw(b"[]"), "provider_error", GENERIC),
        (
            Pieces((b'data: {"error": {"message": "Rate limit", "code": 429}}\n\n',)),
            "provider_error",
            "busy",
        ),
        (Pieces((line({"content": "x"}), b"data: {nope}\n\n")), "provider_error", GENERIC),
    ],
)
def test_trouble_is_told_in_words_of_ours(
    server: ModelServer, fail: Any, trouble: str, words: str
) -> None:
    server.script = lambda turn: fail
    failure = failed(client(server))
    assert failure.trouble == trouble
    assert words in failure.message
    said = getattr(fail, "message", "")
    assert not said or said not in failure.message
    assert failure.call
    assert failure.call.outcome != "ok"
    assert len(server.turns) == 1


def test_a_provider_without_a_key_is_not_asked(server: ModelServer) -> None:
    failure = failed(client(server, key="none to be had"))
    assert "no key" in failure.message
    assert server.turns == []


def test_a_late_provider_is_left_at_the_deadline(server: ModelServer) -> None:
    server.script = lambda turn: Late(30.0)
    failure = failed(client(server), seconds=2.2)
    assert "too long" in failure.message


@pytest.mark.promise("P4-message-window")
def test_windows_are_the_operators_or_the_usual(server: ModelServer) -> None:
    one = client(server, model_windows='{"ollama:big": 32768}')
    assert one.window(CHOICE) == 4096
    assert one.window(ModelChoice("ollama", "big")) == 32768
    assert one.window(ModelChoice("openrouter", "x/y")) == 128_000

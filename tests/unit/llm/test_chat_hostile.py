"""Providers that mean no good, or mean well in odd ways, at the door of the conversing client."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from judgment.llm.chat import ChatFailure, ChatMessage, ToolUse
from judgment.llm.chat_stream import objects
from judgment.llm.trouble_words import GENERIC, OVERFLOW
from tests.fakes.model_server import ModelServer, always
from tests.fakes.model_trouble import Pieces, Raw
from tests.fakes.model_wire import Fail, Say, Turn
from tests.unit.llm.chatting import DONE, HELLO, client, conversed, failed, line, says

if TYPE_CHECKING:
    from judgment.llm.chat_client import ChatClient

YES = line({"content": "Yes."})
STOP = line({}, "stop")
WHOLE = b'{"choices":[{"message":{"content":"Yes."}}]}'
MARK = b"\xef\xbb\xbf"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(always("Good morning.")) as made:
        yield made


def event(body: Any) -> bytes:
    return f"data: {json.dumps(body)}\n\n".encode()


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize(
    ("deltas", "text"),
    [
        (["a\ud83d"], "a\ufffd"),
        (["\udc00a"], "\ufffda"),
        (["\ud83d", "\ud83d", "\ude00"], "\ufffd😀"),
        (["\ud83d", "", "\ude00"], "😀"),
    ],
)
def test_half_a_character_is_shown_as_one_that_is_missing(
    server: ModelServer, deltas: list[str], text: str
):
    says(server, *[line({"content": delta}) for delta in deltas], STOP)
    assert conversed(client(server))[0] == text


@pytest.mark.promise("P4-provider")
def test_a_whole_message_beside_the_last_delta_is_not_said_twice(server: ModelServer):
    whole = {"role": "assistant", "content": "Yes."}
    last = {"index": 0, "delta": {}, "message": whole, "finish_reason": "stop"}
    says(server, YES, event({"choices": [last]}), DONE)
    assert conversed(client(server))[0] == "Yes."


@pytest.mark.promise("P4-refuse")
def test_a_stream_with_messages_in_it_breaks_off_as_any_other(server: ModelServer):
    part = {"index": 0, "delta": {"content": "Y"}, "message": {"content": "Yes."}}
    says(server, event({"choices": [part]}))
    assert failed(client(server)).trouble == "provider_error"


@pytest.mark.promise("P4-provider")
@pytest.mark.parametrize("ending", [b"\n\n", b"\n", b"", b"\r", b"\r\n\r\n"])
def test_a_last_event_may_lack_its_blank_line(server: ModelServer, ending: bytes):
    says(server, YES, STOP.rstrip(b"\n") + ending)
    text, end = conversed(client(server))
    assert (text, end.finish_reason) == ("Yes.", "stop")


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize("cut", [1, 20, len(STOP) - 4])
def test_a_last_event_may_lack_nothing_of_its_object(server: ModelServer, cut: int):
    says(server, YES, STOP[:cut])
    assert failed(client(server)).trouble == "provider_error"


@pytest.mark.promise("P4-provider")
def test_what_is_cut_after_the_end_is_not_missed(server: ModelServer):
    says(server, YES, STOP, b'data: {"choices": [], "usage": {"prompt_tok')
    text, end = conversed(client(server))
    assert (text, end.finish_reason, end.call.prompt_tokens) == ("Yes.", "stop", 0)


@pytest.mark.promise("P4-provider")
@pytest.mark.parametrize("body", [MARK + WHOLE, MARK + YES + DONE, b"\n \n" + WHOLE, WHOLE + b"\n"])
def test_what_stands_before_and_behind_is_passed_over(server: ModelServer, body: bytes):
    server.script = lambda turn: Raw(body)
    assert conversed(client(server))[0] == "Yes."


@pytest.mark.promise("P4-provider", "P4-refuse")
@pytest.mark.parametrize(
    "kind",
    [
        "application/json",
        "text/event-stream; charset=utf-16",
        "application/json; charset=rot13",
        'text/event-stream; charset="zlib_codec"',
        "text/plain; charset=nope",
        "",
    ],
)
def test_the_type_of_an_answer_is_not_believed(server: ModelServer, kind: str):
    says(server, line({"content": "é"}), STOP, DONE, content_type=kind)
    assert conversed(client(server))[0] == "é"
    odd = {"Content-Type": kind}
    server.script = lambda turn: Raw(b'{"error": "context length \xff"}', 400, odd)
    assert failed(client(server)).message == OVERFLOW


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "deflate, gzip"])
@pytest.mark.parametrize("status", [200, 400])
def test_a_packed_answer_is_not_unpacked(server: ModelServer, coding: str, status: int):
    packed = {"Content-Encoding": coding}
    server.script = lambda turn: Raw(b"\x1f\x8b" + b"x" * 100, status, packed)
    failure = failed(client(server))
    assert failure.call
    assert (failure.trouble, failure.call.outcome) == ("provider_error", "too_large")


@pytest.mark.promise("P4-provider-keys", "P4-refuse")
def test_redirects_are_not_followed(server: ModelServer):
    there = {"Location": f"{server.url}/v1/elsewhere"}
    server.script = lambda turn: Raw(b"", 307, there)
    assert failed(client(server)).trouble == "provider_error"
    assert (len(server.turns), server.unknown) == (1, [])


@pytest.mark.promise("P4-provider")
def test_only_our_headers_go_out(server: ModelServer):
    conversed(client(server))
    assert {name.lower() for name in server.headers[0]} == {
        *("host", "content-type", "content-length", "accept", "accept-encoding"),
        *("user-agent", "authorization"),
    }


@pytest.mark.promise("P4-provider-errors")
def test_what_a_provider_of_providers_hands_on_is_looked_at(server: ModelServer):
    handed_on = {"provider_name": "X", "raw": "prompt exceeds the context window"}
    error = {"message": "Provider returned error", "code": 400, "metadata": handed_on}
    says(server, event({"error": error, "choices": []}))
    assert failed(client(server)).message == OVERFLOW
    says(server, event({"error": {**error, "metadata": {"raw": {"error": "context"}}}}))
    assert failed(client(server)).message == OVERFLOW
    server.script = lambda turn: Fail(400, json.dumps(error))
    assert failed(client(server)).message == OVERFLOW


@pytest.mark.promise("P4-provider-errors", "P4-refuse")
@pytest.mark.parametrize(
    "choice",
    [
        {"delta": {"content": ""}, "finish_reason": "error"},
        {"delta": {}, "error": {"code": 502, "message": "boom"}, "finish_reason": None},
        {"message": {"content": "half"}, "finish_reason": "error"},
    ],
)
def test_a_choice_that_failed_is_a_failure(server: ModelServer, choice: dict[str, Any]):
    says(server, YES, event({"choices": [choice]}), DONE)
    assert failed(client(server)).trouble == "provider_error"


@pytest.mark.promise("P4-provider-notools")
@pytest.mark.parametrize(
    "refusal",
    [
        Fail(400, "registry.ollama.ai/library/gemma3:4b does not support tools"),
        Fail(404, "No endpoints found that support tool use. To learn more, visit: https://x"),
        Fail(400, '"auto" tool choice requires --enable-auto-tool-choice to be set'),
        Fail(500, "tools param requires --jinja flag"),
    ],
)
def test_a_refusal_of_tools_is_learned_in_every_providers_words(server: ModelServer, refusal: Fail):
    def script(turn: Turn) -> Any:
        return refusal if turn.tools else Say('{"say": "Yes."}')

    server.script = script
    one = client(server)
    assert [conversed(one)[0], conversed(one)[0]] == ["Yes.", "Yes."]
    assert [bool(turn.tools) for turn in server.turns] == [True, False, False]


@pytest.mark.promise("P4-refuse")
def test_a_flood_of_small_lines_is_read_in_time(server: ModelServer):
    says(server, b"\n" * 4_000_000, YES, DONE)
    begun = time.process_time()
    assert conversed(client(server))[0] == "Yes."
    assert time.process_time() - begun < 10


@pytest.mark.promise("P4-refuse")
def test_one_long_line_in_small_pieces_is_read_in_time():
    stream = line({"content": "x" * 1_000_000}) + DONE
    begun = time.process_time()
    assert len(list(objects(stream[n : n + 10] for n in range(0, len(stream), 10)))) == 2
    assert time.process_time() - begun < 10


@pytest.mark.promise("P4-provider-errors", "P4-refuse")
def test_a_failure_after_a_tools_result_keeps_its_words_to_itself(server: ModelServer):
    use = ToolUse("c1", "memory_read", {"path": "a"})
    told = (*HELLO, ChatMessage("assistant", "", (use,)), ChatMessage("tool", "{}", call_id="c1"))
    server.script = lambda turn: Fail(500, "error parsing tool call: raw='{\"x' secret-words")
    failure = failed(client(server), messages=told)
    assert failure.message == GENERIC
    assert "secret" not in repr(failure) + str(failure)
    assert failure.__context__ is None or "secret" not in str(failure.__context__)
    assert len(server.turns) == 1


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize("body", [b"[" * 500_000, b'{"a":' * 100_000, b'{"choices":' + b"[" * 900])
def test_nesting_without_end_is_no_answer(server: ModelServer, body: bytes):
    for give in (Raw(body), Pieces((b"data: " + body + b"\n\n",))):
        server.script = lambda turn, give=give: give
        assert failed(client(server)).trouble == "provider_error"


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize(
    "reply",
    [
        {},
        {"choices": None},
        {"choices": {}},
        {"choices": [None]},
        {"choices": [{"message": None, "delta": None}]},
        {"choices": [{"message": {"content": 7, "tool_calls": "no"}}]},
        {"choices": [{"delta": {"tool_calls": [None, 7, {"function": None}, {"function": 7}]}}]},
        {"choices": [{"delta": {"content": [{"text": "x"}]}, "finish_reason": 7, "error": 7}]},
        {"error": "", "choices": []},
        {"error": {"message": 7, "code": [], "metadata": 7}},
        {"usage": "x", "model": 7, "choices": [{"delta": {"content": "x"}}]},
        {"usage": {"prompt_tokens": -1, "completion_tokens": 1e300}, "choices": []},
    ],
)
def test_any_object_is_an_answer_or_a_failure(server: ModelServer, reply: Any):
    for give in (Raw(json.dumps(reply).encode()), Pieces((event(reply), DONE))):
        server.script = lambda turn, give=give: give
        outcome, tokens = what_came(client(server))
        assert outcome is not None
        assert tokens >= 0


def what_came(one: ChatClient) -> tuple[str | None, int]:
    """The outcome on record, and the tokens."""
    try:
        call = conversed(one)[1].call
    except ChatFailure as failure:
        call = failure.call
    return (call.outcome, call.prompt_tokens) if call else (None, -1)

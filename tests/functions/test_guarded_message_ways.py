"""The same turn both ways: streamed by our loop over a Runtime API, and whole by Mangum."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from judgment.entry.buffering import buffered
from judgment.entry.streaming import InvocationContext
from tests.fakes.chat_models import Round, Script, ScriptedChat, call, in_order
from tests.fakes.events import http_event, owner
from tests.fakes.message_door import Talk, parsed
from tests.fakes.runtime_api import PATIENCE_SECONDS, attended

if TYPE_CHECKING:
    from uuid import UUID

    from judgment.contract.messages import AnyEvent
    from tests.databases import TestDatabase

Talking = Callable[..., Talk]
LATE = 4_000_000_000_000


@pytest.fixture
def talking(module_database: TestDatabase) -> Iterator[Talking]:
    made: list[Talk] = []

    def begin(script: Script, **more: Any) -> Talk:
        made.append(Talk(module_database, ScriptedChat(script, **more)))
        return made[-1]

    yield begin
    for one in made:
        one.close()


def message(who: UUID, content: str = "Hello", to: list[str] | None = None) -> dict[str, Any]:
    """The event of one message; `to` are the values of its conversation header."""
    headers: dict[str, str | list[str]] = {"Content-Type": "application/json"}
    if to is not None:
        headers["X-Conversation-Id"] = to
    body = json.dumps({"content": content})
    return http_event("POST", "/message", headers=headers, principal=owner(who), body=body)


def events(body: bytes) -> list[AnyEvent]:
    frames = filter(None, body.split(b"\n\n"))
    return list(filter(None, map(parsed, frames)))


@pytest.mark.promise("P4-stream", "P4-message-events")
def test_each_word_is_out_before_the_next_is_said(talking: Talking) -> None:
    gates = [threading.Event() for _ in range(2)]

    def heard(gate: threading.Event) -> Callable[[], object]:
        return lambda: gate.wait(PATIENCE_SECONDS) or pytest.fail("nothing arrived meanwhile")

    read = call("memory_read", path="me/todo.md")
    talk = talking(in_order(["One. ", heard(gates[0]), "Two. ", heard(gates[1]), read], ["Three."]))
    who = talk.somebody()
    with attended(talk.app) as api:
        answer = api.invoke(message(who))
        assert answer.head["statusCode"] == 200
        assert answer.head["headers"]["content-type"] == "text/event-stream"
        for gate, word in zip(gates, (b"One. ", b"Two. "), strict=True):
            piece = answer.next()
            assert piece is not None
            assert word in piece
            gate.set()
        rest = events(answer.rest())
        assert answer.trailers == {}
    assert [one.type for one in rest] == ["tool-call", "tool-result", "text-delta", "done"]


@pytest.mark.promise("P4-stream-gone", "P4-refuse")
def test_a_client_that_hangs_up_frees_the_function_for_the_next(talking: Talking) -> None:

    def script(told: Round) -> Any:
        return itertools.repeat("More. ") if told.messages[-1].text == "Hello" else ["Here."]

    talk = talking(script)
    who = talk.somebody()
    with attended(talk.app) as api:
        answer = api.invoke(message(who))
        conversation = answer.head["headers"]["x-conversation-id"]
        answer.next()
        answer.hang_up()
        again = events(api.invoke(message(who, "And now?", [conversation])).rest())
    assert [one.type for one in again] == ["text-delta", "done"]
    roles = [role for role, _ in talk.kept(who)]
    assert roles == ["user", "assistant", "user", "assistant"]


@pytest.mark.promise("P4-stream")
def test_buffered_the_same_turn_comes_whole(talking: Talking) -> None:
    rounds = (["One. ", call("memory_list", path="me")], ["Two."])
    both: list[list[AnyEvent]] = []
    for way in ("streamed", "buffered"):
        talk = talking(in_order(*rounds))
        event = message(talk.somebody())
        if way == "streamed":
            with attended(talk.app) as api:
                both.append(events(api.invoke(event).rest()))
        else:
            context = InvocationContext("r", "guarded_message", 512, "arn", deadline_ms=LATE)
            answer = buffered(talk.app)(event, context)
            assert answer["statusCode"] == 200
            assert answer["isBase64Encoded"] is False
            both.append(events(answer["body"].encode()))
    streamed, whole = both
    assert [one.type for one in whole] == [one.type for one in streamed]
    assert whole[:-1] == streamed[:-1]
    assert whole[-1].type == "done"
    assert whole[-1].finish_reason == "stop"


@pytest.mark.promise("P4-message-window", "P4-message")
def test_a_window_that_runs_full_is_told_in_the_head(talking: Talking) -> None:
    talk = talking(in_order(["Yes."]), window=4096)
    who = talk.somebody()
    first = talk.say(who, "Hello")
    assert not [name for name in first.headers if name.startswith("x-context-window")]
    long = talk.say(who, "word " * 1_400, to=first.conversation)
    told = {n: v for n, v in long.headers.items() if n.startswith("x-context-window-")}
    assert set(told) == {
        f"x-context-window-{name}"
        for name in (
            *("warning", "estimated-tokens", "budget-tokens", "ratio"),
            *("threshold", "managed", "message"),
        )
    }
    assert told["x-context-window-warning"] == "1"
    assert float(told["x-context-window-ratio"]) >= 0.8
    assert long.text == "Yes."


@pytest.mark.promise("P4-message", "002-20.1")
def test_of_a_header_that_is_repeated_the_first_counts(talking: Talking) -> None:
    talk = talking(in_order(["Yes."]))
    who = talk.somebody()
    first, second = talk.say(who).conversation, talk.say(who).conversation
    with attended(talk.app) as api:
        answer = api.invoke(message(who, "Go on", [first, second]))
        assert answer.head["headers"]["x-conversation-id"] == first
        answer.rest()
        unknown = api.invoke(message(who, "Go on", ["a\0b", first]))
        assert unknown.head["statusCode"] == 404
        assert json.loads(unknown.rest()) == {"error": "Conversation not found"}

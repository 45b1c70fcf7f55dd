"""The scripted provider speaks its three dialects as real SDK-less clients expect them."""

from __future__ import annotations

import json
from typing import Any

import httpx
import openai
import pytest

from tests.fakes import twin
from tests.fakes.model_server import ModelServer, always
from tests.fakes.model_wire import Call, Chat, Fail, Say, Turn

PROFILE = json.dumps({"agent_context_block": 'Price "first",\nthen local.'})


def request(dialect: str, *, skill: bool = True, results: tuple[str, ...] = ()) -> dict[str, Any]:
    """A conversation with one tool, in a dialect."""
    system = f"You have a skill. {twin.SKILL_MARK}, use it." if skill else "You are helpful."
    name, user = "mcp__sync__sync_get_profile", "Which contract?"
    if dialect == "chat":
        return {
            "messages": [
                {"role": "system", "content": system},
                {"role": "user", "content": user},
                *({"role": "tool", "content": r, "tool_call_id": "1"} for r in results),
            ],
            "tools": [{"type": "function", "function": {"name": name}}],
        }
    if dialect == "responses":
        return {
            "instructions": system,
            "input": [
                {"type": "message", "role": "user", "content": [{"text": user}]},
                *({"type": "function_call_output", "output": r} for r in results),
            ],
            "tools": [{"type": "namespace", "name": "mcp__sync", "tools": [{"name": name}]}],
        }
    return {
        "system": [{"type": "text", "text": system}],
        "messages": [
            {"role": "user", "content": user},
            {"role": "user", "content": [_result(r) for r in results]},
        ],
        "tools": [{"name": name}],
    }


def _result(text: str) -> dict[str, Any]:
    return {"type": "tool_result", "content": [{"type": "text", "text": text}]}


DIALECTS = pytest.mark.parametrize(
    ("dialect", "path"),
    [
        ("chat", "/v1/chat/completions"),
        ("responses", "/v1/responses"),
        ("messages", "/v1/messages?beta=true"),
    ],
)


@pytest.mark.promise("P1-1", "P1-1-fake-model")
@DIALECTS
@pytest.mark.parametrize("stream", [False, True])
def test_a_call_and_an_answer_travel_in_every_dialect(
    dialect: str, path: str, stream: bool
) -> None:
    with ModelServer(twin.Twin()) as server:
        asked = {**request(dialect), "stream": stream}
        called = httpx.post(server.url + path, json=asked)
        told = {**request(dialect, results=(PROFILE,)), "stream": stream}
        answered = httpx.post(server.url + path, json=told)
    assert "mcp__sync__sync_get_profile" in called.text
    assert "Based on your Sync profile" in answered.text
    assert called.headers["Content-Type"].startswith("text/event-stream") is stream
    assert [turn.dialect for turn in server.turns] == [dialect] * 2
    assert server.turns[1].results == (PROFILE,)


@DIALECTS
def test_what_the_model_was_told_is_kept(dialect: str, path: str) -> None:
    with ModelServer(always("Hello.")) as server:
        httpx.post(server.url + path, json=request(dialect))
    [turn] = server.turns
    assert twin.SKILL_MARK in turn.told
    assert "Which contract?" in turn.told
    assert turn.tool("get_profile") is not None


def test_a_failing_model_answers_with_its_status() -> None:
    with ModelServer(lambda turn: Fail(529, "Overloaded")) as server:
        reply = httpx.post(server.url + "/v1/messages", json=request("messages"))
    assert (reply.status_code, reply.json()["error"]["message"]) == (529, "Overloaded")


def test_bodies_may_come_in_chunks_and_unknown_paths_are_remembered() -> None:
    with ModelServer(always("Hi.")) as server:
        body = json.dumps(request("chat")).encode()
        reply = httpx.post(server.url + "/v1/chat/completions", content=iter([body[:9], body[9:]]))
        missing = httpx.get(server.url + "/elsewhere")
        models = httpx.get(server.url + "/v1/models").json()
    assert reply.json()["choices"][0]["message"]["content"] == "Hi."
    assert (missing.status_code, server.unknown) == (404, ["/elsewhere"])
    assert models["data"][0]["id"] == "fake-model"


def turn(*, skill: bool, results: tuple[str, ...] = ()) -> Turn:
    """A turn as the chat dialect reads it."""
    return Chat().read(request("chat", skill=skill, results=results))


@pytest.mark.promise("000-13.16")
def test_the_twin_is_personal_only_with_skill_and_profile() -> None:
    script = twin.Twin()
    assert script(turn(skill=False)) == Say(twin.GENERIC)
    assert isinstance(script(turn(skill=True)), Call)
    refused = '{"code":"profile_access_disabled","message":"off"}'
    assert script(turn(skill=True, results=(refused,))) == Say(twin.WITHOUT)
    untrained = json.dumps({"agent_context_block": None})
    assert script(turn(skill=True, results=(untrained,))) == Say(twin.UNTRAINED)
    told = script(turn(skill=True, results=(PROFILE,)))
    assert told == Say(twin.PERSONAL + 'Price "first",\nthen local.')


@pytest.mark.parametrize("quotings", [0, 1, 2])
def test_the_block_is_found_however_often_a_host_quotes_it(quotings: int) -> None:
    text = PROFILE
    for _ in range(quotings):
        text = json.dumps({"result": text})
    assert twin.context_block(f"<data>{text}</data>") == 'Price "first",\nthen local.'


def _tool(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}


@pytest.mark.promise("P2-1-real")
@pytest.mark.parametrize("stream", [False, True])
def test_a_tool_that_a_request_names_is_the_one_that_is_called(stream: bool) -> None:
    """A named tool_choice by the SDK: the scripted model sees which, and calls that one."""

    def obedient(turn: Turn) -> Say | Call:
        return Call(turn.demanded, {"about": "flight"}) if turn.demanded else Say("nothing asked")

    def ask(**more: Any) -> tuple[str | None, list[tuple[str, str]], str | None]:
        """Text, calls as name and arguments, and the reason of the end."""
        came: Any = client.chat.completions.create(
            model="fake-model",
            messages=[{"role": "user", "content": "Which?"}],
            tools=[_tool("look_up"), _tool("decide")],
            stream=stream,
            **more,
        )
        if not stream:
            [choice] = came.choices
            calls = choice.message.tool_calls or []
            found = [(call.function.name, call.function.arguments) for call in calls]
            return choice.message.content, found, choice.finish_reason
        choices = [chunk.choices[0] for chunk in came if chunk.choices]
        deltas = [call for choice in choices for call in choice.delta.tool_calls or []]
        text = "".join(choice.delta.content or "" for choice in choices) or None
        found = [(call.function.name, call.function.arguments) for call in deltas]
        return text, found, choices[-1].finish_reason

    with (
        ModelServer(obedient) as server,
        openai.OpenAI(base_url=server.url + "/v1", api_key="none", max_retries=0) as client,
    ):
        named = {"type": "function", "function": {"name": "decide"}}
        assert ask(tool_choice=named) == (None, [("decide", '{"about": "flight"}')], "tool_calls")
        assert ask(tool_choice="auto") == ("nothing asked", [], "stop")
        assert ask(tool_choice={"type": "function", "function": {"name": "other"}})[1] == []

"""Calls as providers really stream them, and as a database can hold them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.llm.tool_calls import ToolCalls
from judgment.llm.written import DEEPEST, read_object
from tests.fakes.model_server import ModelServer, always
from tests.unit.llm.chatting import DONE, client, conversed, failed, line, piece, says

ONE, TWO = '{"x": 1}', '{"x": 2}'


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(always("Good morning.")) as made:
        yield made


@pytest.mark.promise("P4-provider-calls", "P4-refuse")
@pytest.mark.parametrize(
    ("parts", "calls"),
    [
        pytest.param(
            [
                piece(0, id="a", name="f", arguments='{"x":'),
                piece(0, id="b", name="g", arguments="{"),
                piece(0, id="a", arguments=" 1}"),
                piece(0, id="b", arguments="}"),
            ],
            [("f", {"x": 1}), ("g", {})],
            id="in turns at one index",
        ),
        pytest.param(
            [
                piece(0, id="a", name="f", arguments='{"x":'),
                piece(0, id="b", name="g", arguments="{}"),
                piece(0, id="a", arguments=" "),
                piece(0, arguments="1}"),
            ],
            [("f", {"x": 1}), ("g", {})],
            id="without an id it is the one of just before",
        ),
        pytest.param(
            [piece(0, name="f", arguments=""), piece(0, name="g", arguments=ONE)],
            [("f", {}), ("g", {"x": 1})],
            id="no ids, one without inputs",
        ),
        pytest.param(
            [piece(0, name="f", arguments='{"x":'), piece(0, name="g", arguments=ONE)],
            [("f", None), ("g", {"x": 1})],
            id="another name before the arguments were whole",
        ),
        pytest.param(
            [piece(0, name="f", arguments=ONE), piece(0, id="b", name="g", arguments="")],
            [("f", {"x": 1}), ("g", {})],
            id="an id only for the second",
        ),
        pytest.param(
            [piece(0, name="f", arguments=ONE), piece(0, name="f", arguments="")],
            [("f", {"x": 1})],
            id="the name again at the end, with nothing more",
        ),
        pytest.param(
            [piece(0, name="f", arguments='{"x":'), piece(0, name="f", arguments=" 1}")],
            [("f", {"x": 1})],
            id="the name with each piece",
        ),
        pytest.param(
            [
                piece(0, id="call", name="f", arguments=ONE),
                piece(0, id="call", name="f", arguments=TWO),
            ],
            [("f", {"x": 1}), ("f", {"x": 2})],
            id="one id and one index for all",
        ),
        pytest.param(
            [
                piece(0, id="call", name="f", arguments=ONE),
                piece(1, id="call", name="f", arguments=TWO),
            ],
            [("f", {"x": 1}), ("f", {"x": 2})],
            id="one id for all, each its index",
        ),
        pytest.param(
            [
                piece(None, id="call", name="f", arguments=ONE),
                piece(None, id="call", name="g", arguments=TWO),
            ],
            [("f", {"x": 1}), ("g", {"x": 2})],
            id="one id for all, no index",
        ),
        pytest.param(
            [
                piece(None, name="f", arguments='{"x":'),
                piece(None, arguments=" 1}"),
                piece(None, name="f", arguments=TWO),
            ],
            [("f", {"x": 1}), ("f", {"x": 2})],
            id="neither ids nor indices",
        ),
        pytest.param(
            [
                piece(0, name="f", arguments=ONE),
                piece(0, id="a", arguments=""),
            ],
            [("f", {"x": 1})],
            id="the id at last",
        ),
        pytest.param(
            [piece(0, id=None, name="f", arguments=None, type="function")],
            [("f", {})],
            id="nothing but a name",
        ),
    ],
)
def test_calls_in_every_manner(server: ModelServer, parts: list[bytes], calls: list[Any]):
    says(server, *parts, line({}, "tool_calls"), DONE)
    _, end = conversed(client(server))
    assert [(call.name, call.arguments) for call in end.calls] == calls
    assert len({call.id for call in end.calls}) == len(calls)


@pytest.mark.promise("P4-refuse")
def test_more_calls_than_anyone_makes_are_no_answer(server: ModelServer):
    calls = [piece(n, id=f"c{n}", name="f", arguments="{}") for n in range(65)]
    says(server, *calls[:64], line({}, "tool_calls"), DONE)
    assert len(conversed(client(server))[1].calls) == 64
    says(server, *calls, line({}, "tool_calls"), DONE)
    assert failed(client(server)).trouble == "provider_error"


@pytest.mark.promise("P4-refuse")
@pytest.mark.parametrize("inner", ["a\\u0000b", "\\ud800", "\\udc00\\ud83d"])
def test_calls_hold_nothing_that_cannot_be_stored(server: ModelServer, inner: str):
    arguments = '{"x": "%s", "y%s": [{"z": "%s"}]}' % (inner, inner, inner)  # noqa: UP031
    odd = piece(0, id="a\0\ud800", name="f\0\ud800", arguments=arguments)
    says(server, odd, line({}, "tool\0calls"))
    _, end = conversed(client(server))
    [call] = end.calls
    assert call.arguments
    for text in (call.id, call.name, end.finish_reason, *call.arguments, call.arguments["x"]):
        assert "\ufffd" in text or text == "x"
    stored = json.dumps([call.id, call.name, call.arguments], ensure_ascii=False)
    assert "\\u0000" not in stored
    assert stored.encode("utf-8")


@pytest.mark.parametrize("text", ['{"x": "\\ud83d\\ude00"}', '{"x": "😀"}'])
def test_a_pair_of_halves_is_one_character(server: ModelServer, text: str):
    says(server, piece(0, id="a", name="f", arguments=text), line({}, "stop"))
    assert conversed(client(server))[1].calls[0].arguments == {"x": "😀"}


@pytest.mark.promise("P4-provider-notools", "P4-refuse")
@pytest.mark.parametrize("inner", ["x\\u0000", "\\ud800"])
def test_an_answer_by_schema_holds_nothing_that_cannot_be_stored(server: ModelServer, inner: str):
    one = client(server, model_without_tools="ollama:*")
    server.script = always(f'{{"say": "{inner}"}}')
    assert "\ufffd" in conversed(one)[0]
    server.script = always(f'{{"tool": "memory_read", "path": "{inner}"}}')
    [call] = conversed(one)[1].calls
    assert call.arguments
    assert "\ufffd" in call.arguments["path"]


@pytest.mark.promise("P4-provider-notools", "P4-refuse")
@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        ('{"tool": "memory_read"}', "memory_read needs path"),
        ('{"tool": "memory_read", "path": null}', "takes path as string"),
        ('{"tool": "memory_read", "path": 7}', "takes path as string"),
        ('{"tool": "memory_read", "path": 1e999}', "not one JSON object"),
        ('{"tool": "memory_read", "path": "a", "mode": 1}', "takes no mode"),
    ],
)
def test_an_answer_by_schema_is_held_against_it(server: ModelServer, answer: str, complaint: str):
    server.script = always(answer)
    failure = failed(client(server, model_without_tools="ollama:*"))
    assert failure.call
    assert failure.call.outcome == "invalid_output"
    assert complaint in server.turns[1].body["messages"][-1]["content"]


@pytest.mark.promise("P4-provider-notools")
def test_an_input_that_is_not_needed_may_be_null(server: ModelServer):
    server.script = always('{"tool": "memory_read", "path": "a", "mode": null}')
    [call] = conversed(client(server, model_without_tools="ollama:*"))[1].calls
    assert call.arguments == {"path": "a"}


KEPT = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), KEPT | st.text(st.characters(codec=None)), max_size=4))
def test_what_is_read_of_an_object_can_be_written_and_read_again(value: dict[str, Any]):
    found = read_object(json.dumps(value))
    assert found is not None
    text = json.dumps(found, ensure_ascii=False)
    assert text.encode("utf-8").decode("utf-8") == text
    assert "\\u0000" not in text
    assert read_object(text) == found


def test_an_object_has_a_depth_at_most():
    def nested(levels: int) -> str:
        return '{"x":' * levels + "1" + "}" * levels

    assert read_object(nested(DEEPEST)) is not None
    assert read_object(nested(DEEPEST + 1)) is None
    assert read_object(nested(100_000)) is None


PIECES = st.fixed_dictionaries(
    {},
    optional={
        "index": st.sampled_from([None, 0, 1]),
        "id": st.sampled_from(["", "a", "b"]),
        "name": st.sampled_from(["f", "g"]),
        "more": st.sampled_from(["", " "]),
    },
)


@pytest.mark.promise("P4-provider-calls")
@given(st.lists(PIECES, max_size=12))
def test_no_arguments_are_lost_or_told_twice(pieces: list[dict[str, Any]]):
    """However calls are named and numbered, each input is in one call or in one that is broken."""
    made = ToolCalls()
    for number, one in enumerate(pieces):
        arguments = one.get("more", json.dumps({f"x{number}": number}))
        function = {"name": one["name"]} if "name" in one else {}
        told = {key: one[key] for key in ("index", "id") if key in one}
        made.add([{**told, "function": {**function, "arguments": arguments}}])
    calls = made.finished()
    shown = [key for call in calls for key in call.arguments or ()]
    assert len(shown) == len(set(shown))
    if all(call.problem is None for call in calls):
        assert set(shown) == {f"x{n}" for n, one in enumerate(pieces) if "more" not in one}
    assert len({call.id for call in calls}) == len(calls)
    named = {one["name"] for one in pieces if "name" in one}
    assert {call.name for call in calls} <= named | {"unknown_tool"}
    if pieces and all("name" in one and "more" not in one for one in pieces):
        assert len(calls) == len(pieces)

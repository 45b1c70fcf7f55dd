"""What a model is told of the tools, and what becomes of a call that does not fit."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from judgment.memory.model import MemoryFailure
from judgment.memory.specs import checked, spec
from judgment.memory.tools import MEMORY_TOOLS

pytestmark = pytest.mark.promise("P4-memory-tools", "R-41")

INPUTS = {
    "memory_read": ({"path"}, {"path"}),
    "memory_write": ({"path", "content"}, {"path", "content"}),
    "memory_edit": ({"path", "find", "replace"}, {"path", "find", "replace"}),
    "memory_delete": ({"path"}, {"path"}),
    "memory_list": ({"path"}, set[str]()),
    "memory_search": ({"query", "path", "include_conversations"}, {"query"}),
    "memory_history": ({"path", "commit"}, {"path"}),
    "memory_export": (set[str](), set[str]()),
}


def test_the_tools_have_the_names_and_inputs_of_the_reference() -> None:
    told = {
        tool.name: (set(tool.parameters["properties"]), set(tool.parameters.get("required", ())))
        for tool in MEMORY_TOOLS
    }
    assert told == INPUTS
    writers = {tool.name for tool in MEMORY_TOOLS if tool.writes}
    assert writers == {"memory_write", "memory_edit", "memory_delete"}


def test_the_schemas_are_flat_closed_and_valid() -> None:
    for tool in MEMORY_TOOLS:
        jsonschema.Draft202012Validator.check_schema(dict(tool.parameters))
        assert tool.parameters["additionalProperties"] is False
        kinds = {one["type"] for one in tool.parameters["properties"].values()}
        assert kinds <= {"string", "boolean"}


def test_all_the_tools_take_little_of_a_small_window() -> None:
    offered = [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            },
        }
        for tool in MEMORY_TOOLS
    ]
    assert len(json.dumps(offered)) <= 2600


def refusal(name: str, arguments: dict[str, Any]) -> str:
    with pytest.raises(MemoryFailure) as refused:
        checked(spec(name), arguments)
    assert (refused.value.code, refused.value.recoverable) == ("invalid_input", True)
    return refused.value.message


@pytest.mark.parametrize(
    ("name", "arguments", "key"),
    [
        ("memory_read", {}, "path"),
        ("memory_read", {"path": None}, "path"),
        ("memory_read", {"path": 7}, "path"),
        ("memory_read", {"path": ["a"]}, "path"),
        ("memory_read", {"path": "a", "file": "b"}, "file"),
        ("memory_write", {"path": "a"}, "content"),
        ("memory_write", {"path": "a", "content": {"text": "b"}}, "content"),
        ("memory_write", {"path": "a", "content": "\ud800"}, "content"),
        ("memory_edit", {"path": "a", "find": "b"}, "replace"),
        ("memory_edit", {"path": "a", "find": "\0", "replace": ""}, "find"),
        ("memory_list", {"path": True}, "path"),
        ("memory_search", {"query": "a", "include_conversations": "true"}, "include_conversations"),
        ("memory_search", {"query": "a", "include_conversations": 1}, "include_conversations"),
        ("memory_search", {"query": ""}, "query"),
        ("memory_search", {"query": " \n"}, "query"),
        ("memory_search", {"query": "a\nb"}, "query"),
        ("memory_search", {"query": "a" * 501}, "query"),
        ("memory_search", {"query": "\udc00"}, "query"),
        ("memory_history", {"path": "a", "commit": "HEAD~1"}, "commit"),
        ("memory_history", {"path": "a", "commit": "abc"}, "commit"),
        ("memory_history", {"path": "a", "commit": ""}, "commit"),
        ("memory_history", {"path": "a", "commit": "0" * 41}, "commit"),
        ("memory_export", {"path": "a"}, "path"),
    ],
)
def test_a_call_that_does_not_fit_is_told_which_key(
    name: str, arguments: dict[str, Any], key: str
) -> None:
    assert key in refusal(name, arguments)


def test_null_is_absent_where_it_may_be() -> None:
    assert checked(spec("memory_list"), {"path": None}) == {}
    given = {"query": "a", "path": None, "include_conversations": None}
    assert checked(spec("memory_search"), given) == {"query": "a"}


@pytest.mark.parametrize("name", ["", "memory_reads", "project_list", "\ud800" * 99, "x" * 10_000])
def test_there_is_no_other_tool(name: str) -> None:
    with pytest.raises(MemoryFailure) as refused:
        spec(name)
    assert len(json.dumps(refused.value.output())) < 500


VALUES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=8), st.just(["a"]))
KEYS = st.sampled_from(
    ["path", "content", "find", "replace", "query", "include_conversations", "commit", "other"]
)


@given(st.sampled_from(MEMORY_TOOLS), st.dictionaries(KEYS, VALUES, max_size=4))
def test_what_passes_fits_the_schema_that_the_model_was_told(
    tool: Any, arguments: dict[str, Any]
) -> None:
    present = {key: value for key, value in arguments.items() if value is not None}
    try:
        kept = checked(tool, arguments)
    except MemoryFailure as failure:
        json.dumps(failure.output()).encode()
        return
    assert kept == present
    jsonschema.validate(kept, dict(tool.parameters))

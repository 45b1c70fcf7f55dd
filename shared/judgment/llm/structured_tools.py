"""Tools for a model that has none: it answers with one object, which is a text or a call.

The object is flat (`{"say": …}`, or `{"tool": …}` with the tool's inputs beside it), because small
models break nested ones (reference §9.5). What it says is held against the schema here, whatever
the provider did with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from judgment.llm.calling import sendable
from judgment.llm.chat import ToolUse
from judgment.llm.tool_calls import read_json

if TYPE_CHECKING:
    from judgment.llm.chat import ChatMessage, ToolOffer

Body = dict[str, Any]
SAY, TOOL = "say", "tool"

_HOW = (
    'Answer with one JSON object and nothing else. To speak to the owner: {"say": "..."}. To use a'
    ' tool: {"tool": "<name>", ...its inputs}. The result of a tool comes back to you. Tools:'
)


class WrongShape(ValueError):
    """The answer is neither a text nor a call; the message says why, for the model."""


def structured_body(
    messages: Sequence[ChatMessage], tools: Sequence[ToolOffer], *, with_schema: bool
) -> Body:
    """The body of a whole completion in which tools are a matter of the answer's schema."""
    told = [_message(one) for one in messages]
    lines = [_HOW, *(f"- {_described(tool)}" for tool in tools)]
    text = "\n".join(lines)
    if told and told[0]["role"] == "system":
        told[0]["content"] += "\n\n" + text
    else:
        told.insert(0, {"role": "system", "content": text})
    body: Body = {"stream": False, "messages": told}
    if with_schema:
        wanted = {"name": "answer", "schema": schema(tools), "strict": False}
        body["response_format"] = {"type": "json_schema", "json_schema": wanted}
    return body


def schema(tools: Sequence[ToolOffer]) -> Body:
    """The schema of an answer: a text, or a call of one of the tools."""
    say = _closed({SAY: {"type": "string"}}, [SAY])
    return {"anyOf": [say, *(_call_schema(tool) for tool in tools)]}


def answered(text: str, tools: Sequence[ToolOffer], identity: str) -> str | ToolUse:
    """What an answer says: words, or a call under that id. Raises WrongShape."""
    try:
        found = read_json(_unfenced(text))
    except ValueError:
        raise WrongShape("That was not one JSON object.") from None
    if not isinstance(found, dict):
        raise WrongShape("That was not one JSON object.")
    given = cast("dict[str, Any]", found)
    if isinstance(given.get(SAY), str) and TOOL not in given:
        return given[SAY]
    offered = {tool.name: tool for tool in tools}
    name = given.pop(TOOL, None)
    if not isinstance(name, str) or name not in offered:
        raise WrongShape('It needs "say", or "tool" with the name of a tool that is listed.')
    takes: Mapping[str, Any] = offered[name].parameters.get("properties", {})
    unknown = sorted(set(given) - set(takes))
    if unknown:
        raise WrongShape(f"{name} takes no {unknown[0][:50]}.")
    return ToolUse(identity, name, given)


def repair(problem: str) -> str:
    """What a model is told whose answer had the wrong shape."""
    return f"{problem} Answer again with one JSON object of the form described."


def _message(one: ChatMessage) -> Body:
    if one.role == "tool":
        return {"role": "user", "content": sendable(f"The tool's result: {one.text}")}
    said = [one.text] if one.text else []
    said += [
        json.dumps({TOOL: call.name, **(call.arguments or {})}, ensure_ascii=False)
        for call in one.calls
    ]
    return {"role": one.role, "content": sendable("\n".join(said))}


def _described(tool: ToolOffer) -> str:
    takes: Mapping[str, Any] = tool.parameters.get("properties", {})
    needs: Sequence[str] = tool.parameters.get("required", ())
    inputs = ", ".join(name if name in needs else f"{name}?" for name in takes)
    return f"{tool.name}({inputs}): {tool.description}"


def _call_schema(tool: ToolOffer) -> Body:
    takes: Mapping[str, Any] = tool.parameters.get("properties", {})
    needs: Sequence[str] = tool.parameters.get("required", ())
    return _closed({TOOL: {"type": "string", "enum": [tool.name]}, **takes}, [TOOL, *needs])


def _closed(properties: Mapping[str, Any], required: Sequence[str]) -> Body:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(required),
        "additionalProperties": False,
    }


def _unfenced(text: str) -> str:
    """The text without a code fence around it, which many models add."""
    inner = text.strip()
    if inner.startswith("```") and inner.endswith("```") and len(inner) > 6:
        return inner[3:-3].removeprefix("json").strip()
    return inner

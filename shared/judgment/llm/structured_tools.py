"""Tools for a model that has none: it answers with one object, which is a text or a call.

The object is flat (`{"say": …}`, or `{"tool": …}` with the tool's inputs beside it), because small
models break nested ones (reference §9.5). What it says is held against the schema here, whatever
the provider did with it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judgment.llm.calling import sendable
from judgment.llm.chat import ToolUse
from judgment.llm.written import read_object

if TYPE_CHECKING:
    from judgment.llm.chat import ChatMessage, ToolOffer

Body = dict[str, Any]
SAY, TOOL = "say", "tool"
_KINDS: Mapping[str, type] = {"string": str, "boolean": bool, "integer": int, "array": list}

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
    given = read_object(_unfenced(text))
    if given is None:
        raise WrongShape("That was not one JSON object.")
    if isinstance(given.get(SAY), str) and TOOL not in given:
        return given[SAY]
    offered = {tool.name: tool for tool in tools}
    name = given.pop(TOOL, None)
    if not isinstance(name, str) or name not in offered:
        raise WrongShape('It needs "say", or "tool" with the name of a tool that is listed.')
    needs: Sequence[str] = offered[name].parameters.get("required", ())
    inputs = {at: value for at, value in given.items() if value is not None or at in needs}
    _check(offered[name], inputs)
    return ToolUse(identity, name, inputs)


def _check(tool: ToolOffer, given: Mapping[str, Any]) -> None:
    """What a schema would have kept, had the provider kept to it. Raises WrongShape."""
    takes: Mapping[str, Any] = tool.parameters.get("properties", {})
    needs: Sequence[str] = tool.parameters.get("required", ())
    for name in needs:
        if name not in given:
            raise WrongShape(f"{tool.name} needs {name}.")
    for name, value in given.items():
        if name not in takes:
            raise WrongShape(f"{tool.name} takes no {name[:50]}.")
        kind = takes[name].get("type")
        if not isinstance(value, _KINDS.get(kind, object) if isinstance(kind, str) else object):
            raise WrongShape(f"{tool.name} takes {name} as {kind}.")


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

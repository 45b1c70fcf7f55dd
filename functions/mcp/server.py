"""The MCP server: lists what the key may use, turns a call into a GET and its answer into a result.

The SDK's low-level server neither checks arguments nor knows an unknown tool; both are done here,
as results the model can read and correct itself by (`isError`), never as protocol errors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcp.server import ServerRequestContext
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.types import (
    CallToolRequestParams,
    ListToolsResult,
    PaginatedRequestParams,
    ToolAnnotations,
)
from mcp.types import Tool as ListedTool
from pydantic import ValidationError

from functions.mcp.tools import TOOLS, Schema, Spelling, Tool, find, offered
from judgment import VERSION
from judgment.contract.errors import Problem
from judgment.kit.errors import InvalidRequest, Refusal, Unavailable

if TYPE_CHECKING:
    from functions.mcp.rest import Answer, Caller, Rest

CALLER = "judgment.caller"
SPELLING = "judgment.spelling"
INSTRUCTIONS = (
    "Read-only access to the Sync judgment profile of the person you act for: how they decide. "
    "No tool here records or changes anything."
)
LIST_TTL_MS = 300_000

Context = ServerRequestContext[Any, Any]


def build_server(rest: Rest) -> Server[Any]:
    """The server with its tools. It reads `CALLER` and `SPELLING` from the ASGI scope."""

    async def list_tools(context: Context, _: PaginatedRequestParams | None) -> ListToolsResult:
        scope = _scope(context)
        caller: Caller = scope[CALLER]
        spelling: Spelling = scope[SPELLING]
        return ListToolsResult(tools=[_listed(t, spelling) for t in offered(caller.scopes)])

    async def call_tool(context: Context, params: CallToolRequestParams) -> Any:
        try:
            return _call(rest, _scope(context)[CALLER], params.name, params.arguments or {})
        except Refusal as refusal:
            return _refused(refusal.code, refusal.message, refusal.retry_after_seconds)

    return Server(
        "sync",
        version=VERSION,
        title="Sync judgment",
        instructions=INSTRUCTIONS,
        cache_hints={
            "tools/list": CacheHint(LIST_TTL_MS, "private"),
            "server/discover": CacheHint(LIST_TTL_MS, "private"),
        },
        get_tool_input_schema=_input_schema,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _call(rest: Rest, caller: Caller, name: str, arguments: dict[str, Any]) -> Any:
    tool = find(name)
    if tool is None:
        known = ", ".join(t.name for t in TOOLS)
        raise InvalidRequest(f"There is no such tool. The tools here are: {known}.")
    answer = rest.get(tool.path, tool.check(arguments), caller)
    return _result(tool, answer)


def _result(tool: Tool, answer: Answer) -> dict[str, Any]:
    """The REST answer as a tool result: held against the contract, compact text and structure."""
    if answer.status != 200:
        return _problem(answer)
    try:
        value = tool.result.model_validate_json(answer.body)
    except ValidationError as error:
        raise Unavailable("The profile service answered outside its contract.") from error
    return {
        **_text(value.model_dump_json()),
        "structuredContent": value.model_dump(mode="json"),
        "isError": False,
    }


def _problem(answer: Answer) -> dict[str, Any]:
    """A refusal by REST, or by API Gateway before it, with its own code and words."""
    try:
        body = json.loads(answer.body)
        problem = Problem(
            code=body["code"],
            message=body["message"],
            retry_after_seconds=body.get("retry_after_seconds"),
        )
    except (ValueError, TypeError, KeyError):
        raise Unavailable from None
    return _refused(problem.code, problem.message, problem.retry_after_seconds)


def _refused(code: str, message: str, retry_after_seconds: int | None = None) -> dict[str, Any]:
    body: dict[str, Any] = {"code": code, "message": message}
    if retry_after_seconds is not None:
        body["retry_after_seconds"] = retry_after_seconds
    return {**_text(json.dumps(body, separators=(",", ":"), ensure_ascii=False)), "isError": True}


def _text(text: str) -> dict[str, Any]:
    """`resultType` belongs to 2026-07-28; the SDK leaves it out of older answers."""
    return {"content": [{"type": "text", "text": text}], "resultType": "complete"}


def _listed(tool: Tool, spelling: Spelling) -> ListedTool:
    return ListedTool(
        name=tool.spelled(spelling),
        title=tool.title,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
    )


def _input_schema(name: str) -> Schema | None:
    tool = find(name)
    return tool.input_schema if tool else None


def _scope(context: Context) -> Mapping[str, Any]:
    return context.request.scope  # type: ignore[union-attr]

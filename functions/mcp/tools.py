"""The table of tools: one row per agent route that agents may call by name.

Scope, arguments and results come from the contract, so that REST and MCP cannot drift apart.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ValidationError

from judgment.contract.profile import (
    AgentProfile,
    ProfileQuery,
    RecentDecisions,
    RecentDecisionsQuery,
)
from judgment.contract.routes import ROUTES, Route
from judgment.kit.errors import InvalidRequest

Schema: TypeAlias = dict[str, Any]
Spelling = Literal["dots", "underscores"]

_CLOSED = {"additionalProperties", "title"}


@dataclass(frozen=True)
class Tool:
    """One tool. `name` is the dotted spelling; `path` is the REST route it calls with GET."""

    name: str
    title: str
    description: str
    path: str
    arguments: type[BaseModel]
    result: type[BaseModel]

    @cached_property
    def route(self) -> Route:
        """The row of the route table behind this tool. Raises StopIteration if there is none."""
        return next(r for r in ROUTES if r.method == "GET" and r.path == self.path)

    @cached_property
    def input_schema(self) -> Schema:
        """JSON Schema of the arguments: closed, so that a client can refuse a typing error."""
        schema = _inlined(self.arguments.model_json_schema(), drop={"title", "description"})
        return {"properties": {}, **schema}

    @cached_property
    def output_schema(self) -> Schema:
        """JSON Schema of the result: open, so that a new optional field breaks no client."""
        return _inlined(self.result.model_json_schema(mode="serialization"), drop=_CLOSED)

    def spelled(self, spelling: Spelling) -> str:
        """The name as listed: with dots, or with underscores for clients that break on dots."""
        return self.name if spelling == "dots" else canonical(self.name)

    def check(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments, validated and with defaults. Raises InvalidRequest in plain words."""
        try:
            return self.arguments.model_validate(arguments).model_dump()
        except ValidationError as error:
            raise InvalidRequest(_in_words(error)) from None


TOOLS: tuple[Tool, ...] = (
    Tool(
        "sync.get_profile",
        "Get the owner's judgment profile",
        "Read the owner's Sync judgment profile: how this person decides, what drives them, "
        "their tendencies and signals, with agent_context_block ready to use as context. "
        "Consult it before advising them on a decision or trade-off, or drafting for them. "
        "summary_text null means the profile is not trained yet.",
        "/api/agent/v1/profile",
        ProfileQuery,
        AgentProfile,
    ),
    Tool(
        "sync.get_recent_decisions",
        "Get the owner's recent decisions",
        "Read the owner's latest decisions in Sync, newest first: scenario title, category, "
        "chosen option, rationale. Use it for concrete precedents after the judgment profile.",
        "/api/agent/v1/profile/recent-decisions",
        RecentDecisionsQuery,
        RecentDecisions,
    ),
)


def canonical(name: str) -> str:
    """The spelling under which names are compared: dots and hyphens become underscores."""
    return re.sub(r"[.-]", "_", name)


_BY_NAME = {canonical(tool.name): tool for tool in TOOLS}


def find(name: str) -> Tool | None:
    """The tool called `name` in any of its spellings, else None."""
    return _BY_NAME.get(canonical(name))


def offered(scopes: frozenset[str]) -> tuple[Tool, ...]:
    """The tools that a key of these scopes may use, in table order."""
    return tuple(t for t in TOOLS if t.route.scope is None or t.route.scope in scopes)


def _inlined(schema: Schema, drop: set[str]) -> Schema:
    """The schema without `$defs`: several clients do not follow references inside tool schemas."""
    definitions = schema.pop("$defs", {})

    def walk(node: Any) -> Any:
        if isinstance(node, list):
            return [walk(item) for item in node]  # pyright: ignore[reportUnknownVariableType]
        if not isinstance(node, dict):
            return node
        if "$ref" in node:
            name = str(node["$ref"]).rsplit("/", 1)[-1]  # pyright: ignore[reportUnknownArgumentType]
            return walk(copy.deepcopy(definitions[name]))
        return {
            key: _properties(value, walk) if key == "properties" else walk(value)
            for key, value in node.items()  # pyright: ignore[reportUnknownVariableType]
            if key not in drop
        }

    return walk(schema)


def _properties(properties: Any, walk: Any) -> Any:
    """Property names are data: one that is called like a keyword must stay."""
    return {name: walk(value) for name, value in properties.items()}


def _in_words(error: ValidationError) -> str:
    """Where and why, without echoing the input or pointing at a library's website."""
    parts = [
        f"{'.'.join(str(step) for step in item['loc']) or 'arguments'}: {item['msg']}"
        for item in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    return "; ".join(parts[:5])

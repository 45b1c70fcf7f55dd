"""The JSON Schema that a provider is given for an answer, made from its pydantic shape.

Providers that enforce a schema take a part of the language only: every property required, no
property beside them, no lengths. What is left out here is said in the description, and pydantic
checks all of it afterwards. Source: the "Structured outputs" guide of the OpenAI API.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from pydantic import BaseModel

_LEFT_OUT = {
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "uniqueItems": "no item twice",
    "title": "",
    "default": "",
    "examples": "",
    "discriminator": "",
}
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
_NAMED_CHILDREN = ("properties", "$defs")


@dataclass(frozen=True)
class AnswerSchema:
    """`name` as providers allow it; `strict` is False where the shape has keys of its own making.

    Such a shape (`dict[str, float]`) cannot be enforced, only described.
    """

    name: str
    schema: Mapping[str, Any] = field(repr=False)
    strict: bool


def schema_of(shape: type[BaseModel]) -> AnswerSchema:
    """The schema of `shape`."""
    written = shape.model_json_schema(mode="validation")
    return AnswerSchema(
        _NOT_IN_NAMES.sub("_", shape.__name__)[:64], _provided(written), not _is_open(written)
    )


def property_names(shape: type[BaseModel]) -> frozenset[str]:
    """Every name that the shape itself gives to a property, at any depth."""
    found: set[str] = set()
    for node in _nodes(shape.model_json_schema(mode="validation")):
        found |= cast("dict[str, Any]", node.get("properties", {})).keys()
    return frozenset(found)


def _is_open(written: dict[str, Any]) -> bool:
    return any(
        isinstance(node.get("additionalProperties"), dict) or "prefixItems" in node
        for node in _nodes(written)
    )


def _nodes(node: Any) -> Iterator[dict[str, Any]]:
    """Every object of a schema document, depth first."""
    if isinstance(node, dict):
        known = cast("dict[str, Any]", node)
        yield known
        for value in known.values():
            yield from _nodes(value)
    elif isinstance(node, list):
        for value in cast("list[Any]", node):
            yield from _nodes(value)


def _provided(node: Any) -> Any:
    if isinstance(node, list):
        return [_provided(value) for value in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    known = cast("dict[str, Any]", node)
    result: dict[str, Any] = {}
    said: list[str] = [known["description"]] if isinstance(known.get("description"), str) else []
    for key, value in known.items():
        if key in _NAMED_CHILDREN:
            result[key] = {name: _provided(child) for name, child in value.items()}
        elif key in _LEFT_OUT:
            said += [_LEFT_OUT[key].format(value)] if _LEFT_OUT[key] else []
        else:
            result["anyOf" if key == "oneOf" else key] = _provided(value)
    if said:
        result["description"] = "; ".join(said)
    if "properties" in result:
        result["required"] = list(result["properties"])
        result["additionalProperties"] = False
    return result

"""Tool calls put together from the pieces in which providers stream them.

A piece belongs to the call at its index, but for providers that call everything index 0: another
id there, or another name once the arguments were whole, begins another call. What cannot be read
is said to be unreadable and never becomes an empty input (reference §§6.2, 9).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, cast

from judgment.llm.chat import ToolUse

MOST_CALLS = 64
UNKNOWN = "unknown_tool"
DEPTH = 50
"""Levels of nesting in a call's arguments; no tool has more than one."""


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        return "".join(self.arguments)


class ToolCalls:
    """Takes pieces of `delta.tool_calls`, or a whole message's `tool_calls`."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._at: dict[int, _Call] = {}

    def add(self, pieces: object) -> None:
        """The next pieces, in their order; what is none is passed over."""
        if isinstance(pieces, list):
            for piece in cast("Sequence[Any]", pieces):
                if isinstance(piece, dict):
                    self._take(cast("Mapping[str, Any]", piece))

    def finished(self) -> tuple[ToolUse, ...]:
        """The calls in the order in which they began, each under an id of its own."""
        used: set[str] = set()
        return tuple(_use(call, number, used) for number, call in enumerate(self._calls, 1))

    def _take(self, piece: Mapping[str, Any]) -> None:
        function = piece.get("function")
        told: Mapping[str, Any] = {}
        if isinstance(function, dict):
            told = cast("Mapping[str, Any]", function)
        identity, name = _text(piece.get("id")), _text(told.get("name"))
        call = self._of(piece.get("index"), identity, name)
        if call is None:
            return
        call.id = call.id or identity
        call.name = name or call.name
        given = told.get("arguments")
        if isinstance(given, str):
            call.arguments.append(given)
        elif given is not None:
            call.arguments.append(json.dumps(given))

    def _of(self, index: object, identity: str, name: str) -> _Call | None:
        known = isinstance(index, int) and not isinstance(index, bool)
        if known:
            call = self._at.get(cast("int", index))
        else:
            same = (one for one in self._calls if identity and one.id == identity)
            call = next(same, None if identity or not self._calls else self._calls[-1])
        if call is None or _begins_another(call, identity, name):
            if len(self._calls) == MOST_CALLS:
                return None
            call = _Call()
            self._calls.append(call)
            if known:
                self._at[cast("int", index)] = call
        return call


def _begins_another(call: _Call, identity: str, name: str) -> bool:
    if identity and call.id:
        return identity != call.id
    return bool(name) and call.name != "" and isinstance(_read(call.text), dict)


def _use(call: _Call, number: int, used: set[str]) -> ToolUse:
    identity, count = call.id or f"call_{number}", 1
    while identity in used:
        count += 1
        identity = f"{call.id or f'call_{number}'}-{count}"
    used.add(identity)
    name = call.name or UNKNOWN
    if not call.text.strip():
        return ToolUse(identity, name, {})
    given = _read(call.text)
    if isinstance(given, dict):
        return ToolUse(identity, name, cast("dict[str, Any]", given))
    problem = "The arguments are not one JSON object. Call the tool again with valid JSON."
    return ToolUse(identity, name, None, problem)


def _read(text: str) -> object:
    try:
        return read_json(text)
    except ValueError:
        return None


def read_json(text: str) -> object:
    """A model's JSON as a value that can be written again: finite, at most DEPTH deep.

    Raises ValueError.
    """
    try:
        value: object = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if _depth(value, DEPTH) < 0:
        raise ValueError("nested too deeply")
    return value


def _depth(value: object, left: int) -> int:
    """How many levels are left below the deepest; negative when there are too many."""
    if left < 0 or not isinstance(value, (dict, list)):
        return left
    known = cast("dict[str, Any] | list[Any]", value)
    inner = known.values() if isinstance(known, dict) else known
    return min((_depth(one, left - 1) for one in inner), default=left)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""

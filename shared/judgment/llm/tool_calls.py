"""Tool calls put together from the pieces in which providers stream them.

A piece belongs to the call of its index and its id. Some providers call everything index 0, some
give no ids, some the same one to every call; so another name, or a name and more arguments when
those were whole, begins another call too. What cannot be read is said to be unreadable and never
becomes an empty input (reference §§6.2, 9).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from judgment.llm.chat import ToolUse
from judgment.llm.written import clean, json_text, read_object

MOST_CALLS = 64
NAME_CHARACTERS = 200
"""What an id and a name are cut at."""
UNKNOWN = "unknown_tool"


class TooManyCalls(Exception):
    """More than MOST_CALLS: nobody's tools, and none of them may be lost in silence."""


@dataclass
class _Call:
    index: int | None
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])
    touched: int = 0
    """The number of its last piece."""

    @property
    def text(self) -> str:
        return "".join(self.arguments)

    def continues(self, identity: str, name: str, more: str) -> bool:
        """Whether a piece with these is one of this call."""
        if identity and self.id and identity != self.id:
            return False
        if not name or not self.name:
            return True
        same = bool(identity) and identity == self.id
        if name != self.name and not same and (self.arguments or not self.id):
            return False
        return not (more.strip() and self._is_whole())

    def _is_whole(self) -> bool:
        """Whether nothing but space could follow the arguments; the cheap look comes first."""
        last = self.arguments[-1].rstrip()[-1:] if self.arguments else ""
        return last in ("", "}") and read_object(self.text) is not None


class ToolCalls:
    """Takes pieces of `delta.tool_calls`, or a whole message's `tool_calls`."""

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._pieces = 0

    def add(self, pieces: object) -> None:
        """The next pieces, in their order; what is none is passed over. Raises TooManyCalls."""
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
        more = _arguments(told.get("arguments"))
        call = self._of(piece.get("index"), identity, name, more)
        self._pieces += 1
        call.touched = self._pieces
        call.id = call.id or identity
        call.name = name or call.name
        if more:
            call.arguments.append(more)

    def _of(self, index: object, identity: str, name: str, more: str) -> _Call:
        at = index if isinstance(index, int) and not isinstance(index, bool) else None
        here = [one for one in self._calls if at in (None, one.index)]
        named = [one for one in here if identity and one.id == identity]
        if at is None and identity and not named:
            here = []
        last = max(named or here, key=lambda one: one.touched, default=None)
        if last is not None and last.continues(identity, name, more):
            return last
        if len(self._calls) == MOST_CALLS:
            raise TooManyCalls
        self._calls.append(_Call(at))
        return self._calls[-1]


def _use(call: _Call, number: int, used: set[str]) -> ToolUse:
    wanted = clean(call.id)[:NAME_CHARACTERS] or f"call_{number}"
    identity, count = wanted, 1
    while identity in used:
        count += 1
        identity = f"{wanted}-{count}"
    used.add(identity)
    name = clean(call.name)[:NAME_CHARACTERS] or UNKNOWN
    given = read_object(call.text) if call.text.strip() else {}
    if given is not None:
        return ToolUse(identity, name, given)
    problem = "The arguments are not one JSON object. Call the tool again with valid JSON."
    return ToolUse(identity, name, None, problem)


def _arguments(given: object) -> str:
    """What was given, as JSON text; some providers give an object in its place."""
    if given is None or isinstance(given, str):
        return given or ""
    return json_text(given) or "too deep"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""

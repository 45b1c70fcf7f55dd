"""The plain values of a conversation: messages, conversations, pages, tool calls, times."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal, cast, get_args
from uuid import UUID

from judgment.contract.messages import ToolStatus

if TYPE_CHECKING:
    from typing import NoReturn

Role = Literal["user", "assistant", "tool"]

_TIMESTAMP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z")
_BREAKING = re.compile("[\ud800-\udfff\x7f-\x9f\u2028\u2029\ufeff]")


@dataclass(frozen=True, slots=True)
class Message:
    """What was said in a conversation, at its place in it.

    A tool's `id` is the id of its call, and its `content` is that of a `ToolRecord`.
    """

    id: str
    turn_id: UUID
    role: Role
    content: str = field(repr=False)
    sent_at: datetime
    position: int


@dataclass(frozen=True, slots=True)
class Conversation:
    """A conversation without its messages."""

    id: str
    title: str = field(repr=False)
    created_at: datetime
    updated_at: datetime
    message_count: int
    active_skill_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Project:
    """A page. `position` is its place among the owner's pages."""

    id: str
    name: str = field(repr=False)
    icon: str
    conversation_id: str | None
    default_skill_ids: tuple[str, ...]
    position: int


@dataclass(frozen=True, slots=True)
class ToolRecord:
    """A tool call and what became of it, as a conversation keeps it."""

    call_id: str
    name: str
    input: Mapping[str, Any] = field(repr=False)
    status: ToolStatus
    output: Any = field(repr=False)

    def to_content(self) -> str:
        """`{"status", "output", "call": {"name", "input"}}` as one line of JSON, fit for UTF-8.

        Raises ValueError for NaN and infinity.
        """
        call = {"name": self.name, "input": dict(self.input)}
        return json_line({"status": self.status, "output": self.output, "call": call})

    @classmethod
    def from_content(cls, call_id: str, text: str) -> ToolRecord | None:
        """The record that `text` holds; None where it holds none, as when it names no call."""
        try:
            given = _mapping(json_value(text))
        except ValueError:
            return None
        call = _mapping(given.get("call"))
        name, status, put = call.get("name"), given.get("status"), call.get("input")
        if not (name and isinstance(name, str) and isinstance(put, dict)):
            return None
        if status not in get_args(ToolStatus):
            return None
        return cls(call_id, name, _mapping(put), cast("ToolStatus", status), given.get("output"))


def timestamp(moment: datetime) -> str:
    """RFC 3339 in UTC with milliseconds and a `Z`; what is finer is cut off.

    Raises ValueError for a time without an offset.
    """
    if moment.tzinfo is None:
        raise ValueError("A time needs its offset.")
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def parse_timestamp(text: str) -> datetime:
    """The time that `timestamp` writes as `text`. Raises ValueError for any other form."""
    if not _TIMESTAMP.fullmatch(text):
        raise ValueError("A time is written like 2026-01-31T12:34:56.789Z.")
    return datetime.fromisoformat(text)


def json_line(value: Any) -> str:
    """`value` as one line of JSON, keys as they come. Letters stand as they are; what would break
    a line for some reader, or cannot be encoded, is escaped. Raises ValueError for NaN."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return _BREAKING.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def json_value(text: str) -> Any:
    """The value of a JSON text. Raises ValueError, also for NaN and infinity, for a name twice,
    and for endless depth."""
    try:
        return json.loads(
            text, parse_constant=_refuse, parse_float=_finite, object_pairs_hook=_object
        )
    except RecursionError as error:
        raise ValueError("It is nested too deeply.") from error


def _mapping(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON.")


def _finite(number: str) -> float:
    value = float(number)
    if not isfinite(value):
        raise ValueError("A number is too large.")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("An object has a name twice.")
    return made

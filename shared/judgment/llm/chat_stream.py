"""A chat completion as it streams, or whole where a provider does not stream: read for the few
things needed, trusted in none."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from judgment.llm.completion import model_of, usage_of
from judgment.llm.tool_calls import ToolCalls, TooManyCalls
from judgment.llm.trouble_words import Failure
from judgment.llm.written import clean, json_text

if TYPE_CHECKING:
    from judgment.llm.completion import Usage

LINE_BYTES = 1024 * 1024
_LINE_END = re.compile(rb"\r\n|\r|\n")
_MARK = b"\xef\xbb\xbf"
"""What some servers put before UTF-8."""
REASON_CHARACTERS = 50
SAID_CHARACTERS = 20_000
"""How much of a provider's error is looked at."""
COMPLETED = "completed"
"""The reason of an end for which no provider gave one (reference §6.2)."""


class StreamFailed(Exception):
    """The stream holds a provider's error, or is none."""

    def __init__(self, failure: Failure):
        self.failure = failure
        super().__init__(failure.message)


def objects(parts: Iterable[bytes]) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of a stream of server-sent events, or the one object that is no stream.

    What it is, its first byte says: types in headers are not to be relied upon. Ends at `[DONE]`.
    A last event may lack its blank line, but not a part of its object. Raises StreamFailed.
    """
    lines = _lines(parts)
    first = next((line for line in lines if line.strip()), b"").removeprefix(_MARK)
    if first.lstrip().startswith((b"{", b"[")):
        yield _object(b"\n".join([first, *lines]))
        return
    data: list[bytes] = []
    for line in _chained(first, lines):
        if line.startswith(b"data:"):
            data.append(line[5:].removeprefix(b" "))
        elif not line and data:
            text = b"\n".join(data)
            data = []
            if text.strip() == b"[DONE]":
                yield {"done": True}
                return
            yield _object(text)
    text = b"\n".join(data)
    if text.strip() == b"[DONE]":
        yield {"done": True}
    elif data:
        with suppress(StreamFailed):  # it broke off here, which is for the reader to find
            yield _object(text)


@dataclass
class Heard:
    """What a completion comes to, piece by piece."""

    calls: ToolCalls = field(default_factory=ToolCalls)
    finish_reason: str | None = None
    usage: Usage | None = None
    model: str | None = None
    ended: bool = False
    is_message: bool = False
    """Whether it came as one message rather than in deltas."""
    _half: str = ""

    def take(self, one: Mapping[str, Any]) -> str:
        """The next object; the text in it. Raises StreamFailed for a provider's error."""
        if one.get("done") is True and len(one) == 1:
            self.ended = True
            return ""
        choice = _first(one.get("choices"))
        reason = choice.get("finish_reason")
        error = one.get("error") or choice.get("error")
        if error or reason == "error":
            raise StreamFailed(_failure(error))
        self.usage = usage_of(one) or self.usage
        self.model = model_of(one) or self.model
        if isinstance(reason, str) and reason:
            self.finish_reason, self.ended = clean(reason[:REASON_CHARACTERS]), True
        if "delta" in choice:  # beside which some repeat the whole message
            message = _mapping(choice["delta"])
        else:
            message = _mapping(choice.get("message"))
            self.is_message = self.is_message or bool(message)
        return self._said(message)

    def rest(self) -> str:
        """The text of a half that stayed without its other half; asked for at the end."""
        half, self._half = self._half, ""
        return clean(half)

    @property
    def reason(self) -> str:
        """Why it ended."""
        return self.finish_reason or COMPLETED

    def _said(self, message: Mapping[str, Any]) -> str:
        try:
            self.calls.add(message.get("tool_calls"))
        except TooManyCalls:
            raise StreamFailed(Failure("calls without end")) from None
        text = message.get("content")
        return self._whole(text) if isinstance(text, str) else ""

    def _whole(self, text: str) -> str:
        """The text with pairs of halves joined, over pieces too, and without what cannot be kept.

        A half without its other half, and a NUL, become U+FFFD.
        """
        text = self._half + text
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return clean(text)


def _lines(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Lines without their ends, which are CR, LF or both. Raises StreamFailed for one too long."""
    held: list[bytes] = []
    size, turned = 0, False
    for part in parts:
        bits = _LINE_END.split(part[1:] if turned and part[:1] == b"\n" else part)
        turned = part.endswith(b"\r") if part else turned
        for number, bit in enumerate(bits, 1):
            held.append(bit)
            size += len(bit)
            if size > LINE_BYTES:
                raise StreamFailed(Failure("a line without end"))
            if number < len(bits):
                yield b"".join(held)
                held, size = [], 0
    if size:
        yield b"".join(held)


def _chained(first: bytes, lines: Iterator[bytes]) -> Iterator[bytes]:
    yield first
    yield from lines


def _object(text: bytes) -> Mapping[str, Any]:
    try:
        found: Any = json.loads(text.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        raise StreamFailed(Failure("not JSON")) from None
    if not isinstance(found, dict):
        raise StreamFailed(Failure("not an object"))
    return cast("dict[str, Any]", found)


def _failure(error: object) -> Failure:
    """A provider's error inside a stream: status 502 (reference §6.2) unless it names one itself.

    A provider of providers puts the words that count in `metadata`.
    """
    told = _mapping(error)
    message, code = told.get("message"), told.get("code")
    text = message if isinstance(message, str) else error if isinstance(error, str) else ""
    shown = str(code)[:100] if isinstance(code, (str, int)) else None
    status = code if isinstance(code, int) and not isinstance(code, bool) else 502
    handed_on = _mapping(told.get("metadata"))
    provider, raw = (_shown(handed_on.get(name)) for name in ("provider_name", "raw"))
    return Failure(text[:SAID_CHARACTERS], status, shown, provider, raw)


def _shown(value: object) -> str | None:
    text = json_text(found) if (found := _mapping(value)) else value
    return text[:SAID_CHARACTERS] if isinstance(text, str) else None


def _first(choices: object) -> Mapping[str, Any]:
    if isinstance(choices, list) and choices:
        return _mapping(cast("Sequence[Any]", choices)[0])
    return {}


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}

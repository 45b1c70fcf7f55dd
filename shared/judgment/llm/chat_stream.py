"""A chat completion as it streams, or whole where a provider does not stream: read for the few
things needed, trusted in none."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from judgment.llm.completion import model_of, usage_of
from judgment.llm.tool_calls import ToolCalls
from judgment.llm.trouble_words import Failure

if TYPE_CHECKING:
    from judgment.llm.completion import Usage

LINE_BYTES = 1024 * 1024
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
    Raises StreamFailed for what is neither.
    """
    lines = _lines(parts)
    first = next((line for line in lines if line.strip()), b"")
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
    if data and b"\n".join(data).strip() == b"[DONE]":
        yield {"done": True}


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
        error = one.get("error")
        if error:
            raise StreamFailed(_failure(error))
        self.usage = usage_of(one) or self.usage
        self.model = model_of(one) or self.model
        choice = _first(one.get("choices"))
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self.finish_reason, self.ended = reason[:50], True
        self.is_message = self.is_message or bool(_mapping(choice.get("message")))
        message = _mapping(choice.get("delta")) or _mapping(choice.get("message"))
        self.calls.add(message.get("tool_calls"))
        text = message.get("content")
        return self._whole(text) if isinstance(text, str) else ""

    @property
    def reason(self) -> str:
        """Why it ended."""
        return self.finish_reason or COMPLETED

    def _whole(self, text: str) -> str:
        """The text with pairs of halves joined, over pieces too, and without what cannot be kept.

        A half without its other half, and a NUL, become U+FFFD.
        """
        text = self._half + text
        self._half = ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return clean(text)


def clean(text: str) -> str:
    """The text as UTF-8 and a database can hold it."""
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\0", "\ufffd")


def _lines(parts: Iterable[bytes]) -> Iterator[bytes]:
    """Lines without their ends, which are CR, LF or both."""
    held = b""
    for part in parts:
        held += part
        while True:
            cut = _line_end(held)
            if cut is None:
                break
            line, held = held[: cut[0]], held[cut[1] :]
            yield line
        if len(held) > LINE_BYTES:
            raise StreamFailed(Failure("a line without end"))
    if held:
        yield held.rstrip(b"\r")


def _line_end(held: bytes) -> tuple[int, int] | None:
    """Where the first line ends and the next begins; None while that is not known yet."""
    feed, turn = held.find(b"\n"), held.find(b"\r")
    if turn < 0 or 0 <= feed < turn:
        return None if feed < 0 else (feed, feed + 1)
    if turn + 1 == len(held):
        return None  # an LF may follow in the next part
    return turn, turn + (2 if held[turn + 1] == 10 else 1)


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
    """A provider's error inside a stream counts as status 502 (reference §6.2)."""
    told = _mapping(error)
    message, code = told.get("message"), told.get("code")
    text = message if isinstance(message, str) else error if isinstance(error, str) else ""
    shown = str(code)[:100] if isinstance(code, (str, int)) else None
    status = code if isinstance(code, int) and not isinstance(code, bool) else 502
    return Failure(text[:20_000], status, shown)


def _first(choices: object) -> Mapping[str, Any]:
    if isinstance(choices, list) and choices:
        return _mapping(cast("Sequence[Any]", choices)[0])
    return {}


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}

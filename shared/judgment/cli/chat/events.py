"""The events of an answer out of its bytes, each held to the contract exactly.

No field is missing, extra or of another type; a failed call says `{code, message, recoverable}`, a
denied one its reason; the order is that of `order`; a stream that ends without `done` or `error`
was broken off.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pydantic import BaseModel, ValidationError

from judgment.cli.chat.frames import STREAM, Frame, Frames
from judgment.cli.chat.order import Order
from judgment.cli.chat.violation import ShapeViolation
from judgment.contract.messages import EVENTS, AnyEvent, ToolResult
from judgment.contract.wire import ResponseModel

if TYPE_CHECKING:
    from typing import NoReturn

_KINDS: dict[str, type[AnyEvent]] = {kind.model_fields["type"].default: kind for kind in EVENTS}


class Received(NamedTuple):
    """An event, and its data as it came."""

    event: AnyEvent
    data: str


class _Failure(ResponseModel):
    code: str
    message: str
    recoverable: bool


class _Denial(ResponseModel):
    reason: str


class EventReader:
    """Feed it the bytes of one answer."""

    def __init__(self) -> None:
        self._frames = Frames()
        self._order = Order()

    def feed(self, piece: bytes) -> Iterator[Received]:
        """The events that end within `piece`. Raises ShapeViolation, which names the event."""
        for frame in self._frames.feed(piece):
            event = read_event(frame)
            self._order.take(event)
            yield Received(event, frame.data)

    def end(self) -> None:
        """The stream is over. Raises ShapeViolation when the turn is not."""
        self._frames.end()
        if not self._order.ended:
            raise ShapeViolation(STREAM, "it ended without done or error")


def read_events(pieces: Iterable[bytes]) -> Iterator[Received]:
    """All events of one answer, as they come. Raises ShapeViolation."""
    reader = EventReader()
    for piece in pieces:
        yield from reader.feed(piece)
    reader.end()


def read_event(frame: Frame) -> AnyEvent:
    """A frame as its event. Raises ShapeViolation."""
    kind = _KINDS.get(frame.name)
    if kind is None:
        raise ShapeViolation(STREAM, "an event that this stream does not have")
    fields = _object(frame)
    if "type" in fields:
        raise ShapeViolation(frame.name, "its data repeat its type")
    event = _checked(kind, fields, frame.name)
    if isinstance(event, ToolResult) and event.status != "ok":
        _checked(_Failure if event.status == "error" else _Denial, event.output, frame.name)
    return event


def _checked(kind: type[Any], value: Any, name: str) -> Any:
    model: type[BaseModel] = kind
    try:
        return model.model_validate(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        known = [str(part) for part in first["loc"] if part in model.model_fields]
        raise ShapeViolation(name, " ".join([*known, first["msg"]])) from error


def _object(frame: Frame) -> dict[str, Any]:
    try:
        value = json.loads(
            frame.data,
            object_pairs_hook=_once,
            parse_constant=_unknown,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise ShapeViolation(frame.name, "its data are not JSON") from error
    if not isinstance(value, dict):
        raise ShapeViolation(frame.name, "its data are not an object")
    return cast("dict[str, Any]", value)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a name twice")
    return made


def _unknown(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("a number beyond measure")
    return number

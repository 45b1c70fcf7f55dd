"""An owner who talks over HTTP while a scripted provider answers; what came back, byte by byte."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from judgment.cli.chat.events import read_events
from tests.fakes.model_wire import Call, OfferedTool, Reply, Say, Turn

if TYPE_CHECKING:
    from judgment.contract.messages import AnyEvent
    from tests.e2e.somebody import Somebody
    from tests.fakes.model_server import ModelServer

Piece: TypeAlias = "str | tuple[str, Mapping[str, Any]] | Reply"
"""A word, a call of a tool, or any other reply of a provider."""
OnEvent: TypeAlias = "Callable[[AnyEvent], None]"


@dataclass
class Told:
    """One answer of `POST /message`."""

    status: int
    headers: Mapping[str, str]
    raw: bytes = b""
    events: list[AnyEvent] = field(default_factory=list)

    @property
    def body(self) -> Any:
        """The JSON of a refusal."""
        return json.loads(self.raw)

    @property
    def types(self) -> list[str]:
        """The events by name."""
        return [event.type for event in self.events]

    @property
    def results(self) -> list[Any]:
        """The tools' results, in order."""
        return [event for event in self.events if event.type == "tool-result"]

    @property
    def conversation(self) -> str:
        """The id that the head gives."""
        return self.headers["x-conversation-id"]

    @property
    def last(self) -> Any:
        """The event that ended it."""
        return self.events[-1]


class Talker:
    """`me` has chosen the scripted provider, whose `turns` are what it was told."""

    def __init__(self, me: Somebody, model: ModelServer):
        self.me = me
        self.model = model

    def say(
        self,
        *replies: Piece,
        content: str = "Hello",
        to: str | None = None,
        page: str | None = None,
        on_event: OnEvent = lambda event: None,
    ) -> Told:
        """A message that the provider answers so, one reply a round, and `Well.` at the end."""
        left = [*replies, "Well."]
        self.model.script = lambda turn: _reply(left.pop(0) if len(left) > 1 else left[0], turn)
        body: dict[str, Any] = {"content": content}
        if page is not None:
            body["metadata"] = {"client": "web", "project": page}
        return self.post(json.dumps(body).encode(), to=to, on_event=on_event)

    def post(
        self, body: bytes, *, to: str | None = None, on_event: OnEvent = lambda event: None
    ) -> Told:
        """Any body; a stream is held to every shape while it comes. Raises ShapeViolation."""
        headers = {**self.me.headers, "Content-Type": "application/json"}
        if to is not None:
            headers["x-conversation-id"] = to
        with self.me.api.stream("POST", "/message", content=body, headers=headers) as answer:
            told = Told(answer.status_code, dict(answer.headers))
            if answer.status_code != 200:
                told.raw = answer.read()
                return told

            def pieces() -> Any:
                for piece in answer.iter_bytes():
                    told.raw += piece
                    yield piece

            for received in read_events(pieces()):
                told.events.append(received.event)
                on_event(received.event)
        return told

    def calls(self, tool: str, **given: Any) -> Any:
        """What becomes of one call: the tool-result event."""
        (result,) = self.say((tool, given)).results
        return result

    def gives(self, tool: str, **given: Any) -> Any:
        """The output of a call that goes well."""
        result = self.calls(tool, **given)
        assert result.status == "ok", result
        return result.output

    def fails(self, tool: str, **given: Any) -> Any:
        """The output of a call that does not."""
        result = self.calls(tool, **given)
        assert result.status == "error", result
        return result.output


def _reply(piece: Piece, turn: Turn) -> Any:
    if isinstance(piece, str):
        return Say(piece)
    if isinstance(piece, tuple):
        name, given = piece
        return Call(turn.tool(name) or OfferedTool(name), dict(given))
    return piece

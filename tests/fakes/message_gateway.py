"""The routes of messages on this machine, scripted, over real HTTP with a real chunked stream.

A script plays one turn: it sends events or any bytes, waits for the owner's decision or for a stop,
and goes on. Bodies are held to the contract's models. What the door really does is tested with the
door; here it is what a client makes of its answers.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import unquote

from pydantic import ValidationError

from judgment.contract.conversations import (
    ApprovalDecision,
    OpenApproval,
    OpenApprovals,
    Project,
    ProjectList,
)
from judgment.contract.messages import ApprovalRequest, Done, MessageRequest
from tests.fakes.listening import Listening, QuietHandler

if TYPE_CHECKING:
    from judgment.contract.messages import AnyEvent

TOKEN = "owner-token-" + "t" * 40
CONVERSATION = "0b7f3a55-7f2f-4d6f-9c39-0a35b5a9f6f1"
MOMENT = "2026-12-01T08:00:00.000Z"
WAIT_SECONDS = 20.0
HEARTBEAT = b": keep-alive\n\n"

Script: TypeAlias = Callable[["Wire"], None]


def frame(event: AnyEvent) -> bytes:
    """An event as it goes over the wire."""
    data = json.dumps(event.model_dump(exclude={"type"}), ensure_ascii=False)
    return f"event: {event.type}\ndata: {data}\n\n".encode()


def says(*events: AnyEvent) -> Script:
    """A turn of these events, and `done` where none of them ends it."""

    def script(wire: Wire) -> None:
        wire.send(*events)
        if not events or events[-1].type not in ("done", "error"):
            wire.done()

    return script


@dataclass
class Wire:
    """One turn's line to the client."""

    gateway: MessageGateway
    conversation_id: str
    write: Callable[[bytes], None]

    def send(self, *events: AnyEvent) -> None:
        """Each event in a chunk of its own; what is asked for is open from then on."""
        for event in events:
            if isinstance(event, ApprovalRequest):
                self.gateway.open(event, self.conversation_id)
            self.write(frame(event))

    def done(self, reason: str = "stop") -> None:
        """The turn's end."""
        conversation = self.conversation_id
        self.send(Done(conversation_id=conversation, message_id="m-1", finish_reason=reason))

    def decided(self, request_id: str) -> str:
        """Wait for the owner's decision."""
        return self.gateway.wait(lambda: self.gateway.decisions.get(request_id))

    def stopped(self) -> None:
        """Wait until somebody asks the conversation to stop."""
        self.gateway.wait(lambda: self.conversation_id in self.gateway.stops)


@dataclass(frozen=True)
class Asked:
    """A message as it came in."""

    content: str
    metadata: Mapping[str, Any]
    conversation_id: str | None


@dataclass
class _Kept:
    asked: list[Asked] = field(default_factory=list[Asked])
    open: dict[str, OpenApproval] = field(default_factory=dict[str, OpenApproval])
    decisions: dict[str, str] = field(default_factory=dict[str, str])
    stops: list[str] = field(default_factory=list[str])


class MessageGateway(Listening):
    """Plays `scripts` in turn. `refused` answers instead: path to status and body.

    `headers` are added to the head of a stream, or with None taken away.
    `before_head` runs between a message and its answer.
    """

    def __init__(self, *scripts: Script):
        self.scripts = list(scripts)
        self.refused: dict[str, tuple[int, Any]] = {}
        self.headers: dict[str, str | None] = {}
        self.before_head: Callable[[], object] = lambda: None
        self._kept = _Kept()
        self._changed = threading.Condition()
        super().__init__(_handler(self))

    @property
    def asked(self) -> list[Asked]:
        """Every message so far."""
        return self._kept.asked

    @property
    def decisions(self) -> dict[str, str]:
        """Decisions by request."""
        return self._kept.decisions

    @property
    def stops(self) -> list[str]:
        """Conversations that were asked to stop."""
        return self._kept.stops

    def open(self, event: ApprovalRequest, conversation_id: str) -> None:
        """A request waits from now on."""
        self._kept.open[event.request_id] = OpenApproval(
            request_id=event.request_id,
            conversation_id=conversation_id,
            tool_name=event.tool_name,
            summary=event.summary,
            decision="pending",
            created_at=MOMENT,
        )

    def came(self, message: Asked) -> None:
        """A message has come in; `before_head` may keep its answer waiting."""
        with self._changed:
            self.asked.append(message)
            self._changed.notify_all()
        self.before_head()

    def wait(self, found: Callable[[], Any]) -> Any:
        """What `found` gives, once it gives something."""
        with self._changed:
            assert self._changed.wait_for(found, WAIT_SECONDS), "nobody came"
            return found()

    def answer(self, method: str, path: str, body: bytes) -> tuple[int, Any]:
        """What the plain routes say."""
        words = [unquote(word) for word in path.strip("/").split("/")]
        with self._changed:
            self._changed.notify_all()
            if (method, path) == ("GET", "/approvals"):
                return 200, OpenApprovals(approvals=list(self._kept.open.values())).model_dump()
            if (method, path) == ("GET", "/projects"):
                page = Project(
                    id="fitness",
                    name="Fitness",
                    icon="dumbbell",
                    conversation_id=None,
                    default_skill_ids=[],
                )
                return 200, ProjectList(projects=[page]).model_dump()
            if (method, words[0], len(words)) == ("POST", "approvals", 2):
                return self._decide(words[1], ApprovalDecision.model_validate_json(body))
            if (method, words[0], words[2:]) == ("POST", "conversations", ["stop"]):
                self.stops.append(words[1])
                return 202, {"conversation_id": words[1]}
        return 404, {"error": "There is nothing at this address."}

    def _decide(self, request_id: str, asked: ApprovalDecision) -> tuple[int, Any]:
        if request_id not in self._kept.open:
            return 404, {"error": "Approval request not found"}
        if self.decisions.setdefault(request_id, asked.decision) != asked.decision:
            return 409, {"error": "Approval request already decided"}
        one = self._kept.open[request_id]
        self._kept.open[request_id] = one.model_copy(update={"decision": asked.decision})
        return 200, {"request_id": request_id, "decision": asked.decision}


def _handler(gateway: MessageGateway) -> type[QuietHandler]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            """One of the plain routes."""
            self._plain(b"")

        def do_POST(self) -> None:
            """A message, or one of the plain routes."""
            body = self.sent()
            if self.path != "/message" or self.path in gateway.refused:
                self._plain(body)
                return
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                self._json(401, {"code": "unauthorized", "error": "Unauthorized", "message": "No."})
                return
            try:
                request = MessageRequest.model_validate_json(body)
            except ValidationError:
                self._json(400, {"error": "Invalid request"})
                return
            given = self.headers["X-Conversation-Id"]
            if given not in (None, CONVERSATION):
                self._json(404, {"error": "Conversation not found"})
                return
            metadata = request.metadata.model_dump(exclude_none=True) if request.metadata else {}
            gateway.came(Asked(request.content, metadata, given))
            self._stream(given or CONVERSATION)

        def _stream(self, conversation_id: str) -> None:
            head = {
                "content-type": "text/event-stream",
                "cache-control": "no-cache",
                "x-conversation-id": conversation_id,
                "Transfer-Encoding": "chunked",
                **gateway.headers,
            }
            self.send_response(200)
            for name, value in head.items():
                if value is not None:
                    self.send_header(name, value)
            self.end_headers()
            with contextlib.suppress(ConnectionError):  # a client may go before it has all
                gateway.scripts.pop(0)(Wire(gateway, conversation_id, self._chunk))
                self.wfile.write(b"0\r\n\r\n")

        def _chunk(self, data: bytes) -> None:
            if data:
                self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

        def _plain(self, body: bytes) -> None:
            if self.path in gateway.refused:
                self._json(*gateway.refused[self.path])
                return
            if self.headers["Authorization"] != f"Bearer {TOKEN}":
                self._json(401, {"code": "unauthorized", "error": "Unauthorized", "message": "No."})
                return
            self._json(*gateway.answer(self.command, self.path, body))

        def _json(self, status: int, body: Any) -> None:
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.give(status, raw, {"Content-Type": "application/json"})

    return Handler

"""The door of messages over a real database and a scripted model, its app called as Lambda would.

A test may act between two events (`on_event`), or hang up at one.
"""

from __future__ import annotations

import asyncio
import json
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
from mangum.handlers import APIGateway
from psycopg.rows import dict_row

from functions.guarded_message.door import MessageDoor
from judgment.contract.messages import AnyEvent, StreamEvent
from judgment.conversation.arriving.loading import says_the_same
from judgment.conversation.recording import Ledger
from judgment.conversation.tools import TurnTools
from judgment.conversation.turn import Pace, Turns
from judgment.conversation.views import ConversationViews
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.entry.streaming import InvocationContext
from judgment.kit.clock import utc_now
from judgment.kit.ids import new_id
from judgment.llm import store as model_rows
from judgment.memory.tools import MemoryTools
from judgment.memory.transfer.exports import Exports
from tests.fakes.chat_models import ScriptedChat
from tests.fakes.events import http_event, owner
from tests.fakes.people import make_owner

if TYPE_CHECKING:
    from judgment.llm.chat import ChatModels
    from judgment.llm.model import ModelChoice
    from tests.databases import TestDatabase

SECONDS = 60.0
OnEvent = Callable[[AnyEvent], None]


class HangUp(Exception):
    """Raised in `on_event`: the client goes away."""


@dataclass
class Answer:
    """What came back."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes = b""
    events: list[AnyEvent] = field(default_factory=list[AnyEvent])

    @property
    def text(self) -> str:
        """The assistant's words."""
        return "".join(event.delta for event in self.events if event.type == "text-delta")

    @property
    def types(self) -> list[str]:
        """The events by name, a run of text as one."""
        names = [event.type for event in self.events]
        return [n for i, n in enumerate(names) if n != "text-delta" or names[i - 1 : i] != [n]]

    @property
    def results(self) -> list[tuple[str, Any]]:
        """Status and output of each tool's result."""
        return [(e.status, e.output) for e in self.events if e.type == "tool-result"]

    @property
    def last(self) -> Any:
        """The terminal event."""
        return self.events[-1]

    @property
    def conversation(self) -> str:
        """The id in the header."""
        return self.headers["x-conversation-id"]

    @property
    def error(self) -> Any:
        """The body of a refusal."""
        return json.loads(self.body)


class Talk:
    """An owner's messages, one after the other or at once, each with a door of its own process."""

    def __init__(
        self,
        database: TestDatabase,
        models: ChatModels,
        *,
        own: Callable[..., ModelChoice | None] = lambda *_: None,
        wait: Callable[[], None] = lambda: None,
        monotonic: Callable[[], float] = time.monotonic,
        postgres: Database | None = None,
    ):
        self.database = database
        self.postgres = postgres or Database(
            database.url("judgment_process"), application_name="under-test"
        )
        if isinstance(models, ScriptedChat):
            models.transaction_open = lambda: self.postgres.in_transaction
        ledger = Ledger(
            self.postgres.transaction,
            partial(model_rows.record_calls, new_id=new_id),
            utc_now,
            new_id,
        )
        views = [ConversationViews()]
        exports = Exports(self.postgres.transaction, views, says_the_same)
        memory = MemoryTools(views, utc_now, exports.path)
        turns = Turns(ledger, models, own, TurnTools(memory), Pace(monotonic, wait))
        self.app = MessageDoor(turns, Telemetry("guarded_message"))

    def close(self) -> None:
        """Close the connection."""
        self.postgres.close()

    def somebody(self) -> uuid.UUID:
        """A new owner."""
        return make_owner(self.database)

    def say(
        self,
        who: uuid.UUID | None,
        content: Any = "Hello",
        *,
        to: str | None = None,
        page: str | None = None,
        body: Any = None,
        seconds: float = SECONDS,
        on_event: OnEvent = lambda event: None,
    ) -> Answer:
        """Post a message and take the answer to its end; `body` stands for the whole request."""
        sent = body
        if sent is None:
            sent = {"content": content}
            if page is not None:
                sent["metadata"] = {"client": "web", "project": page}
        raw = sent if isinstance(sent, str) else json.dumps(sent)
        headers = {"Content-Type": "application/json"}
        headers |= {"X-Conversation-Id": to} if to is not None else {}
        event = http_event(
            "POST",
            "/message",
            headers=headers,
            principal=owner(who) if who else None,
            body=raw,
        )
        return asyncio.run(self._call(event, seconds, on_event))

    def rows(self, sql: str, who: uuid.UUID) -> list[dict[str, Any]]:
        """Rows of an owner, read past every policy."""
        with psycopg.connect(self.database.admin_url, row_factory=dict_row) as admin:
            return admin.execute(sql.encode(), {"who": who}).fetchall()

    def kept(self, who: uuid.UUID) -> list[tuple[str, str]]:
        """Every message of the owner, role and content, in order."""
        rows = self.rows(
            "SELECT role, content FROM judgment.conversation_messages WHERE user_id = %(who)s"
            " ORDER BY created_at, conversation_id, position",
            who,
        )
        return [(row["role"], row["content"]) for row in rows]

    async def _call(self, event: Mapping[str, Any], seconds: float, on_event: OnEvent) -> Answer:
        deadline_ms = int((time.time() + seconds) * 1000)
        context = InvocationContext("r", "guarded_message", 512, "arn", deadline_ms)
        settings: Any = {"api_gateway_base_path": "/", "text_mime_types": [], "exclude_headers": []}
        adapter = APIGateway(event, context, settings)  # type: ignore[arg-type]
        answer, left = Answer(), asyncio.Event()
        pending = [{"type": "http.request", "body": adapter.body, "more_body": False}]
        unread = b""

        async def receive() -> dict[str, Any]:
            if pending:
                return pending.pop()
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message: dict[str, Any]) -> None:
            nonlocal unread
            if message["type"] == "http.response.start":
                answer.status = message["status"]
                answer.headers = {n.decode(): v.decode() for n, v in message["headers"]}
                return
            answer.body += message.get("body", b"")
            unread += message.get("body", b"")
            *frames, unread = unread.split(b"\n\n")
            for one in filter(None, map(parsed, frames)):
                answer.events.append(one)
                try:
                    await asyncio.to_thread(on_event, one)
                except HangUp:
                    left.set()

        await self.app(dict(adapter.scope), receive, send)
        return answer


def parsed(frame: bytes) -> AnyEvent | None:
    """One frame as its event, strictly; None for a comment."""
    if frame.startswith(b":"):
        return None
    name, data = frame.split(b"\n")
    assert name.startswith(b"event: ")
    assert data.startswith(b"data: ")
    fields = json.loads(data[6:])
    assert "type" not in fields
    return StreamEvent.model_validate({"type": name[7:].decode(), **fields}).root

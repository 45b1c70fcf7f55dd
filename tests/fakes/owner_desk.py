"""The door of conversations over a real database: an owner's requests in, answers out."""

from __future__ import annotations

import json
import uuid
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from functions.conversations.handler import build
from functions.conversations.wiring import parts_over
from judgment.conversation import store
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.clock import utc_now
from tests.fakes.events import http_event, owner
from tests.fakes.people import make_owner
from tests.fakes.rounds import rows

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from judgment.contract.principal import Principal
    from judgment.conversation.model import Role
    from judgment.kit.clock import Clock
    from tests.databases import TestDatabase

T0 = datetime(2026, 11, 30, 12, 0, 0, 123_000, tzinfo=UTC)
STAMP = "2026-11-30T12:00:00.123Z"
"""T0 as it is told."""
Said = tuple["Role", str]


class Desk:
    """One process's door. Answers are `(status, body)`, the body parsed where it is JSON."""

    def __init__(
        self, database: TestDatabase, *, postgres: Database | None = None, clock: Clock = utc_now
    ) -> None:
        self.database = database
        self.postgres = postgres or Database(
            database.url("judgment_process"), application_name="under-test"
        )
        self.parts = parts_over(self.postgres.transaction, clock)
        self.door = build(self.parts, Telemetry("conversations"))

    def close(self) -> None:
        """Close the connection."""
        self.postgres.close()

    def somebody(self) -> uuid.UUID:
        """A person without anything."""
        return make_owner(self.database)

    def call(
        self,
        who: Principal | uuid.UUID | None,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: Mapping[str, str] | None = None,
    ) -> tuple[int, Any]:
        """One request; a body that is text is sent as it is."""
        caller = owner(who) if isinstance(who, uuid.UUID) else who
        raw = body if body is None or isinstance(body, str) else json.dumps(body)
        listed = None if query is None else {name: [value] for name, value in query.items()}
        event = http_event(method, path, principal=caller, body=raw, query=listed)
        reply = self.door(event, None)
        text = reply["body"]
        if reply["statusCode"] != 204:
            kind = reply["multiValueHeaders"]["Content-Type"]
            text = json.loads(text) if kind == ["application/json"] else text
        return reply["statusCode"], text

    def get(self, who: uuid.UUID, path: str, /, **query: str) -> Any:
        """What a read that succeeds answers."""
        status, body = self.call(who, "GET", path, query=query or None)
        assert status == 200, body
        return body

    def put(self, who: uuid.UUID, path: str, body: Any, /, **query: str) -> Any:
        """What a write that succeeds answers."""
        status, answer = self.call(who, "PUT", path, body, query=query or None)
        assert status == 200, answer
        return answer

    def edit(self, who: uuid.UUID, path: str, content: str) -> Any:
        """The owner writes a file of a page."""
        page = path.split("/")[1]
        return self.put(who, f"/projects/{page}/file-content", {"content": content}, path=path)

    def talk(
        self,
        who: uuid.UUID,
        *said: Said,
        name: str | None = None,
        title: str = "A talk",
        at: datetime = T0,
        turn_id: uuid.UUID | None = None,
    ) -> str:
        """A conversation as a turn leaves it; its id."""
        made, turn = name or str(uuid.uuid4()), turn_id or uuid.uuid4()
        with self.postgres.transaction(who) as tx:
            store.create_conversation(tx, who, made, title, at)
            for number, (role, content) in enumerate(said, 1):
                store.append(
                    tx,
                    who,
                    made,
                    id=f"m{number}",
                    turn_id=turn,
                    role=role,
                    content=content,
                    at=at,
                )
        return made

    def ask(
        self, who: uuid.UUID, conversation: str, path: str = "documents/finance/spec.md"
    ) -> store.Approval:
        """A question that a turn put to the owner."""
        asked = store.Approval(
            request_id=uuid.uuid4(),
            conversation_id=conversation,
            turn_id=uuid.uuid4(),
            tool_call_id="call_0",
            tool_name="memory_write",
            summary=f"memory_write on {path}",
            input={"path": path, "content": "x"},
            expected={path: None},
            decision="pending",
            created_at=T0,
        )
        with self.postgres.transaction(who) as tx:
            store.ask(tx, who, asked)
        return asked

    def decide(self, who: uuid.UUID, request_id: object, decision: str) -> tuple[int, Any]:
        """The owner answers."""
        return self.call(who, "POST", f"/approvals/{request_id}", {"decision": decision})

    def settle(self, who: uuid.UUID, asked: store.Approval) -> bool:
        """What the turn does that finds the answer."""
        with self.postgres.transaction(who) as tx:
            return store.settle(tx, who, asked.request_id, T0)

    def commits(self, who: uuid.UUID) -> Sequence[tuple[str, str, str]]:
        """Origin, author and message of every commit, oldest first."""
        return rows(
            self.database,
            "SELECT origin, author, message FROM judgment.memory_commits WHERE user_id = %s"
            " ORDER BY revision",
            who,
        )

    def history(self, who: uuid.UUID, path: str) -> list[bytes | None]:
        """The contents that a file had, oldest first; None where it was deleted."""
        found = rows(
            self.database,
            "SELECT b.content FROM judgment.memory_revisions r LEFT JOIN judgment.memory_blobs b"
            " USING (user_id, sha256) WHERE r.user_id = %s AND r.path = %s ORDER BY r.revision",
            who,
            path,
        )
        return [content and bytes(content) for (content,) in found]

    def counts(self, who: uuid.UUID) -> dict[str, int]:
        """How many rows of each table the owner has."""
        tables = ("conversations", "conversation_messages", "projects", "approvals")
        memory = ("memory_files", "memory_commits", "memory_revisions", "memory_imports")
        return {
            table: rows(
                self.database, f"SELECT count(*) FROM judgment.{table} WHERE user_id = %s", who
            )[0][0]
            for table in (*tables, *memory)
        }

"""The door of personal context over a real database, as its tests drive it."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

import psycopg

from functions.personal_context.handler import build
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.scenarios.personal.context import PersonalContexts
from tests.fakes.events import http_event, owner

if TYPE_CHECKING:
    from tests.databases import TestDatabase

CONTEXT = "/api/v1/personal-context"


class Diary:
    """The door over a real database."""

    def __init__(self, database: TestDatabase):
        self.database = database
        self.postgres = Database(database.url("judgment_owner"))
        contexts = PersonalContexts(self.postgres.transaction)
        self.door = build(contexts, Telemetry("personal_context"))

    def call(self, method: str, path: str, who: uuid.UUID, **event: Any) -> tuple[int, Any]:
        reply = self.door(http_event(method, path, principal=owner(who), **event), None)
        return reply["statusCode"], json.loads(reply["body"] or "null")

    def read(self, who: uuid.UUID) -> Any:
        status, body = self.call("GET", CONTEXT, who)
        assert status == 200, body
        return body

    def write(self, who: uuid.UUID, text: str) -> tuple[int, Any]:
        return self.call("PUT", CONTEXT, who, body=json.dumps({"personal_context": text}))

    def rows(self, query: str, **params: object) -> list[tuple[Any, ...]]:
        """What the superuser sees."""
        with psycopg.connect(self.database.admin_url) as admin:
            return admin.execute(query.encode(), params).fetchall()

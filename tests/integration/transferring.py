"""Imports and exports of memories as the door has them, over a real database."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

import psycopg

from judgment.conversation.arriving.loading import load, says_the_same
from judgment.conversation.views import ConversationViews
from judgment.db.connection import Database
from judgment.kit.hashing import sha256_hex
from judgment.memory.transfer.exports import PAGE_BYTES, Exports
from judgment.memory.transfer.imports import Imports
from tests.fakes.people import make_owner
from tests.fakes.transfers import AT, Seen, pages

if TYPE_CHECKING:
    from tests.databases import TestDatabase

STARTER = b"starter\n"
ODD = {
    "AGENT.md": b"# Agent\r\nwith CRLF\r\n",
    "documents/finance/my plan \U0001f4b8.md": "Überblick, naïve\n".encode(),
    "documents/empty": b"",
    "me/photo.png": bytes(range(256)) * 20,
    "diagnostics/process-guardrails/state/0a.json": b'{"schema_version": 1}',
    "preferences/default.json": b'{"approval_mode": "ask-on-write"}',
}


class Harness:
    """The use cases as the door has them."""

    def __init__(self, database: TestDatabase, page_bytes: int = PAGE_BYTES):
        self.database = database
        self.postgres = Database(database.url("judgment_process"))
        begin = self.postgres.transaction
        self.imports = Imports(begin, lambda _, sha: sha == sha256_hex(STARTER), load, lambda: AT)
        self.exports = Exports(begin, [ConversationViews()], says_the_same, page_bytes)

    def owner(self) -> uuid.UUID:
        return make_owner(self.database)

    def exported(self, who: uuid.UUID) -> Seen:
        return Seen(pages(self.exports, who))

    def files(self, who: uuid.UUID) -> dict[str, bytes]:
        """Files of the export but those made from rows."""
        made = ("conversations/index.json", "documents/projects.json")
        return {p: c for p, c in self.exported(who).files.items() if p not in made}

    def counts(self, who: uuid.UUID) -> list[int]:
        """Rows of the owner in each table of the memory."""
        tables = ("blobs", "commits", "revisions", "files")
        with psycopg.connect(self.database.admin_url) as admin:
            found = [
                admin.execute(
                    f"SELECT count(*) FROM judgment.memory_{table} WHERE user_id = %s".encode(),
                    (who,),
                ).fetchone()
                for table in tables
            ]
        return [row[0] for row in found if row]

    def is_consistent(self, who: uuid.UUID) -> bool:
        """Whether the history, followed to its end, leads to the files as they are."""
        with psycopg.connect(self.database.admin_url) as admin:
            followed = admin.execute(
                "SELECT DISTINCT ON (path) path, sha256, revision FROM judgment.memory_revisions"
                " WHERE user_id = %s ORDER BY path, revision DESC",
                (who,),
            ).fetchall()
            current = admin.execute(
                "SELECT path, sha256, revision FROM judgment.memory_files WHERE user_id = %s",
                (who,),
            ).fetchall()
        return {row for row in followed if row[1] is not None} == set(current)

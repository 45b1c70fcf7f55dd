"""A migrated database with two people in it, and what each role may do there, tried."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors as pg

from judgment.db.roles import LOGIN_ROLES
from tests.integration.owner_rows import fill

if TYPE_CHECKING:
    from tests.databases import TestDatabase

SCHEMAS = ("public", "judgment", "auth")


@dataclass
class World:
    """A migrated database with two people, and a connection per role."""

    database: TestDatabase
    admin: psycopg.Connection[Any]
    mine: uuid.UUID
    theirs: uuid.UUID
    connections: dict[str, psycopg.Connection[Any]]
    sync: bool

    def try_as(
        self, role: str, statement: str, params: Any = None, owner: uuid.UUID | None = None
    ) -> list[Any] | int | type[Exception]:
        """Rows, or the count of touched rows, or the class of the refusal; rolled back."""
        connection = self.connections[role]
        try:
            if owner:
                connection.execute(
                    "SELECT set_config('request.jwt.claim.sub', %s, true)", (str(owner),)
                )
            cursor = connection.execute(statement.encode(), params)
            return cursor.fetchall() if cursor.description else cursor.rowcount
        except (pg.InsufficientPrivilege, pg.IntegrityError, pg.FeatureNotSupported) as refusal:
            return type(refusal)
        finally:
            connection.rollback()

    def columns(self, role: str, table: str, right: str) -> list[str]:
        rows = self.admin.execute(
            "SELECT attname FROM pg_attribute WHERE attrelid = %(t)s::regclass AND attnum > 0"
            " AND NOT attisdropped AND has_column_privilege(%(r)s, attrelid, attnum, %(p)s)",
            {"t": table, "r": role, "p": right},
        )
        return [name for (name,) in rows.fetchall()]


def people_in(database: TestDatabase, *, sync: bool) -> Iterator[World]:
    """The world of that database, while the iterator is open."""
    admin = psycopg.connect(database.admin_url, autocommit=True)
    connections = {name: psycopg.connect(database.url(name)) for name in LOGIN_ROLES}
    mine, theirs = fill(admin, sync=sync), fill(admin, sync=sync)
    yield World(database, admin, mine, theirs, connections, sync)
    for connection in [admin, *connections.values()]:
        connection.close()

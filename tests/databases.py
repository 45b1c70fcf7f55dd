"""Databases for tests: each a copy of one migrated template, dropped after use."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql

if TYPE_CHECKING:
    from infra.local.postgres import LocalPostgres

TEMPLATE = "judgment_template"


@dataclass(frozen=True)
class TestDatabase:
    """A migrated database that one test (or module) has to itself."""

    __test__ = False

    server: LocalPostgres
    name: str

    @property
    def admin_url(self) -> str:
        """As the superuser that owns the migrations."""
        return self.url("postgres")

    def url(self, role: str) -> str:
        """As one of the roles of judgment/db/roles.py, over TCP with its password."""
        return self.server.url(role, self.name)


@contextmanager
def copied_database(postgres: LocalPostgres, template: str) -> Iterator[TestDatabase]:
    """A copy of `template` (tens of milliseconds), dropped afterwards."""
    name = f"t_{uuid.uuid4().hex}"
    made = sql.SQL("CREATE DATABASE {} TEMPLATE {}")
    dropped = sql.SQL("DROP DATABASE {} WITH (FORCE)")
    with psycopg.connect(postgres.url(dbname="postgres"), autocommit=True) as admin:
        admin.execute(made.format(sql.Identifier(name), sql.Identifier(template)))
        try:
            yield TestDatabase(postgres, name)
        finally:
            admin.execute(dropped.format(sql.Identifier(name)))

"""A cluster with a Sync app's database in it, migrated by that app's own owner.

It has a server to itself, because roles belong to a server and Sync's differ from ours.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from infra.local.postgres import LocalPostgres
from judgment.db.migrate import migrate
from judgment.db.roles import LOGIN_ROLES
from tests.databases import TestDatabase

SCHEMA = Path(__file__).with_name("sync_schema.sql")


@contextmanager
def sync_database(*, migrated: bool) -> Generator[TestDatabase]:
    """The database, before or after our migrations."""
    home = Path(tempfile.mkdtemp(prefix="judgment-test-"))
    home.chmod(0o755)
    server = LocalPostgres(home / "pg").start()
    try:
        server.ensure_database("sync")
        database = TestDatabase(server, "sync")
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute(SCHEMA.read_bytes())
            admin.execute("GRANT CREATE, CONNECT, TEMPORARY ON DATABASE sync TO sync_owner")
        server.set_role_passwords("sync_owner")
        if migrated:
            migrate(database.url("sync_owner"))
            server.set_role_passwords(*LOGIN_ROLES)
        yield database
    finally:
        server.stop()
        shutil.rmtree(home, ignore_errors=True)

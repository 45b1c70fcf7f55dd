"""The runner of migrations: every unrecorded file, by number, each in a transaction of its own.

Each file's digest is recorded with it, in the transaction that applies it. A recorded file that
has changed since is refused before anything runs, because nobody can say any more what the
database holds. Files are found by number and not by "above the last one": a Sync database and
ours grow in the same numbering (ruling 36). A database newer than the code is left as it is, so
that code can be rolled back.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import resources
from typing import Any

import psycopg
from psycopg import sql

from judgment.kit.hashing import sha256_hex

_NAME = re.compile(r"^(?P<version>\d{3})_[a-z0-9_]+\.sql$")
_FRAME = re.compile(r"\A(?:\s*--[^\n]*\n|\s)*BEGIN;(?P<body>.*)\bCOMMIT;\s*\Z", re.DOTALL)
_LOCK = 0x6A756467  # "judg": one migrator at a time in a database
_LOCK_TIMEOUT = "10s"

_RECORD = """
CREATE TABLE IF NOT EXISTS judgment.schema_migrations (
  version integer PRIMARY KEY,
  name text NOT NULL,
  digest text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE judgment.schema_migrations IS 'Which migration files this database has had.';
COMMENT ON COLUMN judgment.schema_migrations.version IS 'The file''s number.';
COMMENT ON COLUMN judgment.schema_migrations.name IS 'The file''s name.';
COMMENT ON COLUMN judgment.schema_migrations.digest IS 'SHA-256 of the file as it was applied.';
COMMENT ON COLUMN judgment.schema_migrations.applied_at IS 'When.';
"""

_NO_LARGE_OBJECTS = (
    "REVOKE EXECUTE ON FUNCTION pg_catalog.lo_creat(integer), pg_catalog.lo_create(oid),"
    " pg_catalog.lo_from_bytea(oid, bytea) FROM PUBLIC"
)


class MigrationError(RuntimeError):
    """Base of what can be wrong with migrations; the message names the file."""


class MalformedMigration(MigrationError):
    """A file with a wrong name, a number used twice, or no BEGIN; … COMMIT; around it."""


class ChangedMigration(MigrationError):
    """A file that this database has had differs from what it had then."""


class FailedMigration(MigrationError):
    """The database refused a file; that file left nothing behind, those before it stay."""


@dataclass(frozen=True, order=True)
class Migration:
    """One file: its number, name and whole text."""

    version: int
    name: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 of the text, whatever its line endings."""
        return sha256_hex(self.text.replace("\r\n", "\n"))

    @property
    def body(self) -> str:
        """The statements between BEGIN and COMMIT. Raises MalformedMigration."""
        found = _FRAME.match(self.text)
        if found is None:
            raise MalformedMigration(f"{self.name} is not one BEGIN; … COMMIT; transaction.")
        return found["body"]


@dataclass(frozen=True)
class MigrationReport:
    """The names of the files applied now, and how many were there before."""

    applied: tuple[str, ...]
    already: int


def packaged_migrations() -> tuple[Migration, ...]:
    """The files of `judgment/db/migrations`, in order. Raises MalformedMigration."""
    folder = resources.files("judgment.db").joinpath("migrations")
    files = {item.name: item.read_text(encoding="utf-8") for item in folder.iterdir()}
    return ordered(files.items())


def ordered(files: Iterable[tuple[str, str]]) -> tuple[Migration, ...]:
    """Name and text pairs as migrations by number. Raises MalformedMigration."""
    migrations: dict[int, Migration] = {}
    for name, text in files:
        found = _NAME.match(name)
        if found is None:
            raise MalformedMigration(f"{name} is not named NNN_description.sql.")
        migration = Migration(int(found["version"]), name, text)
        if migration.version in migrations:
            other = migrations[migration.version].name
            raise MalformedMigration(f"{name} and {other} have the same number.")
        _ = migration.body
        migrations[migration.version] = migration
    return tuple(sorted(migrations.values()))


def migrate(
    url: str,
    migrations: Sequence[Migration] | None = None,
    log: Callable[[str], None] = lambda _: None,
) -> MigrationReport:
    """Bring the database at `url` up to date as the role in that URL.

    The role owns the tables or may create them, and may create roles (`prepare` makes such a
    one). Another migrator of the same database is waited for. Raises MalformedMigration,
    ChangedMigration, FailedMigration, and psycopg.OperationalError when it cannot connect.
    """
    wanted = packaged_migrations() if migrations is None else tuple(sorted(migrations))
    with psycopg.connect(url, autocommit=True) as connection, _alone(connection):
        applied = _recorded(connection)
        _refuse_changes(wanted, applied)
        missing = [migration for migration in wanted if migration.version not in applied]
        for migration in missing:
            log(f"applying {migration.name}")
            _apply(connection, migration)
    return MigrationReport(tuple(m.name for m in missing), len(wanted) - len(missing))


def prepare(admin_url: str) -> None:
    """Make the role `judgment_migrate` for a database of our own, by its administrator.

    It may create roles, and schemas and tables in this database; it is no superuser and is under
    row policies. On RDS it may log in by token, and let the roles it makes do so. Idempotent.
    """
    with psycopg.connect(admin_url, autocommit=True) as connection, connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        if not _exists(connection, "judgment_migrate"):
            connection.execute("CREATE ROLE judgment_migrate LOGIN CREATEROLE")
        else:
            connection.execute("ALTER ROLE judgment_migrate LOGIN CREATEROLE")
        database = sql.Identifier(connection.info.dbname)
        grant = sql.SQL("GRANT CONNECT, CREATE, TEMPORARY ON DATABASE {} TO judgment_migrate")
        connection.execute(grant.format(database))
        connection.execute("GRANT USAGE, CREATE ON SCHEMA public TO judgment_migrate")
        connection.execute(sql.SQL("REVOKE TEMPORARY ON DATABASE {} FROM PUBLIC").format(database))
        connection.execute(_NO_LARGE_OBJECTS)
        if _exists(connection, "rds_iam"):
            connection.execute("GRANT rds_iam TO judgment_migrate WITH ADMIN OPTION")


def holds_sync_tables(url: str) -> bool:
    """Whether a Sync app made tables that ours hang on; their owner must migrate, not `prepare`'s.

    The role in the URL is one that has migrated or is about to.
    """
    with psycopg.connect(url, autocommit=True) as connection:
        if not _has_table(connection, "public", "profiles"):
            return False
        if not _has_table(connection, "judgment", "baseline_objects"):
            return True
        ours = connection.execute(
            "SELECT 1 FROM judgment.baseline_objects WHERE name = 'public.profiles'"
        ).fetchone()
    return ours is None


def _exists(connection: psycopg.Connection[Any], role: str) -> bool:
    found = connection.execute("SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = %s", (role,))
    return found.fetchone() is not None


def _has_table(connection: psycopg.Connection[Any], schema: str, name: str) -> bool:
    """Asked of the catalogue, because a role without rights on the schema may ask."""
    found = connection.execute(
        "SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid ="
        " c.relnamespace WHERE n.nspname = %s AND c.relname = %s",
        (schema, name),
    )
    return found.fetchone() is not None


@contextmanager
def _alone(connection: psycopg.Connection[Any]) -> Generator[None]:
    connection.execute("SELECT pg_advisory_lock(%s)", (_LOCK,))
    try:
        # A migration that waits for a busy table makes every later query of it wait too.
        connection.execute("SELECT set_config('lock_timeout', %s, false)", (_LOCK_TIMEOUT,))
        connection.execute("SELECT set_config('search_path', '', false)")
        yield
    finally:
        if not connection.closed:
            connection.execute("SELECT pg_advisory_unlock(%s)", (_LOCK,))


def _recorded(connection: psycopg.Connection[Any]) -> dict[int, tuple[str, str]]:
    """Version to (name, digest); makes the record, and our schema, where there is none."""
    if not _has_table(connection, "judgment", "schema_migrations"):
        with connection.transaction():
            connection.execute("CREATE SCHEMA IF NOT EXISTS judgment")
            connection.execute("COMMENT ON SCHEMA judgment IS 'What Judgment keeps.'")
            connection.execute(_RECORD)
    rows = connection.execute("SELECT version, name, digest FROM judgment.schema_migrations")
    return {version: (name, digest) for version, name, digest in rows.fetchall()}


def _refuse_changes(wanted: Sequence[Migration], applied: dict[int, tuple[str, str]]) -> None:
    changed = [
        migration.name
        for migration in wanted
        if migration.version in applied and applied[migration.version][1] != migration.digest
    ]
    if changed:
        raise ChangedMigration(
            f"{', '.join(changed)}: changed since this database had it. Restore the file and put"
            " the change into a new one."
        )


def _apply(connection: psycopg.Connection[Any], migration: Migration) -> None:
    try:
        with connection.transaction():
            connection.execute(migration.body.encode())
            connection.execute(
                "INSERT INTO judgment.schema_migrations (version, name, digest)"
                " VALUES (%s, %s, %s)",
                (migration.version, migration.name, migration.digest),
            )
    except psycopg.Error as error:
        hint = f" {error.diag.message_hint}" if error.diag.message_hint else ""
        raise FailedMigration(f"{migration.name}: {error}{hint}") from error

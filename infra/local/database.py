"""The stack's database: our own Postgres, or the one that DATABASE_URL names.

Either is made as it is made on AWS: migrations run as judgment_migrate and not as the superuser,
so that what they need is what they have there.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import sql

from infra.local.postgres import LocalPostgres
from judgment.db.migrate import MigrationReport, holds_sync_tables, migrate
from judgment.db.migrate import prepare as make_migrator
from judgment.db.roles import LOGIN_ROLES
from judgment.scenarios.loading import load_into

if TYPE_CHECKING:
    from infra.local.places import Places

DATABASE_NAME = "judgment"
MIGRATOR = "judgment_migrate"

Log = Callable[[str], None]
RoleUrl = Callable[[str], str]


@dataclass(frozen=True)
class StackDatabase:
    """`admin_url` is the administrator's; `url` gives a door's role its own login.

    `keep_alive` (from the main thread) restarts a server of ours that ended; `stop` ends it.
    """

    admin_url: str
    url: RoleUrl
    keep_alive: Callable[[], None]
    stop: Callable[[], None]


def own_database(places: Places, port: int) -> StackDatabase:
    """Start Postgres over the state folder. Call from the main thread."""
    server = LocalPostgres(places.postgres, port=port).start()
    server.ensure_database(DATABASE_NAME)

    def url(role: str) -> str:
        return server.url(role, DATABASE_NAME, via="socket")

    def keep_alive() -> None:
        if server.pid is None:
            server.start()

    return StackDatabase(server.url(dbname=DATABASE_NAME), url, keep_alive, server.stop)


def given_database(admin_url: str, secret: str) -> StackDatabase:
    """Use a running database; the roles' passwords are derived from `secret`, which is kept."""

    def url(role: str) -> str:
        return _with_login(admin_url, role, role_password(secret, role))

    return StackDatabase(admin_url, url, lambda: None, lambda: None)


def make_database(server: LocalPostgres, name: str = DATABASE_NAME) -> MigrationReport:
    """Create and migrate `name` where needed, and let every login role in with its password.

    Raises what `migrate` raises.
    """
    server.ensure_database(name)
    return _migrated(server.url(dbname=name), lambda role: server.url(role, name))


def prepare(database: StackDatabase, log: Log = lambda _: None) -> MigrationReport:
    """As a deployment does: migrations, then the library; every door's role may log in.

    Raises what `migrate` and `load_into` raise.
    """
    report = _migrated(database.admin_url, database.url, log)
    foreign = holds_sync_tables(database.admin_url)
    counts = load_into(database.admin_url if foreign else database.url(MIGRATOR))
    if counts.skipped is not None or counts.inserted or counts.updated or counts.archived:
        log(str(counts))
    return report


def _migrated(admin_url: str, url: RoleUrl, log: Log = lambda _: None) -> MigrationReport:
    if holds_sync_tables(admin_url):
        # Only their owner can add columns to a Sync app's tables.
        report = migrate(admin_url, log=log)
        _let_in(admin_url, url, LOGIN_ROLES)
        return report
    make_migrator(admin_url)
    _let_in(admin_url, url, (MIGRATOR,))
    report = migrate(url(MIGRATOR), log=log)
    _let_in(admin_url, url, LOGIN_ROLES)
    return report


def _let_in(admin_url: str, url: RoleUrl, roles: Sequence[str]) -> None:
    """Give each of these existing roles the password that its URL carries."""
    with psycopg.connect(admin_url, autocommit=True) as admin:
        for role in roles:
            word = urlsplit(url(role)).password or ""
            change = sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}")
            admin.execute(change.format(sql.Identifier(role), sql.Literal(word)))


def role_password(secret: str, role: str) -> str:
    """Hexadecimal, stable for the secret, different for each role."""
    return hmac.new(secret.encode(), role.encode(), hashlib.sha256).hexdigest()


def _with_login(url: str, role: str, password: str) -> str:
    parts = urlsplit(url)
    where = parts.netloc.rpartition("@")[2]
    netloc = f"{quote(role)}:{quote(password, safe='')}@{where}"
    return urlunsplit((parts.scheme, netloc, parts.path, parts.query, parts.fragment))

"""The stack's database: our own Postgres, or the one that DATABASE_URL names."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from judgment.db.migrate import migrate
from judgment.db.roles import ROLES
from psycopg import sql

from infra.local.postgres import LocalPostgres

if TYPE_CHECKING:
    from infra.local.places import Places

DATABASE_NAME = "judgment"


@dataclass(frozen=True)
class StackDatabase:
    """`admin_url` owns the schema; `url` gives a door's role its own login.

    `keep_alive` (from the main thread) restarts a server of ours that ended; `stop` ends it.
    """

    admin_url: str
    url: Callable[[str], str]
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


def prepare(database: StackDatabase) -> None:
    """Apply the migrations and let every door's role log in."""
    migrate(database.admin_url)
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        for role in ROLES:
            word = urlsplit(database.url(role.name)).password or ""
            change = sql.SQL("ALTER ROLE {} LOGIN PASSWORD {}")
            admin.execute(change.format(sql.Identifier(role.name), sql.Literal(word)))


def role_password(secret: str, role: str) -> str:
    """Hexadecimal, stable for the secret, different for each role."""
    return hmac.new(secret.encode(), role.encode(), hashlib.sha256).hexdigest()


def _with_login(url: str, role: str, password: str) -> str:
    parts = urlsplit(url)
    where = parts.netloc.rpartition("@")[2]
    netloc = f"{quote(role)}:{quote(password, safe='')}@{where}"
    return urlunsplit((parts.scheme, netloc, parts.path, parts.query, parts.fragment))

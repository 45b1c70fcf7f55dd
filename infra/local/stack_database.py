"""The stack's database: our own Postgres, or the one that DATABASE_URL names."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit, urlunsplit

import psycopg
from psycopg import sql

from infra.local.database import make_database
from infra.local.postgres import LocalPostgres
from judgment.db.migrate import migrate, prepare
from judgment.db.roles import LOGIN_ROLES

if TYPE_CHECKING:
    from infra.local.places import Places

DATABASE_NAME = "judgment"


@dataclass(frozen=True)
class StackDatabase:
    """`admin_url` owns the schema; `url` gives a door's role its own login.

    `migrate` brings it up to date; `keep_alive` (from the main thread) restarts a server of ours
    that ended; `stop` ends it.
    """

    admin_url: str
    url: Callable[[str], str]
    migrate: Callable[[], object]
    keep_alive: Callable[[], None]
    stop: Callable[[], None]


def own_database(places: Places, port: int) -> StackDatabase:
    """Start Postgres over the state folder. Call from the main thread."""
    server = LocalPostgres(places.postgres, port=port).start()

    def url(role: str) -> str:
        return server.url(role, DATABASE_NAME, via="socket")

    def keep_alive() -> None:
        if server.pid is None:
            server.start()

    return StackDatabase(
        server.url(dbname=DATABASE_NAME),
        url,
        lambda: make_database(server, DATABASE_NAME),
        keep_alive,
        server.stop,
    )


def given_database(admin_url: str, secret: str) -> StackDatabase:
    """Use a running database; the roles' passwords are derived from `secret`, which is kept."""

    def url(role: str) -> str:
        return with_login(admin_url, role, role_password(secret, role))

    def bring_up_to_date() -> None:
        prepare(admin_url)
        _let_in(admin_url, secret, ("judgment_migrate",))
        migrate(url("judgment_migrate"))
        _let_in(admin_url, secret, LOGIN_ROLES)

    return StackDatabase(admin_url, url, bring_up_to_date, lambda: None, lambda: None)


def role_password(secret: str, role: str) -> str:
    """Hexadecimal, stable for the secret, different for each role."""
    return hmac.new(secret.encode(), role.encode(), hashlib.sha256).hexdigest()


def with_login(url: str, role: str, password: str) -> str:
    """The same libpq URL for another user."""
    parts = urlsplit(url)
    where = parts.netloc.rpartition("@")[2]
    netloc = f"{quote(role)}:{quote(password, safe='')}@{where}"
    return urlunsplit((parts.scheme, netloc, parts.path, parts.query, parts.fragment))


def _let_in(admin_url: str, secret: str, roles: Iterable[str]) -> None:
    with psycopg.connect(admin_url, autocommit=True) as admin:
        for role in roles:
            change = sql.SQL("ALTER ROLE {} PASSWORD {}")
            word = sql.Literal(role_password(secret, role))
            admin.execute(change.format(sql.Identifier(role), word))

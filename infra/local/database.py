"""A database of our own on a local server, made as it is made on AWS."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from judgment.db.migrate import MigrationReport, migrate, prepare
from judgment.db.roles import LOGIN_ROLES

if TYPE_CHECKING:
    from infra.local.postgres import LocalPostgres


def make_database(
    server: LocalPostgres, name: str = "judgment", log: Callable[[str], None] = lambda _: None
) -> MigrationReport:
    """Create and migrate `name` where needed, and let every login role in with its password.

    Migrations run as judgment_migrate and not as the superuser, so that what they need is what
    they have on AWS. Raises what `migrate` raises.
    """
    server.ensure_database(name)
    prepare(server.url(dbname=name))
    server.set_role_passwords("judgment_migrate")
    report = migrate(server.url("judgment_migrate", name), log=log)
    server.set_role_passwords(*LOGIN_ROLES)
    return report

"""The one statement that the master user runs on a new cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg.errors import InsufficientPrivilege

from infra.checkout import ROOT
from judgment.db.migrate import migrate, prepare

if TYPE_CHECKING:
    from tests.databases import TestDatabase

BOOTSTRAP = (ROOT / "infra" / "stacks" / "bootstrap.sql").read_text()
STATE = """
SELECT r.rolcanlogin, r.rolcreaterole, r.rolsuper, r.rolcreatedb, r.rolbypassrls,
       has_database_privilege(r.rolname, current_database(), 'CREATE') AS makes_schemas,
       has_database_privilege(r.rolname, current_database(), 'TEMPORARY') AS makes_temporary,
       has_schema_privilege(r.rolname, 'public', 'CREATE, USAGE') AS uses_public,
       EXISTS (SELECT FROM pg_auth_members m JOIN pg_roles g ON g.oid = m.roleid
               WHERE m.member = r.oid AND g.rolname = 'rds_iam' AND m.admin_option) AS gives_tokens
FROM pg_roles r WHERE r.rolname = 'judgment_migrate'
"""


def made_by(url: str, way: Any) -> tuple[Any, ...] | None:
    way(url)
    with psycopg.connect(url) as connection:
        return connection.execute(STATE).fetchone()


def run_statement(url: str) -> None:
    """As the Data API does: one statement, autocommitted."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(BOOTSTRAP.encode())


@pytest.mark.promise("R-26", "R-18")
def test_the_statement_makes_what_the_local_stack_makes(empty_database: TestDatabase) -> None:
    ours = made_by(empty_database.admin_url, run_statement)
    theirs = made_by(empty_database.admin_url, prepare)
    assert ours == theirs
    assert ours is not None
    assert ours[:5] == (True, True, False, False, False)


def test_the_statement_can_run_again(empty_database: TestDatabase) -> None:
    first = made_by(empty_database.admin_url, run_statement)
    assert made_by(empty_database.admin_url, run_statement) == first


@pytest.mark.promise("R-18", "P1-accept-4")
@pytest.mark.parametrize("way", [run_statement, prepare], ids=["statement", "local stack"])
def test_the_reader_cannot_even_write_what_postgres_lets_everybody_write(
    empty_database: TestDatabase, way: Any
) -> None:
    way(empty_database.admin_url)
    migrate(empty_database.admin_url)
    with psycopg.connect(empty_database.admin_url, autocommit=True) as reader:
        reader.execute("SET ROLE judgment_reader")
        for statement in (
            "CREATE TEMPORARY TABLE kept (of text)",
            "SELECT lo_from_bytea(0, 'x')",
            "SELECT lo_create(0)",
            "SELECT lo_creat(-1)",
        ):
            with pytest.raises(InsufficientPrivilege):
                reader.execute(statement.encode())


def test_where_tokens_exist_the_migrator_may_hand_them_on(empty_database: TestDatabase) -> None:
    url = empty_database.admin_url
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE ROLE rds_iam NOLOGIN")
        try:
            run_statement(url)
            row = connection.execute(STATE).fetchone()
        finally:
            connection.execute("REVOKE rds_iam FROM judgment_migrate")
            connection.execute("DROP ROLE rds_iam")
    assert row is not None
    assert row[-1] is True


def test_it_is_one_statement() -> None:
    """The Data API takes one."""
    code = "\n".join(line for line in BOOTSTRAP.splitlines() if not line.startswith("--"))
    assert code.strip().startswith("DO $$")
    assert code.strip().endswith("$$;")
    assert code.count("$$") == 2

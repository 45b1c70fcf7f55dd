"""Transactions carry their owner, and outages become 503 and pass by themselves."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from infra.local.postgres import LocalPostgres
from judgment.db.connection import Database, json_value
from judgment.db.errors import (
    CheckViolated,
    DatabaseError,
    ForeignKeyViolated,
    PermissionDenied,
    UniqueViolated,
    UnstorableValue,
)
from judgment.kit.errors import Unavailable

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P1-3", "P1-refuse-outage", "R-18")

CLAIM = "SELECT nullif(current_setting('request.jwt.claim.sub', true), '')"


@pytest.fixture
def database(empty_database: TestDatabase) -> Iterator[Database]:
    opened = Database(empty_database.admin_url, application_name="under-test")
    with opened.transaction() as tx:
        tx.execute("CREATE TABLE box (id int PRIMARY KEY, n int NOT NULL CHECK (n > 0), j jsonb)")
        tx.execute("CREATE TABLE lid (box int CONSTRAINT lid_box_fkey REFERENCES box)")
    yield opened
    opened.close()


def _run(database: Database, *steps: str | Callable[[], None]) -> None:
    """One transaction over these statements, with these interruptions in between."""
    with database.transaction() as tx:
        for step in steps:
            if callable(step):
                step()
            else:
                tx.execute(step)


def _kill_backends(target: TestDatabase) -> None:
    with psycopg.connect(target.server.url(dbname="postgres"), autocommit=True) as admin:
        admin.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s",
            (target.name,),
        )


def test_the_claim_holds_inside_its_transaction_only(database: Database) -> None:
    owner = uuid.uuid4()
    with database.transaction(owner) as tx:
        assert tx.value(CLAIM) == str(owner)
    with database.transaction() as tx:
        assert tx.value(CLAIM) is None
    with pytest.raises(ZeroDivisionError), database.transaction(owner):
        raise ZeroDivisionError
    with database.transaction() as tx:
        assert tx.value(CLAIM) is None


def test_a_claim_that_is_no_uuid_never_reaches_the_server(database: Database) -> None:
    smuggled: Any = "x'; DROP TABLE box; --"
    with pytest.raises(ValueError, match="badly formed"), database.transaction(smuggled):
        pytest.fail("the transaction was opened")
    with database.transaction() as tx:
        assert tx.value("SELECT to_regclass('box')") is not None


def test_rows_come_as_dicts_and_values(database: Database) -> None:
    with database.transaction() as tx:
        assert tx.execute("INSERT INTO box VALUES (1, 2, %s)", (json_value({"a": [1]}),)) == 1
        tx.many("INSERT INTO box VALUES (%(i)s, 1)", [{"i": 2}, {"i": 3}])
        assert tx.one("SELECT * FROM box WHERE id = 1") == {"id": 1, "n": 2, "j": {"a": [1]}}
        assert tx.one("SELECT * FROM box WHERE id = 9") is None
        assert tx.value("SELECT n FROM box WHERE id = 9") is None
        assert [row["id"] for row in tx.all("SELECT id FROM box ORDER BY id")] == [1, 2, 3]


def _stumble() -> None:
    raise ZeroDivisionError


def test_an_exception_rolls_back_and_leaving_commits(database: Database) -> None:
    with pytest.raises(ZeroDivisionError):
        _run(database, "INSERT INTO box VALUES (1, 1)", _stumble)
    with database.transaction() as tx:
        tx.execute("INSERT INTO box VALUES (2, 1)")
    with database.transaction() as tx:
        assert [row["id"] for row in tx.all("SELECT id FROM box")] == [2]


def test_a_swallowed_failure_is_reported_instead_of_silently_rolled_back(
    database: Database,
) -> None:
    def swallow() -> None:
        with database.transaction() as tx:
            tx.execute("INSERT INTO box VALUES (1, 1)")
            with contextlib.suppress(UniqueViolated):
                tx.execute("INSERT INTO box VALUES (1, 1)")

    with pytest.raises(DatabaseError, match="nothing was committed"):
        swallow()
    with database.transaction() as tx:
        assert tx.all("SELECT id FROM box") == []


@pytest.mark.parametrize(
    ("statement", "kind", "constraint"),
    [
        ("INSERT INTO box VALUES (0, 1), (0, 1)", UniqueViolated, "box_pkey"),
        ("INSERT INTO box VALUES (1, 0)", CheckViolated, "box_n_check"),
        ("INSERT INTO box VALUES (1, NULL)", CheckViolated, ""),
        ("INSERT INTO lid VALUES (7)", ForeignKeyViolated, "lid_box_fkey"),
    ],
)
def test_constraints_surface_by_kind_and_name(
    database: Database, statement: str, kind: type[Any], constraint: str
) -> None:
    with pytest.raises(kind) as caught, database.transaction() as tx:
        tx.execute(statement)
    assert caught.value.constraint == constraint


def test_a_refused_row_is_not_quoted_in_what_is_logged(database: Database) -> None:
    with pytest.raises(CheckViolated) as caught, database.transaction() as tx:
        tx.execute("INSERT INTO box VALUES (4711, 0)")
    assert "box_n_check" in str(caught.value)
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize("value", ["nul \x00 inside", "half \ud800 pair", 10**30])
def test_what_postgres_cannot_hold_is_the_callers_mistake(database: Database, value: Any) -> None:
    with pytest.raises(UnstorableValue), database.transaction() as tx:
        tx.execute("INSERT INTO box VALUES (1, length(%(v)s::text)::int * %(v)s)", {"v": value})
    with pytest.raises(UnstorableValue), database.transaction() as tx:
        tx.execute("INSERT INTO box VALUES (1, 1, %s)", (json_value({"k": "\x00"}),))


def test_a_read_only_transaction_cannot_write(database: Database) -> None:
    with pytest.raises(DatabaseError), database.transaction(read_only=True) as tx:
        tx.execute("INSERT INTO box VALUES (1, 1)")


def test_a_forbidden_table_is_a_refusal_of_its_own(empty_database: TestDatabase) -> None:
    with psycopg.connect(empty_database.admin_url, autocommit=True) as admin:
        admin.execute("CREATE TABLE hidden ()")
        admin.execute("CREATE ROLE nosy LOGIN")
        empty_database.server.set_role_passwords("nosy")
        nosy = Database(empty_database.url("nosy"))
        with pytest.raises(PermissionDenied), nosy.transaction() as tx:
            tx.all("SELECT * FROM hidden")
        nosy.close()
        admin.execute("DROP ROLE nosy")


def test_a_killed_connection_is_replaced_within_the_next_transaction(
    database: Database, empty_database: TestDatabase
) -> None:
    owner = uuid.uuid4()
    _kill_backends(empty_database)
    with database.transaction(owner, read_only=True) as tx:
        assert tx.value(CLAIM) == str(owner)
        assert tx.value("SHOW transaction_read_only") == "on"


def test_a_connection_lost_in_the_middle_is_503_and_the_next_request_is_served(
    database: Database, empty_database: TestDatabase
) -> None:
    with pytest.raises(Unavailable):
        _run(
            database,
            "INSERT INTO box VALUES (1, 1)",
            lambda: _kill_backends(empty_database),
            "INSERT INTO box VALUES (2, 1)",
        )
    with database.transaction() as tx:
        assert tx.all("SELECT id FROM box") == []


def test_a_connection_lost_before_commit_is_503_and_nothing_is_kept(
    database: Database, empty_database: TestDatabase
) -> None:
    with pytest.raises(Unavailable):
        _run(database, "INSERT INTO box VALUES (1, 1)", lambda: _kill_backends(empty_database))
    with database.transaction() as tx:
        assert tx.all("SELECT id FROM box") == []


def test_a_lone_statement_is_committed_and_replaces_a_killed_connection(
    database: Database, empty_database: TestDatabase
) -> None:
    with database.statement() as tx:
        tx.execute("INSERT INTO box VALUES (1, 1)")
    _kill_backends(empty_database)
    with database.statement() as tx:
        assert tx.value("SELECT id FROM box") == 1
    with database.statement() as tx, pytest.raises(UniqueViolated):
        tx.execute("INSERT INTO box VALUES (1, 1)")
    with database.statement() as tx:
        assert tx.value(CLAIM) is None


def test_a_lone_statement_that_is_slow_is_503_and_not_repeated(database: Database) -> None:
    with database.statement() as tx:
        tx.execute("SET statement_timeout = '20ms'")
    with pytest.raises(Unavailable), database.statement() as tx:
        tx.value("SELECT pg_sleep(20)")
    with database.statement() as tx:
        assert tx.value("SHOW statement_timeout") == "20ms"


def test_a_lone_statement_on_a_writer_that_became_a_reader_finds_the_new_one(
    database: Database,
) -> None:
    with database.statement() as tx:
        tx.execute("SET default_transaction_read_only = on")
    with database.statement() as tx:
        assert tx.execute("INSERT INTO box VALUES (3, 1)") == 1


def test_a_slow_statement_is_503_and_the_connection_stays(database: Database) -> None:
    with pytest.raises(Unavailable):
        _run(database, "SET LOCAL statement_timeout = '20ms'", "SELECT pg_sleep(20)")
    with database.transaction() as tx:
        assert tx.value("SHOW statement_timeout") == "0"


def test_no_server_is_503_and_it_recovers_when_there_is_one(empty_database: TestDatabase) -> None:
    seen: list[str] = []

    def connect(**options: Any) -> psycopg.Connection[Any]:
        if not seen:
            seen.append("down")
            raise psycopg.OperationalError("connection refused")
        return psycopg.connect(**options)

    database = Database(empty_database.admin_url, connect=connect)
    with pytest.raises(Unavailable), database.transaction():
        pytest.fail("the transaction was opened")
    with database.transaction() as tx:
        assert tx.value("SELECT 1") == 1
    database.close()


def test_a_server_that_restarts_is_503_meanwhile_and_served_after() -> None:
    home = Path(tempfile.mkdtemp(prefix="judgment-test-"))
    home.chmod(0o755)
    server = LocalPostgres(home / "pg").start()
    database = Database(server.url(dbname="postgres"))
    try:
        with database.transaction() as tx:
            assert tx.value("SELECT 1") == 1
        server.stop()
        for _ in range(2):
            with pytest.raises(Unavailable), database.transaction():
                pytest.fail("the server was stopped")
        again = LocalPostgres(home / "pg", port=server.port).start()
        with database.transaction() as tx:
            assert tx.value("SELECT 2") == 2
        database.close()
        again.stop()
    finally:
        server.stop()
        shutil.rmtree(home)


def test_out_of_connections_is_503_and_passes(empty_database: TestDatabase) -> None:
    with psycopg.connect(empty_database.admin_url, autocommit=True) as admin:
        admin.execute("CREATE ROLE crowded LOGIN CONNECTION LIMIT 1")
        empty_database.server.set_role_passwords("crowded")
        first, second = (Database(empty_database.url("crowded")) for _ in range(2))
        with first.transaction(), pytest.raises(Unavailable), second.transaction():
            pytest.fail("the limit did not hold")
        first.close()
        _kill_backends_of(admin, "crowded")
        with second.transaction() as tx:
            assert tx.value("SELECT 1") == 1
        second.close()
        _kill_backends_of(admin, "crowded")
        admin.execute("DROP ROLE crowded")


def _kill_backends_of(admin: psycopg.Connection[Any], role: str) -> None:
    admin.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = %s", (role,)
    )


def test_a_writer_that_became_a_reader_is_left_for_the_new_writer(database: Database) -> None:
    with pytest.raises(Unavailable):  # a failed-over writer answers as if it were read-only
        _run(database, "SET TRANSACTION READ ONLY", "INSERT INTO box VALUES (1, 1)")
    with database.transaction() as tx:
        assert tx.execute("INSERT INTO box VALUES (1, 1)") == 1


def test_threads_take_turns_and_a_nested_transaction_is_a_defect(database: Database) -> None:
    started = threading.Event()
    order: list[str] = []

    def other() -> None:
        started.set()
        with database.transaction() as tx:
            order.append(f"other {tx.value('SELECT 2')}")

    thread = threading.Thread(target=other)
    with database.transaction() as tx:
        thread.start()
        assert started.wait(5)
        with pytest.raises(RuntimeError, match="open already"), database.transaction():
            pytest.fail("a transaction was nested")
        order.append(f"main {tx.value('SELECT 1')}")
    thread.join(5)
    assert order == ["main 1", "other 2"]


def test_the_server_sees_the_application_and_no_prepared_statements(database: Database) -> None:
    with database.transaction() as tx:
        assert tx.value("SHOW application_name") == "under-test"
        for _ in range(10):
            tx.all("SELECT id FROM box")
        assert tx.all("SELECT * FROM pg_prepared_statements") == []


def test_an_rds_host_without_a_password_asks_for_a_token() -> None:
    asked: list[dict[str, Any]] = []

    def connect(**options: Any) -> psycopg.Connection[Any]:
        asked.append(options)
        raise psycopg.OperationalError

    host = "c.cluster-x.eu-west-1.rds.amazonaws.com"
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "test")
        patch.setenv("AWS_DEFAULT_REGION", "eu-west-1")
        url = f"postgresql://judgment_reader@{host}:5432/judgment?sslmode=require"
        with pytest.raises(Unavailable), Database(url, connect=connect).transaction():
            pytest.fail("there is no such host")
    assert asked[0]["password"].startswith(f"{host}:5432/?Action=connect&DBUser=judgment_reader")
    assert asked[0]["sslmode"] == "require"

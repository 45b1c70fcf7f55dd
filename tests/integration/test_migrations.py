"""Migrations run in order, once, whole, and change nothing that they should not."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infra.local.database import make_database
from infra.local.postgres import LocalPostgres
from infra.local.postgres_host import find_binaries
from judgment.db.migrate import (
    ChangedMigration,
    FailedMigration,
    MalformedMigration,
    Migration,
    migrate,
    ordered,
    packaged_migrations,
    prepare,
)
from judgment.db.roles import LOGIN_ROLES
from tests.databases import copied_database

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P1-3", "R-36", "000-11")


def dump(database: TestDatabase, *options: str) -> str:
    """Everything in the database as SQL text, without what differs from dump to dump.

    pg_dump names the roles of a policy in the order in which they lie on disk, and a role that is
    given its password again moves.
    """
    done = subprocess.run(
        [str(find_binaries() / "pg_dump"), "--dbname", database.admin_url, *options],
        capture_output=True,
        text=True,
        check=True,
    )
    text = re.sub(r"^\\(un)?restrict .*$", "", done.stdout, flags=re.MULTILINE)
    return re.sub(
        r"(?<= TO )\w+(, \w+)+", lambda roles: ", ".join(sorted(roles[0].split(", "))), text
    )


def small(version: int, body: str) -> Migration:
    return Migration(version, f"{version:03d}_made.sql", f"BEGIN;\n{body}\nCOMMIT;\n")


def recorded(database: TestDatabase) -> list[int]:
    with psycopg.connect(database.admin_url) as connection:
        rows = connection.execute(
            "SELECT version FROM judgment.schema_migrations ORDER BY applied_at, version"
        )
        return [version for (version,) in rows.fetchall()]


def test_the_files_are_the_ones_that_the_brief_numbers_and_ours_after_them() -> None:
    versions = [migration.version for migration in packaged_migrations()]
    assert versions[:8] == [0, *range(76, 83)]
    assert versions[8:] == list(range(83, 83 + len(versions) - 8))


def test_migrating_twice_changes_nothing(fresh_database: TestDatabase) -> None:
    before = dump(fresh_database)
    report = make_database(fresh_database.server, fresh_database.name)
    assert report.applied == ()
    assert report.already == len(packaged_migrations())
    assert dump(fresh_database) == before


def test_running_every_file_again_by_hand_changes_nothing(fresh_database: TestDatabase) -> None:
    before = dump(fresh_database)
    url = fresh_database.url("judgment_migrate")
    with psycopg.connect(url, autocommit=True) as connection:
        for migration in packaged_migrations():
            connection.execute(migration.text.encode())
    after = dump(fresh_database)
    assert sorted(after.splitlines()) == sorted(before.splitlines())


def test_a_superuser_may_migrate_as_well(empty_database: TestDatabase) -> None:
    report = migrate(empty_database.admin_url)
    assert len(report.applied) == len(packaged_migrations())
    assert migrate(empty_database.admin_url).applied == ()


def test_preparing_twice_is_harmless(empty_database: TestDatabase) -> None:
    prepare(empty_database.admin_url)
    prepare(empty_database.admin_url)
    with psycopg.connect(empty_database.admin_url) as connection:
        role = connection.execute(
            "SELECT rolsuper, rolbypassrls, rolcreaterole FROM pg_roles WHERE rolname = %s",
            ("judgment_migrate",),
        ).fetchone()
    assert role == (False, False, True)


def test_on_rds_the_roles_may_log_in_by_token() -> None:
    home = Path(tempfile.mkdtemp(prefix="judgment-test-"))
    home.chmod(0o755)
    server = LocalPostgres(home / "pg").start()
    try:
        with psycopg.connect(server.url(dbname="postgres"), autocommit=True) as admin:
            admin.execute("CREATE ROLE rds_iam NOLOGIN")
            make_database(server)
            members = admin.execute(
                "SELECT m.rolname FROM pg_auth_members a JOIN pg_roles m ON m.oid = a.member"
                " WHERE a.roleid = 'rds_iam'::regrole"
            ).fetchall()
        assert {name for (name,) in members} == set(LOGIN_ROLES)
    finally:
        server.stop()
        shutil.rmtree(home)


def test_files_apply_by_number_also_below_what_is_there(empty_database: TestDatabase) -> None:
    url = empty_database.admin_url
    ten, twenty = small(10, "CREATE TABLE public.a ();"), small(20, "CREATE TABLE public.b ();")
    between = small(15, "ALTER TABLE public.a ADD COLUMN c int;")
    assert migrate(url, [twenty, ten]).applied == ("010_made.sql", "020_made.sql")
    assert migrate(url, [ten, between, twenty]).applied == ("015_made.sql",)
    assert recorded(empty_database) == [10, 20, 15]


def test_a_file_that_fails_leaves_nothing_and_those_before_it_stay(
    empty_database: TestDatabase,
) -> None:
    url = empty_database.admin_url
    files = [
        small(1, "CREATE TABLE public.good ();"),
        small(2, "CREATE TABLE public.half (); SELECT 1/0;"),
        small(3, "CREATE TABLE public.late ();"),
    ]
    with pytest.raises(FailedMigration, match=r"002_made\.sql: division by zero"):
        migrate(url, files)
    assert recorded(empty_database) == [1]
    with psycopg.connect(url) as connection:
        found = connection.execute(
            "SELECT to_regclass('public.half'), to_regclass('public.late')"
        ).fetchone()
    assert found == (None, None)
    files[1] = small(2, "CREATE TABLE public.half ();")
    assert migrate(url, files).applied == ("002_made.sql", "003_made.sql")


def test_a_changed_file_is_refused_before_anything_runs(empty_database: TestDatabase) -> None:
    url = empty_database.admin_url
    migrate(url, [small(1, "CREATE TABLE public.a ();")])
    changed = [small(1, "CREATE TABLE public.z ();"), small(2, "CREATE TABLE public.b ();")]
    with pytest.raises(ChangedMigration, match=r"001_made\.sql: changed since"):
        migrate(url, changed)
    assert recorded(empty_database) == [1]


def test_line_endings_are_no_change(empty_database: TestDatabase) -> None:
    file = small(1, "CREATE TABLE public.a ();")
    migrate(empty_database.admin_url, [file])
    windows = Migration(1, file.name, file.text.replace("\n", "\r\n"))
    assert migrate(empty_database.admin_url, [windows]).applied == ()


def test_code_that_was_rolled_back_leaves_a_newer_database_alone(
    empty_database: TestDatabase,
) -> None:
    one, two = small(1, "CREATE TABLE public.a ();"), small(2, "CREATE TABLE public.b ();")
    migrate(empty_database.admin_url, [one, two])
    assert migrate(empty_database.admin_url, [one]).applied == ()
    assert recorded(empty_database) == [1, 2]


def test_two_migrators_at_once_apply_each_file_once(empty_database: TestDatabase) -> None:
    reports: list[tuple[str, ...]] = []

    def run() -> None:
        reports.append(migrate(empty_database.admin_url).applied)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(map(len, reports)) == [0, 0, len(packaged_migrations())]


@pytest.mark.parametrize(
    ("name", "text", "reason"),
    [
        ("1_short.sql", "BEGIN; COMMIT;", "is not named"),
        ("001_Upper.sql", "BEGIN; COMMIT;", "is not named"),
        ("001_bare.sql", "CREATE TABLE a ();", "is not one BEGIN"),
        ("001_open.sql", "BEGIN; CREATE TABLE a ();", "is not one BEGIN"),
        ("001_early.sql", "CREATE TABLE a (); BEGIN; COMMIT;", "is not one BEGIN"),
    ],
)
def test_a_file_out_of_form_is_refused(name: str, text: str, reason: str) -> None:
    with pytest.raises(MalformedMigration, match=reason):
        ordered([(name, text)])


def test_a_number_used_twice_is_refused() -> None:
    files = [("001_a.sql", "BEGIN; COMMIT;"), ("001_b.sql", "BEGIN; COMMIT;")]
    with pytest.raises(MalformedMigration, match="have the same number"):
        ordered(files)


@given(st.lists(st.integers(0, 999), unique=True, max_size=30), st.randoms())
def test_files_are_ordered_by_number_however_they_are_found(
    versions: list[int], shuffled: Any
) -> None:
    files = [(f"{version:03d}_x.sql", "BEGIN; COMMIT;") for version in versions]
    shuffled.shuffle(files)
    assert [migration.version for migration in ordered(files)] == sorted(versions)


@settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.lists(st.integers(0, 999), unique=True, min_size=1, max_size=6).flatmap(
        lambda versions: st.lists(st.sets(st.sampled_from(versions)), min_size=1, max_size=4)
    )
)
def test_whatever_releases_bring_each_file_is_applied_exactly_once(
    postgres: LocalPostgres, releases: list[set[int]]
) -> None:
    """Each release is any set of files; a file counts its own runs in the database."""
    with copied_database(postgres, "template0") as database:
        url = database.admin_url
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("CREATE TABLE public.runs (version int)")
        for release in releases:
            files = [small(v, f"INSERT INTO public.runs VALUES ({v});") for v in release]
            before = set(recorded(database)) if release is not releases[0] else set()
            report = migrate(url, files)
            expected = sorted(release - before)
            assert report.applied == tuple(f"{v:03d}_made.sql" for v in expected)
        with psycopg.connect(url) as connection:
            runs = connection.execute("SELECT version FROM public.runs").fetchall()
        everything = set().union(*releases)
        assert sorted(version for (version,) in runs) == sorted(everything)


def test_each_table_and_column_that_we_make_says_what_it_is_for(
    fresh_database: TestDatabase,
) -> None:
    with psycopg.connect(fresh_database.admin_url) as connection:
        silent = connection.execute(
            """
            SELECT c.oid::regclass::text || coalesce('.' || a.attname, '')
              FROM pg_class c
              JOIN pg_namespace n ON n.oid = c.relnamespace
              LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
                                      AND NOT a.attisdropped
             WHERE n.nspname IN ('public', 'judgment', 'auth') AND c.relkind = 'r'
               AND (col_description(c.oid, a.attnum) IS NULL
                    OR obj_description(c.oid, 'pg_class') IS NULL)
            """
        ).fetchall()
    assert silent == []


def test_row_security_comes_in_the_file_that_makes_the_table() -> None:
    without = {"judgment.baseline_objects", "public.scenario_character_names"}
    for migration in packaged_migrations():
        made = re.findall(r"CREATE TABLE (?:IF NOT EXISTS )?([\w.]+)", migration.text)
        for table in set(made) - without:
            for form in ("ENABLE", "FORCE"):
                wanted = f"ALTER TABLE {table} {form} ROW LEVEL SECURITY;"
                assert wanted in migration.text, f"{migration.name}: {wanted}"

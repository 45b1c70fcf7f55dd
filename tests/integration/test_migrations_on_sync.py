"""A Sync app's database is migrated by its owner, with its rows, rules and people left alone."""

from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from infra.local.database import make_database
from judgment.db.connection import Database
from judgment.db.inventory import INVENTORY, erase_owner
from judgment.db.migrate import (
    FailedMigration,
    holds_sync_tables,
    migrate,
    packaged_migrations,
    prepare,
)
from judgment.db.roles import LOGIN_ROLES
from tests.integration.owner_rows import fill
from tests.integration.sync_app import sync_database
from tests.integration.test_migrations import dump

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P1-3", "R-36", "000-11")

SYNC_TABLES = (
    "public.profiles",
    "public.player_decision_profiles",
    "public.scenarios",
    "public.choices",
    "public.scenario_character_names",
    "auth.users",
)
ADDED = {
    "public.profiles": {"personal_context", "onboarding_lightbox_dismissed_at"},
    "public.player_decision_profiles": {
        "summary_text",
        "summary_generated_at",
        "summary_model_version",
        "agent_context_block",
    },
    "public.scenarios": {"personalized_for_user_id", "personalization_inputs_hash"},
}
STATE = """
SELECT jsonb_build_object(
  'owner', c.relowner::regrole::text,
  'forced', c.relforcerowsecurity,
  'secured', c.relrowsecurity OR c.relname = 'scenario_character_names',
  'comment', obj_description(c.oid, 'pg_class'),
  'columns', (SELECT jsonb_object_agg(attname, jsonb_build_array(
                atttypid::regtype::text, attnotnull, col_description(c.oid, attnum),
                (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef d
                  WHERE d.adrelid = c.oid AND d.adnum = attnum)))
              FROM pg_attribute WHERE attrelid = c.oid AND attnum > 0),
  'policies', (SELECT jsonb_agg(to_jsonb(p) ORDER BY policyname) FROM pg_policies p
                WHERE p.schemaname || '.' || p.tablename = %(t)s
                  AND p.policyname NOT LIKE 'judgment%%'),
  'triggers', (SELECT jsonb_agg(pg_get_triggerdef(t.oid) ORDER BY tgname) FROM pg_trigger t
                WHERE tgrelid = c.oid AND NOT tgisinternal),
  'constraints', (SELECT jsonb_object_agg(conname, pg_get_constraintdef(k.oid))
                    FROM pg_constraint k WHERE conrelid = c.oid AND contype <> 'n')
) FROM pg_class c WHERE c.oid = %(t)s::regclass
"""


def _state(connection: psycopg.Connection[Any]) -> dict[str, Any]:
    """What a Sync app relies on: shapes and rules without our additions, and every row."""
    state: dict[str, Any] = {}
    for table in SYNC_TABLES:
        row = connection.execute(STATE.encode(), {"t": table}).fetchone()
        assert row
        rows = connection.execute(f"SELECT to_jsonb(t) FROM {table} t ORDER BY 1".encode())
        ours = ADDED.get(table, set())
        shape = row[0]
        shape["columns"] = {k: v for k, v in shape["columns"].items() if k not in ours}
        kept = [{k: v for k, v in r.items() if k not in ours} for (r,) in rows.fetchall()]
        state[table] = {"shape": shape, "rows": kept}
    return state


@pytest.fixture(scope="module")
def sync() -> Iterator[tuple[TestDatabase, dict[str, Any]]]:
    """A migrated Sync database, and what it held before."""
    with sync_database(migrated=False) as database:
        with psycopg.connect(database.admin_url) as admin:
            before = _state(admin)
        report = migrate(database.url("sync_owner"))
        assert len(report.applied) == len(packaged_migrations())
        database.server.set_role_passwords(*LOGIN_ROLES)
        yield database, before


@pytest.fixture
def admin(sync: tuple[TestDatabase, dict[str, Any]]) -> Iterator[psycopg.Connection[Any]]:
    """A superuser's connection whose work is undone."""
    with psycopg.connect(sync[0].admin_url) as connection:
        yield connection
        connection.rollback()


def test_what_the_app_relies_on_is_as_it_was(
    sync: tuple[TestDatabase, dict[str, Any]], admin: psycopg.Connection[Any]
) -> None:
    before, after = sync[1], _state(admin)
    theme = after["public.scenarios"]["shape"]["constraints"].pop("valid_theme")
    assert before["public.scenarios"]["shape"]["constraints"].pop("valid_theme") != theme
    assert "personal" in theme
    after["public.scenarios"]["shape"]["constraints"].pop("scenarios_personalized_for_user_id_fkey")
    cap = after["public.profiles"]["shape"]["constraints"].pop("judgment_personal_context_bytes")
    assert "personal_context" in cap
    assert "NOT VALID" in cap
    assert after == before


def test_our_columns_are_there_with_their_defaults(admin: psycopg.Connection[Any]) -> None:
    for table, added in ADDED.items():
        rows = admin.execute(f"SELECT to_jsonb(t) FROM {table} t".encode()).fetchall()
        assert rows
        for (row,) in rows:
            assert {row[name] for name in added} <= {None, ""}
            assert added <= set(row)


def test_nothing_is_noted_as_made_by_us(admin: psycopg.Connection[Any]) -> None:
    assert admin.execute("SELECT * FROM judgment.baseline_objects").fetchall() == []


def test_migrating_again_changes_nothing(sync: tuple[TestDatabase, dict[str, Any]]) -> None:
    database = sync[0]
    before = dump(database)
    assert migrate(database.url("sync_owner")).applied == ()
    assert dump(database) == before


def test_the_old_themes_and_personal_are_allowed_and_no_other(
    admin: psycopg.Connection[Any],
) -> None:
    for theme in ("boardroom", "custom", "personal"):
        admin.execute("INSERT INTO public.scenarios (theme) VALUES (%s)", (theme,))
    with pytest.raises(psycopg.errors.CheckViolation):
        admin.execute("INSERT INTO public.scenarios (theme) VALUES ('space')")


def test_themes_in_an_enum_are_extended_too() -> None:
    with sync_database(migrated=False) as database:
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute(
                "ALTER TABLE public.scenarios DROP CONSTRAINT valid_theme;"
                "CREATE TYPE public.theme AS ENUM ('boardroom', 'frontier');"
                "ALTER TYPE public.theme OWNER TO sync_owner;"
                "ALTER TABLE public.scenarios ALTER theme TYPE public.theme USING theme::text"
                "::public.theme"
            )
        migrate(database.url("sync_owner"))
        with psycopg.connect(database.admin_url) as admin:
            values = admin.execute("SELECT enum_range(NULL::public.theme)::text").fetchone()
    assert values == ("{boardroom,frontier,personal}",)


def test_a_player_becomes_an_owner_and_a_stranger_does_not(
    sync: tuple[TestDatabase, dict[str, Any]],
) -> None:
    database = sync[0]
    player = uuid.UUID("aaaaaaaa-0000-4000-8000-000000000001")
    call = "SELECT judgment.ensure_owner(%s, 'https://sync.test', 'sub')"
    login = Database(database.url("judgment_authorizer"))
    with contextlib.closing(login), login.transaction() as tx:
        assert tx.value(call, (player,)) is True
        assert tx.value(call, (player,)) is True
        assert tx.value(call, (uuid.uuid4(),)) is False
    with psycopg.connect(database.admin_url) as admin:
        people = admin.execute("SELECT count(*) FROM auth.users").fetchone()
        profile = admin.execute("SELECT username FROM public.profiles WHERE id = %s", (player,))
        assert people == (2,)
        assert profile.fetchone() == ("first@example.test",)
        admin.execute("DELETE FROM judgment.owners")


def test_erasing_takes_what_is_ours_and_leaves_the_app_its_own(
    sync: tuple[TestDatabase, dict[str, Any]],
) -> None:
    database = sync[0]
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        before = _state(admin)
        player = fill(admin, sync=True)
        login = Database(database.url("judgment_owner"))
        with contextlib.closing(login), login.transaction(player) as tx:
            touched = erase_owner(tx, player)
        assert touched["auth.users"] == 0
        for table in INVENTORY:
            row = admin.execute(
                f"SELECT to_jsonb(t) FROM {table.name} t WHERE {table.condition}".encode(),
                {"user_id": player},
            ).fetchone()
            if not table.of_sync:
                assert row is None, table.name
            else:
                assert row, table.name
                assert all(row[0][name] in (None, "") for name in table.ours_on_sync), table.name
        admin.execute("DELETE FROM public.choices WHERE user_id = %s", (player,))
        admin.execute("DELETE FROM auth.users WHERE id = %s", (player,))
        assert _state(admin) == before


def test_a_table_that_is_open_to_everybody_is_refused_by_name() -> None:
    with sync_database(migrated=False) as database:
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            admin.execute("ALTER TABLE public.choices DISABLE ROW LEVEL SECURITY")
        with pytest.raises(FailedMigration, match=r"084_.*Row level security is off on .*choices"):
            migrate(database.url("sync_owner"))
        with psycopg.connect(database.admin_url, autocommit=True) as admin:
            left = admin.execute(
                "SELECT count(*) FROM pg_policies WHERE policyname LIKE 'judgment_own'"
            ).fetchone()
            assert left == (0,)
            admin.execute("ALTER TABLE public.choices ENABLE ROW LEVEL SECURITY")
        assert migrate(database.url("sync_owner")).applied[0].startswith("084_")


def test_who_does_not_own_the_tables_is_refused_and_changes_nothing() -> None:
    with sync_database(migrated=False) as database:
        with psycopg.connect(database.admin_url) as admin:
            before = _state(admin)
        with pytest.raises(FailedMigration, match="must be owner of table profiles"):
            _as_migrator(database)
        with psycopg.connect(database.admin_url) as admin:
            assert _state(admin) == before


def _as_migrator(database: TestDatabase) -> None:
    prepare(database.admin_url)
    database.server.set_role_passwords("judgment_migrate")
    migrate(database.url("judgment_migrate"))


def test_whose_tables_a_database_holds_is_known_before_and_after(
    sync: tuple[TestDatabase, dict[str, Any]], fresh_database: TestDatabase
) -> None:
    assert holds_sync_tables(sync[0].admin_url)
    assert not holds_sync_tables(fresh_database.admin_url)
    with sync_database(migrated=False) as unmigrated:
        assert holds_sync_tables(unmigrated.admin_url)
        assert not holds_sync_tables(unmigrated.server.url(dbname="postgres"))


def test_a_superuser_role_of_ours_is_refused(empty_database: TestDatabase) -> None:
    make_database(empty_database.server, "other")
    with psycopg.connect(empty_database.admin_url, autocommit=True) as admin:
        try:
            admin.execute("ALTER ROLE judgment_reader BYPASSRLS")
            with pytest.raises(FailedMigration, match="judgment_reader must be neither"):
                migrate(empty_database.admin_url)
        finally:
            admin.execute("ALTER ROLE judgment_reader NOBYPASSRLS")


def test_no_file_touches_a_sync_table_but_to_add() -> None:
    """Read off the text: no DROP of a column or table, no TRUNCATE, no DELETE, no FORCE on them."""
    allowed = re.compile(r"DELETE FROM auth\.users u WHERE u\.id = judgment\.current_owner\(\);")
    for migration in packaged_migrations():
        text = allowed.sub("", migration.text)
        for word in (r"DROP TABLE", r"DROP COLUMN", r"TRUNCATE", r"DELETE FROM", r"ALTER COLUMN"):
            assert not re.search(rf"^\s*{word}", text, re.MULTILINE), (migration.name, word)

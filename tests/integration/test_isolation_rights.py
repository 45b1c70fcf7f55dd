"""What each database role may do, and nothing else: held to the table of roles, shown by SQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import errors as pg

from judgment.db.inventory import INVENTORY
from judgment.db.roles import ROLES
from tests.integration.world import SCHEMAS

if TYPE_CHECKING:
    from tests.integration.world import World

pytestmark = pytest.mark.promise("P1-3", "P1-accept-4", "R-2", "R-18")

OUR_LOGINS = [role for role in ROLES if role.logs_in and role.name != "judgment_migrate"]


def test_what_each_role_may_write_is_what_the_table_of_roles_says(world: World) -> None:
    rows = world.admin.execute(
        """
        SELECT r.rolname, n.nspname || '.' || c.relname
          FROM pg_roles r, pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE r.rolname = ANY (%s) AND n.nspname = ANY (%s) AND c.relkind = 'r'
           AND c.relowner <> r.oid
           AND (has_any_column_privilege(r.oid, c.oid, 'INSERT, UPDATE')
                OR has_table_privilege(r.oid, c.oid, 'DELETE, TRUNCATE'))
        """,
        ([role.name for role in ROLES], list(SCHEMAS)),
    ).fetchall()
    for role in ROLES:
        if role.name == "judgment_migrate":
            continue
        expected = set(role.writes)
        if world.sync:
            expected -= {"auth.users"}
        assert {table for name, table in rows if name == role.name} == expected, role.name


def test_the_reader_can_write_nothing_anywhere(world: World) -> None:
    tables = world.admin.execute(
        "SELECT n.nspname || '.' || c.relname FROM pg_class c"
        " JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = ANY (%s) AND c.relkind = 'r'",
        (list(SCHEMAS),),
    ).fetchall()
    for (table,) in tables:
        for statement in (
            f"INSERT INTO {table} DEFAULT VALUES",
            f"DELETE FROM {table}",
            f"TRUNCATE {table}",
        ):
            outcome = world.try_as("judgment_reader", statement, owner=world.mine)
            assert outcome is pg.InsufficientPrivilege, statement
    for statement in ("CREATE TABLE public.x ()", "CREATE TABLE judgment.x ()", "CREATE SCHEMA x"):
        assert world.try_as("judgment_reader", statement) is pg.InsufficientPrivilege


def test_nobody_empties_a_table_or_makes_one(world: World) -> None:
    for role in OUR_LOGINS:
        for table in INVENTORY:
            outcome = world.try_as(role.name, f"TRUNCATE {table.name} CASCADE")
            assert outcome is pg.InsufficientPrivilege, (role.name, table.name)
        made = world.try_as(role.name, "CREATE TABLE judgment.made ()")
        assert made is pg.InsufficientPrivilege, role.name


def test_which_functions_each_role_may_call(world: World) -> None:
    rows = world.admin.execute(
        """
        SELECT r.rolname, n.nspname || '.' || p.proname
          FROM pg_roles r, pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
         WHERE r.rolname = ANY (%s) AND n.nspname IN ('judgment', 'public')
           AND has_function_privilege(r.oid, p.oid, 'EXECUTE') AND p.proowner <> r.oid
        """,
        ([role.name for role in OUR_LOGINS],),
    ).fetchall()
    plumbing = {"judgment.current_owner", "judgment.made_here"}
    theirs = {"public.handle_new_user"}  # a Sync app's trigger; calling it directly is an error
    for role in OUR_LOGINS:
        called = {function for name, function in rows if name == role.name}
        assert called - plumbing - theirs == set(role.calls), role.name


def test_the_key_functions_are_the_authorizers_alone(world: World) -> None:
    names = [role.name for role in OUR_LOGINS]
    for other in [*names, "anon", "authenticated"]:
        for function in ("public.validate_agent_api_key", "judgment.resolve_agent_api_key"):
            allowed = world.admin.execute(
                "SELECT has_schema_privilege(%(r)s, %(s)s, 'USAGE')"
                " AND has_function_privilege(%(r)s, %(f)s, 'EXECUTE')",
                {"r": other, "s": function.split(".")[0], "f": f"{function}(text)"},
            ).fetchone()
            assert allowed == (other == "judgment_authorizer",), (other, function)


def test_no_role_is_above_the_policies_or_inside_another(world: World) -> None:
    rows = world.admin.execute(
        "SELECT rolname, rolcanlogin, rolsuper OR rolbypassrls OR rolreplication OR rolcreatedb,"
        " rolcreaterole FROM pg_roles WHERE rolname LIKE 'judgment_%'"
    ).fetchall()
    assert {name for name, *_ in rows} == {role.name for role in ROLES}
    for name, logs_in, mighty, makes_roles in rows:
        role = next(role for role in ROLES if role.name == name)
        assert logs_in == role.logs_in
        assert not mighty
        assert not makes_roles or name == "judgment_migrate"
    # Since 16, who makes a role may hand it on without being inside it.
    counts = "(a.inherit_option OR a.set_option)"
    if world.admin.info.server_version < 160000:
        counts = "true"
    inside = world.admin.execute(
        f"SELECT m.rolname, g.rolname FROM pg_auth_members a"
        f" JOIN pg_roles m ON m.oid = a.member JOIN pg_roles g ON g.oid = a.roleid"
        f" WHERE (m.rolname LIKE 'judgment_%' OR g.rolname LIKE 'judgment_%') AND {counts}".encode()
    ).fetchall()
    assert inside == []


def test_each_role_has_its_limits_whoever_connects_as_it(world: World) -> None:
    for role in OUR_LOGINS:
        for setting in ("statement_timeout", "idle_in_transaction_session_timeout"):
            limit = world.try_as(role.name, f"SELECT current_setting('{setting}')::interval > '0'")
            assert limit == [(True,)], (role.name, setting)
        assert world.try_as(role.name, "SHOW search_path") == [('""',)], role.name


def test_our_tables_force_their_policies_also_on_their_owner(world: World) -> None:
    rows = world.admin.execute(
        "SELECT n.nspname || '.' || c.relname, c.relrowsecurity, c.relforcerowsecurity"
        " FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname = ANY (%s) AND c.relkind = 'r'",
        (list(SCHEMAS),),
    ).fetchall()
    bookkeeping = {"judgment.schema_migrations", "judgment.baseline_objects"}
    foreign = {
        "auth.users",
        "public.profiles",
        "public.player_decision_profiles",
        "public.choices",
        "public.scenarios",
        "public.scenario_character_names",
    }
    for name, enabled, forced in rows:
        if name in bookkeeping:
            continue
        assert enabled, name
        assert forced == (not world.sync or name not in foreign), name


def test_who_migrates_sees_nobodys_rows_in_our_own_database(world: World) -> None:
    if world.sync:
        return
    for table in INVENTORY:
        assert world.try_as("judgment_migrate", f"SELECT 1 FROM {table.name}") == [], table.name


def test_definer_functions_are_few_closed_and_owned_by_a_role_that_cannot_log_in(
    world: World,
) -> None:
    rows = world.admin.execute(
        "SELECT p.proname, r.rolname, p.proconfig FROM pg_proc p"
        " JOIN pg_namespace n ON n.oid = p.pronamespace JOIN pg_roles r ON r.oid = p.proowner"
        " WHERE n.nspname IN ('judgment', 'public') AND p.prosecdef"
        " AND p.proname <> 'handle_new_user' ORDER BY 1"
    ).fetchall()
    closed = ['search_path=""']
    assert rows == [
        ("agent_access_enabled", "judgment_definer", closed),
        ("disclose_preferences", "judgment_definer", closed),
        ("disclose_signals", "judgment_definer", closed),
        ("ensure_owner", "judgment_definer", closed),
        ("forget_owner", "judgment_definer", closed),
        ("standing_signal", "judgment_definer", closed),
    ]


def test_the_api_roles_of_a_sync_app_see_and_change_their_own_keys_only(world: World) -> None:
    tries = {
        "SELECT user_id FROM public.agent_api_keys": [(world.mine,)],
        "SELECT key_hash FROM public.agent_api_keys": pg.InsufficientPrivilege,
        "UPDATE public.agent_api_keys SET revoked_at = now()": 1,
        "UPDATE public.agent_api_keys SET scopes = '{preferences:write}'": (
            pg.InsufficientPrivilege
        ),
        "UPDATE public.agent_api_keys SET key_hash = 'mine'": pg.InsufficientPrivilege,
        "DELETE FROM public.agent_api_keys": pg.InsufficientPrivilege,
        "SELECT * FROM public.agent_feature_flags": pg.InsufficientPrivilege,
        "SELECT user_id FROM public.evaluation_snapshots": [(world.mine,)],
        "SELECT count(*) FROM public.evaluation_predictions": [(1,)],
        "DELETE FROM public.evaluation_snapshots": pg.InsufficientPrivilege,
        "SELECT * FROM judgment.decisions": pg.InsufficientPrivilege,
    }
    with psycopg.connect(world.database.admin_url) as connection:
        world.connections["authenticated"] = connection
        for statement, expected in tries.items():
            connection.execute("SET LOCAL ROLE authenticated")
            outcome = world.try_as("authenticated", statement, owner=world.mine)
            assert outcome == expected, statement
        connection.execute("SET LOCAL ROLE anon")
        seen = world.try_as("authenticated", "SELECT 1 FROM public.agent_api_keys")
        assert seen is pg.InsufficientPrivilege
        del world.connections["authenticated"]

"""No owner's row is seen or touched by another, as any role, in any table, shown by SQL.

Two people have a row in every table of the inventory; every role tries every table on behalf of
the first. The tables come from the database's own catalogue, and the exceptions from the table of
roles, so that a new table or right that neither names fails here. It all runs twice: in a database
of our own, and in a Sync app's with its policies for everybody.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import errors as pg

from judgment.db.inventory import EXEMPT, INVENTORY, OwnerTable
from judgment.db.roles import ROLES, Role
from tests.integration.world import SCHEMAS, World, people_in

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P1-3", "P1-accept-4", "R-18", "R-33")

OUR_LOGINS = [role for role in ROLES if role.logs_in and role.name != "judgment_migrate"]
EACH_ROLE = pytest.mark.parametrize("role", OUR_LOGINS, ids=lambda role: role.name)
EACH_TABLE = pytest.mark.parametrize("table", INVENTORY, ids=lambda table: table.name)


def _of(table: OwnerTable, user: uuid.UUID) -> tuple[str, dict[str, Any]]:
    return table.condition, {"user_id": user}


def _their_row(world: World, table: OwnerTable) -> dict[str, Any]:
    row = world.admin.execute(
        f"SELECT to_jsonb(t) FROM {table.name} t WHERE {table.condition}".encode(),
        {"user_id": world.theirs},
    ).fetchone()
    assert row, f"nobody has a row in {table.name}, so nothing would be shown"
    return row[0]


def test_every_table_with_an_owner_is_in_the_inventory_or_exempt(world: World) -> None:
    rows = world.admin.execute(
        """
        SELECT DISTINCT c.oid::regclass::text, a.attname
          FROM pg_class c
          JOIN pg_namespace n ON n.oid = c.relnamespace
          JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
         WHERE c.relkind IN ('r', 'p', 'm', 'v', 'f') AND n.nspname = ANY (%s)
           AND (a.attname ~ '(^|_)(user|owner|player|person)(_user)?_id$'
                OR EXISTS (SELECT 1 FROM pg_constraint k
                            WHERE k.conrelid = c.oid AND k.contype = 'f'
                              AND k.confrelid IN ('auth.users'::regclass,
                                                  'public.profiles'::regclass)
                              AND a.attnum = ANY (k.conkey)))
        """,
        (list(SCHEMAS),),
    ).fetchall()
    declared = {(table.name, table.owner) for table in INVENTORY}
    names = {name if "." in name else f"public.{name}" for name, _ in declared}
    for found, column in rows:
        name = found if "." in found else f"public.{found}"
        assert name in names or name in EXEMPT, f"{name}.{column} is in neither"
        if name in names and name != "public.evaluation_predictions":
            assert (name, column) in declared, f"{name} declares another owner than {column}"


def test_a_table_in_neither_would_be_noticed(fresh_database: TestDatabase) -> None:
    with psycopg.connect(fresh_database.admin_url, autocommit=True) as admin:
        admin.execute("CREATE TABLE judgment.forgotten (user_id uuid)")
        world = World(fresh_database, admin, uuid.uuid4(), uuid.uuid4(), {}, sync=False)
        with pytest.raises(AssertionError, match=r"judgment\.forgotten\.user_id is in neither"):
            test_every_table_with_an_owner_is_in_the_inventory_or_exempt(world)


@EACH_TABLE
@EACH_ROLE
def test_anothers_rows_are_invisible(world: World, role: Role, table: OwnerTable) -> None:
    condition, values = _of(table, world.theirs)
    for owner in (world.mine, None):
        columns = world.columns(role.name, table.name, "SELECT")
        seen = world.try_as(
            role.name, f"SELECT {columns[0] if columns else '1'} FROM {table.name}", owner=owner
        )
        if not columns:
            assert seen is pg.InsufficientPrivilege
            continue
        if table.name in role.crosses:
            continue
        everything = world.admin.execute(f"SELECT count(*) FROM {table.name}".encode()).fetchone()
        assert everything
        assert isinstance(seen, list)
        assert len(seen) < everything[0], "it sees everything there is"
        if table.owner in columns or table.whose:
            assert world.try_as(
                role.name, f"SELECT 1 FROM {table.name} WHERE {condition}", values, owner
            ) in ([], pg.InsufficientPrivilege)


@EACH_TABLE
@EACH_ROLE
def test_anothers_rows_are_unwritable(world: World, role: Role, table: OwnerTable) -> None:
    if table.name in role.crosses:
        return
    readable = world.columns(role.name, table.name, "SELECT")
    for column in world.columns("postgres", table.name, "SELECT"):
        value = column if column in readable else "DEFAULT"
        statement = f"UPDATE {table.name} SET {column} = {value}"
        for owner, most in ((world.mine, 1), (None, 0)):
            outcome = world.try_as(role.name, statement, owner=owner)
            assert outcome is pg.InsufficientPrivilege or outcome in range(most + 1), statement
    for owner, most in ((world.mine, 1), (None, 0)):
        outcome = world.try_as(role.name, f"DELETE FROM {table.name}", owner=owner)
        assert outcome is pg.InsufficientPrivilege or outcome in range(most + 1)


@EACH_TABLE
@EACH_ROLE
def test_no_row_can_be_added_for_another(world: World, role: Role, table: OwnerTable) -> None:
    row = _their_row(world, table)
    allowed = [c for c in world.columns(role.name, table.name, "INSERT") if c in row]
    listed = ", ".join(allowed or row)
    row |= {name: str(uuid.uuid4()) for name in ("id", "scenario_id") if name in row}
    if table.name in ("public.profiles", "judgment.scenario_contents", "judgment.decisions"):
        row = _their_row(world, table)
    statement = (
        f"INSERT INTO {table.name} ({listed})"
        f" SELECT {listed} FROM jsonb_populate_record(NULL::{table.name}, %(row)s::jsonb)"
    )
    outcome = world.try_as(role.name, statement, {"row": json.dumps(row)}, owner=world.mine)
    if table.name in role.crosses and allowed:
        return
    assert outcome is pg.InsufficientPrivilege


@EACH_TABLE
def test_an_owner_reaches_their_own_row(world: World, table: OwnerTable) -> None:
    """Without this the rest could pass by nobody seeing anything."""
    condition, values = _of(table, world.mine)
    columns = world.columns("judgment_owner", table.name, "SELECT")
    seen = world.try_as(
        "judgment_owner",
        f"SELECT {', '.join(columns)} FROM {table.name} WHERE {condition}",
        values,
        owner=world.mine,
    )
    assert isinstance(seen, list)
    assert len(seen) == 1


def test_a_row_cannot_be_handed_to_another(world: World) -> None:
    for table in INVENTORY:
        if "." in table.owner:
            continue
        outcome = world.try_as(
            "judgment_owner",
            f"UPDATE {table.name} SET {table.owner} = %(other)s",
            {"other": world.theirs},
            owner=world.mine,
        )
        assert outcome is pg.InsufficientPrivilege, table.name


def test_no_row_can_hang_on_anothers_row(fresh_database: TestDatabase) -> None:
    """Foreign keys see every row, so a policy of the row that hangs must ask whose the other is."""
    refused = pg.InsufficientPrivilege
    for world in people_in(fresh_database, sync=False):
        people = {"me": world.mine, "them": world.theirs}
        made = {name: uuid.uuid4() for name in ("mine", "theirs", "nobodys", "choice", "taken")}
        world.admin.execute(
            "INSERT INTO public.scenarios (id, theme, category, personalized_for_user_id) VALUES"
            " (%(mine)s, 'personal', 'governance', %(me)s), (%(nobodys)s, 'court', 'governance',"
            " NULL), (%(theirs)s, 'personal', 'governance', %(them)s)",
            {**made, **people},
        )
        for scenario, outcome in (("mine", 1), ("theirs", refused), ("nobodys", refused)):
            contents = (
                "INSERT INTO judgment.scenario_contents (scenario_id, owner_user_id, title,"
                " options) VALUES (%(scenario)s, %(me)s, 'Mine now', '[]')"
            )
            values = {"scenario": made[scenario], **people}
            found = world.try_as("judgment_owner", contents, values, owner=world.mine)
            assert found == outcome, scenario
        world.admin.execute(
            "INSERT INTO public.choices (id, user_id)"
            " VALUES (%(choice)s, %(me)s), (%(taken)s, %(them)s)",
            {**made, **people},
        )
        table = next(entry for entry in INVENTORY if entry.name == "judgment.decisions")
        theirs = _their_row(world, table)
        copied = (
            f"INSERT INTO judgment.decisions ({', '.join(table.columns)})"
            f" SELECT {', '.join(table.columns)}"
            " FROM jsonb_populate_record(NULL::judgment.decisions, %(row)s::jsonb)"
        )
        own = {**theirs, "id": str(made["choice"]), "user_id": str(world.mine)}
        for row, outcome in (
            (own, 1),
            ({**own, "id": str(made["taken"])}, refused),
            ({**own, "retest_of": theirs["id"]}, refused),
        ):
            values = {"row": json.dumps(row)}
            assert world.try_as("judgment_owner", copied, values, owner=world.mine) == outcome


@pytest.mark.parametrize(
    ("mistake", "table", "notices"),
    [
        (
            "CREATE POLICY leak ON judgment.decisions FOR SELECT USING (true)",
            "judgment.decisions",
            test_anothers_rows_are_invisible,
        ),
        (
            "CREATE POLICY leak ON judgment.decisions FOR DELETE USING (true);"
            "CREATE POLICY leak2 ON judgment.decisions FOR SELECT USING (true)",
            "judgment.decisions",
            test_anothers_rows_are_unwritable,
        ),
        (
            "CREATE POLICY leak ON judgment.outbox FOR INSERT WITH CHECK (true)",
            "judgment.outbox",
            test_no_row_can_be_added_for_another,
        ),
        (
            "ALTER TABLE public.profiles DISABLE ROW LEVEL SECURITY",
            "public.profiles",
            test_anothers_rows_are_invisible,
        ),
    ],
)
def test_a_mistake_in_a_policy_would_be_noticed(
    fresh_database: TestDatabase, mistake: str, table: str, notices: Callable[..., None]
) -> None:
    role = next(role for role in ROLES if role.name == "judgment_owner")
    row = next(entry for entry in INVENTORY if entry.name == table)
    for world in people_in(fresh_database, sync=False):
        notices(world, role, row)
        world.admin.execute(mistake.encode())
        with pytest.raises(AssertionError):
            notices(world, role, row)


def test_the_exceptions_are_needed(world: World) -> None:
    """Each table that a role crosses is one where it does see or change another's row."""
    for role in OUR_LOGINS:
        for name in role.crosses:
            table = next((t for t in INVENTORY if t.name == name), None)
            if table is None:
                continue
            columns = world.columns(role.name, name, "SELECT")
            seen = world.try_as(role.name, f"SELECT {columns[0]} FROM {name}")
            assert isinstance(seen, list), (role.name, name)
            assert len(seen) >= 2, (role.name, name)


def test_the_inventory_accounts_for_every_column(fresh_database: TestDatabase) -> None:
    with psycopg.connect(fresh_database.admin_url) as admin:
        for table in INVENTORY:
            rows = admin.execute(
                "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0"
                " AND NOT attisdropped",
                (table.name,),
            ).fetchall()
            there = {name for (name,) in rows}
            if table.columns == ("*",):
                continue
            assert there == set(table.columns) | set(table.withheld), table.name
            assert not set(table.columns) & set(table.withheld), table.name


def test_the_reasons_are_sentences() -> None:
    for role in ROLES:
        for reason in role.crosses.values():
            assert re.fullmatch(r"[A-Z].{10,}\.", reason)
    for reason in EXEMPT.values():
        assert re.fullmatch(r"[A-Z].{10,}\.", reason)

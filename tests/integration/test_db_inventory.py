"""Export returns everything that the inventory lists, and erasing leaves nothing of it."""

from __future__ import annotations

import contextlib
import json
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgment.db.connection import Database
from judgment.db.inventory import INVENTORY, OwnerTable, erase_owner, export_page
from judgment.kit.errors import InvalidRequest
from tests.integration.owner_rows import fill

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P1-accept-6", "R-33", "R-36")

LATER = datetime(2999, 1, 1, tzinfo=UTC)
EACH_TABLE = pytest.mark.parametrize("table", INVENTORY, ids=lambda table: table.name)


@pytest.fixture
def admin(module_database: TestDatabase) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(module_database.admin_url, autocommit=True) as connection:
        yield connection


@contextlib.contextmanager
def acting(database: TestDatabase, owner: uuid.UUID) -> Iterator[Transaction]:
    login = Database(database.url("judgment_owner"))
    with contextlib.closing(login), login.transaction(owner) as tx:
        yield tx


def everything(
    tx: Transaction, table: OwnerTable, owner: uuid.UUID, as_of: datetime = LATER, limit: int = 2
) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    after: str | None = None
    while page := export_page(tx, table, owner, as_of=as_of, after=after, limit=limit):
        assert len(page) <= limit
        rows += [json.loads(exported.row) for exported in page]
        after = page[-1].key
    return rows


@EACH_TABLE
def test_each_table_is_exported_with_what_is_listed_and_the_owners_rows_alone(
    module_database: TestDatabase, admin: psycopg.Connection[Any], table: OwnerTable
) -> None:
    mine, _ = fill(admin), fill(admin)
    with acting(module_database, mine) as tx:
        rows = everything(tx, table, mine)
    stored = admin.execute(
        f"SELECT to_jsonb(t) FROM {table.name} t WHERE {table.condition}".encode(),
        {"user_id": mine},
    ).fetchone()
    assert stored
    wanted = {k: v for k, v in stored[0].items() if k not in table.withheld}
    assert rows == [wanted]


@EACH_TABLE
def test_asking_for_anothers_rows_gives_none(
    module_database: TestDatabase, admin: psycopg.Connection[Any], table: OwnerTable
) -> None:
    mine, theirs = fill(admin), fill(admin)
    with acting(module_database, mine) as tx:
        assert everything(tx, table, theirs) == []


@settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck))
@given(count=st.integers(0, 17), limit=st.integers(1, 7))
def test_pages_hold_every_row_once_whatever_their_size(
    module_database: TestDatabase, count: int, limit: int
) -> None:
    table = next(t for t in INVENTORY if t.name == "judgment.idempotency_keys")
    with psycopg.connect(module_database.admin_url, autocommit=True) as admin:
        owner = uuid.uuid4()
        admin.execute("INSERT INTO auth.users (id) VALUES (%s)", (owner,))
        admin.cursor().executemany(
            "INSERT INTO judgment.idempotency_keys VALUES (%s, %s, %s, '0', 200, NULL, now())",
            [(owner, f"key-{n}", f"ROUTE {n % 3}") for n in range(count)],
        )
    with acting(module_database, owner) as tx:
        rows = everything(tx, table, owner, limit=limit)
    assert len(rows) == count
    assert {row["key"] for row in rows} == {f"key-{n}" for n in range(count)}


def test_rows_that_came_after_the_export_began_are_left_out(
    module_database: TestDatabase, admin: psycopg.Connection[Any]
) -> None:
    owner = fill(admin)
    with acting(module_database, owner) as tx:
        began = tx.value("SELECT now()") - timedelta(hours=1)
        dated = [table for table in INVENTORY if table.since]
        one_row = {"judgment.profile_state", "judgment.owners", "judgment.summary_state"}
        one_row |= {"judgment.owner_models", "judgment.personal_context_state"}
        one_row |= {"public.player_decision_profiles", "public.profiles"}
        one_row |= {"judgment.preference_state"}
        derived = {"judgment.profile_accumulators", "judgment.profile_marks"}
        derived |= {"judgment.preference_documents", "judgment.memory_files"}
        undated = {table.name for table in INVENTORY} - {table.name for table in dated}
        assert undated == one_row | derived
        for table in dated:
            assert everything(tx, table, owner, as_of=began) == [], table.name


@pytest.mark.parametrize("after", ["no uuid", "x\x00y", ""])
def test_a_key_that_is_none_is_the_callers_mistake(
    module_database: TestDatabase, admin: psycopg.Connection[Any], after: str
) -> None:
    owner, table = fill(admin), INVENTORY[0]
    with pytest.raises(InvalidRequest), acting(module_database, owner) as tx:
        export_page(tx, table, owner, as_of=LATER, after=after, limit=1)


def test_erasing_leaves_nothing_and_touches_nobody_else(
    module_database: TestDatabase, admin: psycopg.Connection[Any]
) -> None:
    mine, theirs = fill(admin), fill(admin)
    archived = uuid.uuid4()  # as seeded: no owner on the scenario, one on its contents
    admin.execute(
        "INSERT INTO public.scenarios (id, theme, category)"
        " VALUES (%s, 'custom', 'resource-allocation')",
        (archived,),
    )
    admin.execute(
        "INSERT INTO judgment.scenario_contents (scenario_id, owner_user_id, title, options,"
        " archived) VALUES (%s, %s, 't', '[]', true)",
        (archived, mine),
    )
    before = _everywhere(admin, theirs)
    with acting(module_database, mine) as tx:
        touched = erase_owner(tx, mine)
    assert set(touched) == {table.name for table in INVENTORY} | {"auth.users"}
    assert touched["public.scenarios"] == 2
    assert touched["auth.users"] == 1
    assert _everywhere(admin, mine) == {table.name: [] for table in INVENTORY}
    assert _mentions(admin, mine) == []
    assert _everywhere(admin, theirs) == before
    gone = admin.execute("SELECT 1 FROM public.scenarios WHERE id = %s", (archived,)).fetchone()
    assert gone is None
    with acting(module_database, mine) as tx:
        assert set(erase_owner(tx, mine).values()) == {0}


def test_an_erasure_on_behalf_of_another_is_refused(
    module_database: TestDatabase, admin: psycopg.Connection[Any]
) -> None:
    mine, theirs = fill(admin), fill(admin)
    before = _everywhere(admin, mine), _everywhere(admin, theirs)
    with pytest.raises(ValueError, match="another"), acting(module_database, mine) as tx:
        erase_owner(tx, theirs)
    assert (_everywhere(admin, mine), _everywhere(admin, theirs)) == before


def _everywhere(admin: psycopg.Connection[Any], owner: uuid.UUID) -> dict[str, list[Any]]:
    return {
        table.name: admin.execute(
            f"SELECT to_jsonb(t) FROM {table.name} t WHERE {table.condition}".encode(),
            {"user_id": owner},
        ).fetchall()
        for table in INVENTORY
    }


def _mentions(admin: psycopg.Connection[Any], owner: uuid.UUID) -> list[str]:
    """Tables with the owner's id anywhere in a row, listed or not."""
    tables = admin.execute(
        "SELECT n.nspname || '.' || c.relname FROM pg_class c"
        " JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE n.nspname IN ('public', 'judgment', 'auth') AND c.relkind = 'r'"
    ).fetchall()
    return [
        table
        for (table,) in tables
        if admin.execute(
            f"SELECT 1 FROM {table} t WHERE to_jsonb(t)::text LIKE %s LIMIT 1".encode(),
            (f"%{owner}%",),
        ).fetchone()
    ]

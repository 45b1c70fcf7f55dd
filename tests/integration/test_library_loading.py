"""The library in a real database: once, again, at the same time, changed, gone and back."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import psycopg
import pytest

from infra.local.database import StackDatabase, prepare
from judgment.db.connection import Database
from judgment.scenarios.library.reading import read_library
from judgment.scenarios.loading import LoadCounts, load, load_into
from judgment.scenarios.model import Scenario, scenario_from_row
from tests.integration.sync_app import sync_database

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("000-14-content", "P2-2-loader")
ROWS = """
SELECT c.*, s.theme, s.category FROM judgment.scenario_contents c
  JOIN public.scenarios s ON s.id = c.scenario_id ORDER BY c.scenario_id
"""


@pytest.fixture
def admin(fresh_database: TestDatabase) -> Iterator[psycopg.Connection[Any]]:
    """A superuser's connection."""
    with psycopg.connect(fresh_database.admin_url, autocommit=True) as connection:
        yield connection


def loaded(database: TestDatabase, library: Sequence[Scenario]) -> LoadCounts:
    """Load as a deployment does, committed."""
    login = Database(database.url("judgment_migrate"))
    with closing(login), login.transaction() as tx:
        return load(tx, library)


def rows(admin: psycopg.Connection[Any]) -> list[dict[str, Any]]:
    """All that is stored of scenarios."""
    cursor = admin.cursor(row_factory=psycopg.rows.dict_row)
    return cursor.execute(ROWS).fetchall()


def test_the_packaged_library_is_loaded_once_and_then_left_alone(
    fresh_database: TestDatabase, admin: psycopg.Connection[Any]
) -> None:
    library = read_library()
    url = fresh_database.url("judgment_migrate")
    assert load_into(url) == LoadCounts(inserted=len(library))
    before = rows(admin)
    found = {s.id: s for s in map(scenario_from_row, before) if s is not None}
    assert found == {s.id: s for s in library}
    assert load_into(url) == LoadCounts(unchanged=len(library))
    assert rows(admin) == before


def test_changed_text_theme_and_links_are_written_over_and_the_id_stays(
    fresh_database: TestDatabase, admin: psycopg.Connection[Any]
) -> None:
    first, second, *rest = read_library()
    loaded(fresh_database, [first, second, *rest])
    renamed = replace(first, title="Another title")
    moved = replace(second, theme="underground", category="team-dynamics")
    counts = loaded(fresh_database, [renamed, moved, *rest])
    assert counts == LoadCounts(updated=2, unchanged=len(rest))
    found = {row["scenario_id"]: scenario_from_row(row) for row in rows(admin)}
    assert found[first.id] == renamed
    assert found[second.id] == moved
    assert len(found) == len(rest) + 2


def test_what_is_gone_is_archived_with_its_decisions_and_served_again_when_it_returns(
    fresh_database: TestDatabase, admin: psycopg.Connection[Any]
) -> None:
    first, *rest = read_library()
    loaded(fresh_database, [first, *rest])
    kept = rows(admin)
    assert loaded(fresh_database, rest) == LoadCounts(archived=1, unchanged=len(rest))
    assert [r["scenario_id"] for r in rows(admin) if r["archived"]] == [first.id]
    assert loaded(fresh_database, rest) == LoadCounts(unchanged=len(rest))
    assert loaded(fresh_database, [first, *rest]) == LoadCounts(updated=1, unchanged=len(rest))
    assert rows(admin) == kept


def test_what_is_not_of_the_library_is_never_touched(
    fresh_database: TestDatabase, admin: psycopg.Connection[Any]
) -> None:
    owner, mine, seeded = uuid4(), uuid4(), uuid4()
    admin.execute("INSERT INTO auth.users (id) VALUES (%s)", (owner,))
    _put(admin, mine, "personal", owner)
    _put(admin, seeded, "custom", None)
    before = rows(admin)
    loaded(fresh_database, read_library())
    loaded(fresh_database, [])
    assert [row for row in rows(admin) if row["library_key"] is None] == before


def _put(admin: psycopg.Connection[Any], scenario: UUID, theme: str, owner: UUID | None) -> None:
    admin.execute(
        "INSERT INTO public.scenarios (id, theme, category, personalized_for_user_id)"
        " VALUES (%s, %s, 'governance', %s)",
        (scenario, theme, owner),
    )
    admin.execute(
        "INSERT INTO judgment.scenario_contents (scenario_id, owner_user_id, title, options)"
        " VALUES (%s, %s, 'Mine', '[]')",
        (scenario, owner),
    )


def test_a_load_that_fails_leaves_nothing_behind(
    fresh_database: TestDatabase, admin: psycopg.Connection[Any]
) -> None:
    good = read_library()
    unstorable = replace(good[-1], description="A NUL \x00 in the text, which Postgres refuses.")
    with pytest.raises(Exception, match=r"."):
        loaded(fresh_database, [*good[:-1], unstorable])
    assert rows(admin) == []


def test_loads_at_the_same_moment_take_turns(
    fresh_database: TestDatabase, admin: psycopg.Connection[Any]
) -> None:
    library = read_library()
    start = threading.Barrier(4)

    def one(_: int) -> LoadCounts:
        start.wait()
        return loaded(fresh_database, library)

    with ThreadPoolExecutor(4) as pool:
        counts = sorted(pool.map(one, range(4)), key=lambda c: -c.inserted)
    assert counts == [LoadCounts(len(library)), *[LoadCounts(unchanged=len(library))] * 3]
    assert len(rows(admin)) == len(library)


def test_an_older_and_a_newer_loader_leave_one_of_the_two_libraries(
    fresh_database: TestDatabase, admin: psycopg.Connection[Any]
) -> None:
    older = read_library()
    newer = [replace(s, title=f"{s.title[:100]} anew") for s in older[1:]]
    loaded(fresh_database, older)
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda lib: loaded(fresh_database, lib), (older, newer)))
    served = {s.title for s in map(scenario_from_row, rows(admin)) if s and not s.archived}
    assert served in ({s.title for s in older}, {s.title for s in newer})


def test_owners_see_the_library_and_cannot_change_it(fresh_database: TestDatabase) -> None:
    library = read_library()
    loaded(fresh_database, library)
    owner = Database(fresh_database.url("judgment_owner"))
    with closing(owner):
        with owner.transaction(uuid4()) as tx:
            assert tx.value("SELECT count(*) FROM judgment.scenario_contents") == len(library)
            assert tx.value("SELECT count(*) FROM public.scenarios") == len(library)
        with owner.transaction(uuid4()) as tx:
            assert tx.execute("DELETE FROM judgment.scenario_contents") == 0
            assert tx.execute("DELETE FROM public.scenarios") == 0


@pytest.mark.promise("R-36")
@pytest.mark.parametrize("required", [False, True])
def test_a_sync_apps_scenarios_are_left_alone_and_it_is_said_why(required: bool) -> None:
    with (
        sync_database(migrated=True) as database,
        psycopg.connect(database.admin_url, autocommit=True) as admin,
    ):
        if required:
            admin.execute("ALTER TABLE public.scenarios ADD COLUMN author text")
            admin.execute("UPDATE public.scenarios SET author = 'Sync'")
            admin.execute("ALTER TABLE public.scenarios ALTER author SET NOT NULL")
        before = admin.execute("SELECT to_jsonb(s) FROM public.scenarios s").fetchall()
        counts = load_into(database.url("sync_owner"))
        assert counts == LoadCounts(skipped=counts.skipped)
        assert counts.skipped is not None
        assert "title, description, options, is_published" in counts.skipped
        assert ("no row without author" in counts.skipped) == required
        after = admin.execute("SELECT to_jsonb(s) FROM public.scenarios s").fetchall()
        contents = admin.execute("SELECT FROM judgment.scenario_contents").fetchall()
    assert after == before
    assert contents == []


def test_the_local_stack_has_the_library_before_it_serves(fresh_database: TestDatabase) -> None:
    def ended() -> None:
        """The server is not this stack's to stop."""

    said: list[str] = []
    stack = StackDatabase(fresh_database.admin_url, fresh_database.url, ended, ended)
    prepare(stack, said.append)
    prepare(stack, said.append)
    assert said == [str(LoadCounts(inserted=len(read_library())))]

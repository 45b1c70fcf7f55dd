"""A deployment's migration, against an empty database and a finished one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from functions.migrate.handler import build
from judgment.db.connection import connection_string
from judgment.db.migrate import packaged_migrations, prepare
from judgment.entry.observability import Telemetry
from judgment.scenarios.library.reading import read_library
from tests.integration.sync_app import sync_database

if TYPE_CHECKING:
    from tests.databases import TestDatabase


@pytest.mark.promise("P1-3", "R-36")
def test_an_empty_database_is_brought_up_to_date_and_the_second_time_left_alone(
    empty_database: TestDatabase, capsys: pytest.CaptureFixture[str]
):
    prepare(empty_database.admin_url)
    empty_database.server.set_role_passwords("judgment_migrate")
    url = empty_database.url("judgment_migrate")
    door = build(lambda: connection_string(url), Telemetry("migrate"))
    names = [migration.name for migration in packaged_migrations()]
    size = len(read_library())
    first, second = door({}, None), door({}, None)
    assert (first["applied"], first["already"]) == (names, 0)
    assert (second["applied"], second["already"]) == ([], len(names))
    counts = {"inserted": 0, "updated": 0, "archived": 0, "unchanged": 0, "skipped": None}
    assert first["library"] == {**counts, "inserted": size}
    assert second["library"] == {**counts, "unchanged": size}
    assert f"library: {size} added" in capsys.readouterr().out


@pytest.mark.promise("R-36")
def test_a_sync_apps_database_is_migrated_though_the_library_is_not_loaded(
    capsys: pytest.CaptureFixture[str],
):
    with sync_database(migrated=False) as database:
        url = database.url("sync_owner")
        told = build(lambda: connection_string(url), Telemetry("migrate"))({}, None)
    assert told["applied"]
    assert told["library"]["inserted"] == 0
    assert "is_published" in told["library"]["skipped"]
    assert "library not loaded: public.scenarios" in capsys.readouterr().out


def test_a_database_that_cannot_be_reached_fails_the_deployment_and_says_why(
    capsys: pytest.CaptureFixture[str],
):
    url = "postgresql://judgment_migrate:s3cr3t@127.0.0.1:1/judgment"
    door = build(lambda: connection_string(url), Telemetry("migrate"))
    with pytest.raises(Exception, match="refused"):
        door({}, None)
    printed = capsys.readouterr().out
    assert '"message":"migration"' in printed
    assert "s3cr3t" not in printed

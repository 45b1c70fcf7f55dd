"""A deployment's migration, against an empty database and a finished one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from functions.migrate.handler import build
from judgment.db.connection import connection_string
from judgment.db.migrate import packaged_migrations, prepare
from judgment.entry.observability import Telemetry

if TYPE_CHECKING:
    from tests.databases import TestDatabase


@pytest.mark.promise("P1-3", "R-36")
def test_an_empty_database_is_brought_up_to_date_and_the_second_time_left_alone(
    empty_database: TestDatabase,
):
    prepare(empty_database.admin_url)
    empty_database.server.set_role_passwords("judgment_migrate")
    url = empty_database.url("judgment_migrate")
    door = build(lambda: connection_string(url), Telemetry("migrate"))
    names = [migration.name for migration in packaged_migrations()]
    assert door({}, None) == {"applied": names, "already": 0}
    assert door({}, None) == {"applied": [], "already": len(names)}


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

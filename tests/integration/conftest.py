"""The two worlds in which isolation is shown: a database of our own, and a Sync app's."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.integration.sync_app import sync_database
from tests.integration.world import World, people_in


@pytest.fixture(scope="module", params=["ours", "sync"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "ours":
        yield from people_in(request.getfixturevalue("module_database"), sync=False)
    else:
        with sync_database(migrated=True) as database:
            yield from people_in(database, sync=True)

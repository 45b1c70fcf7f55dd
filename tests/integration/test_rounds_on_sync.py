"""In a Sync app's own database: its owners play there, and we take note of what they decided."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import pytest

from judgment.contract.rounds import DecisionRequest
from judgment.db.connection import Database
from judgment.kit.errors import Conflict
from judgment.scenarios.intake import DecisionIntake
from judgment.scenarios.ports import Summaries
from judgment.summary.moves import request_if_moved
from judgment.summary.wakeups import wake
from tests.fakes.bus import FakeQueue
from tests.fakes.people import run_as_admin
from tests.fakes.rounds import Table, everything_of, rows, scenario, store_scenario
from tests.functions.test_decision_intake import message
from tests.integration.sync_app import sync_database

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("R-22", "R-24-intake", "R-36", "P2-3-intake")

PLAYER = uuid.UUID("aaaaaaaa-0000-4000-8000-000000000001")


@pytest.fixture(scope="module")
def sync() -> Iterator[TestDatabase]:
    """A Sync app's database, migrated by its owner, with two players."""
    with sync_database(migrated=True) as database:
        yield database


@pytest.fixture
def table(sync: TestDatabase) -> Iterator[Table]:
    made = Table(sync)
    yield made
    made.close()


def test_who_has_a_profile_there_plays_there(sync: TestDatabase, table: Table):
    made = store_scenario(sync)
    before = everything_of(sync, PLAYER)
    with pytest.raises(Conflict, match="Sync app"):
        table.rounds.next(PLAYER, None)
    request = DecisionRequest(scenario_id=made.id, option_id="open")
    with pytest.raises(Conflict, match="Sync app"):
        table.rounds.record(PLAYER, request, "k", "c")
    assert everything_of(sync, PLAYER) == before


def test_who_has_none_yet_plays_there_as_well(sync: TestDatabase, table: Table):
    """Their choices have columns of the app's, which only the app can fill."""
    newcomer = uuid.uuid4()
    run_as_admin(sync, "INSERT INTO auth.users (id, email) VALUES (%s, %s)", newcomer, "n@x.test")
    run_as_admin(sync, "UPDATE public.profiles SET sync_score = 0 WHERE id = %s", newcomer)
    made = store_scenario(sync, scenario(theme="personal", owner_user_id=newcomer))
    before = everything_of(sync, newcomer)
    request = DecisionRequest(scenario_id=made.id, option_id="open")
    with pytest.raises(Conflict, match="Sync app"):
        table.rounds.record(newcomer, request, "k", "c")
    assert everything_of(sync, newcomer) == before


def test_a_decision_made_there_is_counted_and_its_profile_left_alone(sync: TestDatabase):
    queue, worker = FakeQueue(), Database(sync.url("judgment_worker"))
    asking = Summaries(request_if_moved, partial(wake, queue))
    intake = DecisionIntake(worker.transaction, asking)
    before = everything_of(sync, PLAYER)["public.player_decision_profiles"]
    told = json.dumps(message(PLAYER))
    assert intake.take(told) is True
    assert intake.take(told) is False
    worker.close()
    assert everything_of(sync, PLAYER)["public.player_decision_profiles"] == before
    assert rows(
        sync, "SELECT count(*) FROM judgment.missing_snapshots WHERE user_id = %s", PLAYER
    ) == [(1,)]
    assert len(queue.sent) == 1

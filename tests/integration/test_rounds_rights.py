"""An owner's rounds hang on rows of their own, whatever a statement as their role says."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psycopg
import pytest
from psycopg import errors as pg

from judgment.contract.rounds import DecisionRequest
from judgment.db.connection import Database
from judgment.kit.errors import NotFound
from tests.fakes.people import make_owner, run_as_admin
from tests.fakes.rounds import Table, rows, scenario, store_scenario

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P2-refuse-decision", "R-18", "P1-accept-4")


@dataclass
class Two:
    """Two owners at one table: what each has decided and was shown."""

    table: Table
    mine: uuid.UUID
    theirs: uuid.UUID
    my_decision: uuid.UUID
    their_decision: uuid.UUID
    open_to_me: uuid.UUID
    open_to_them: uuid.UUID

    def as_me(self, statement: str, *params: object) -> int:
        """Rows touched by a statement as my role, which is undone."""
        url = self.table.database.url("judgment_owner")
        with psycopg.connect(url) as connection:
            connection.execute(
                "SELECT set_config('request.jwt.claim.sub', %s, true)", (str(self.mine),)
            )
            touched = connection.execute(statement.encode(), params).rowcount
            connection.rollback()
        return touched


@pytest.fixture(scope="module")
def two(module_database: TestDatabase) -> Iterator[Two]:
    table = Table(module_database)
    people = [make_owner(module_database) for _ in range(2)]
    played = store_scenario(module_database)
    request = DecisionRequest(scenario_id=played.id, option_id="open")
    decisions = [table.rounds.record(who, request, None, "c").decision_id for who in people]
    shown = store_scenario(module_database)
    for who in people:
        assert table.rounds.next(who, None).id == shown.id
    servings = [
        rows(
            module_database,
            "SELECT id FROM judgment.servings WHERE user_id = %s AND decision_id IS NULL",
            who,
        )[0][0]
        for who in people
    ]
    yield Two(table, *people, *decisions, *servings)
    table.close()


def test_a_serving_of_somebody_else_cannot_be_seen_touched_or_closed(two: Two):
    for statement in (
        "SELECT FROM judgment.servings WHERE id = %s",
        "UPDATE judgment.servings SET served_at = now() WHERE id = %s",
        "DELETE FROM judgment.servings WHERE id = %s",
    ):
        assert two.as_me(statement, two.open_to_them) == 0
        assert two.as_me(statement, two.open_to_me) == 1
    close = "UPDATE judgment.servings SET decision_id = %s WHERE id = %s"
    assert two.as_me(close, two.my_decision, two.open_to_them) == 0


def test_a_round_cannot_be_closed_by_anothers_decision(two: Two):
    close = "UPDATE judgment.servings SET decision_id = %s WHERE id = %s"
    assert two.as_me(close, two.my_decision, two.open_to_me) == 1
    with pytest.raises(pg.InsufficientPrivilege):
        two.as_me(close, two.their_decision, two.open_to_me)


@pytest.mark.parametrize("column", ["retest_of", "outcome_of", "decision_id"])
def test_a_serving_points_at_decisions_of_its_owner_only(two: Two, column: str):
    fresh = store_scenario(two.table.database)
    serve = (
        f"INSERT INTO judgment.servings (id, user_id, scenario_id, served_at, {column})"
        " VALUES (gen_random_uuid(), %s, %s, now(), %s)"
    )
    assert two.as_me(serve, two.mine, fresh.id, two.my_decision) == 1
    with pytest.raises(pg.InsufficientPrivilege):
        two.as_me(serve, two.mine, fresh.id, two.their_decision)
    with pytest.raises(pg.InsufficientPrivilege):
        two.as_me(serve, two.theirs, fresh.id, None)


def test_nobody_is_served_a_round_made_for_another(two: Two):
    made = scenario(theme="personal", owner_user_id=two.theirs)
    store_scenario(two.table.database, made)
    serve = (
        "INSERT INTO judgment.servings (id, user_id, scenario_id, served_at)"
        " VALUES (gen_random_uuid(), %s, %s, now())"
    )
    with pytest.raises(pg.InsufficientPrivilege):
        two.as_me(serve, two.mine, made.id)


@pytest.mark.parametrize("column", ["retest_of", "outcome_of"])
def test_a_decision_points_at_decisions_of_its_owner_only(two: Two, column: str):
    table, made = two.table, uuid.uuid4()
    run_as_admin(
        table.database, "INSERT INTO public.choices (id, user_id) VALUES (%s, %s)", made, two.mine
    )
    decide = (
        "INSERT INTO judgment.decisions (id, user_id, scenario_id, scenario_title, category, theme,"
        f" options, chosen_option_id, chosen_label, source, recorded_at, {column})"
        " VALUES (%s, %s, gen_random_uuid(), 't', 'governance', 'court', '[]', 'a', 'A',"
        " 'judgment', now(), %s)"
    )
    assert two.as_me(decide, made, two.mine, two.my_decision) == 1
    with pytest.raises(pg.InsufficientPrivilege):
        two.as_me(decide, made, two.mine, two.their_decision)
    with pytest.raises(pg.InsufficientPrivilege):
        two.as_me(decide, two.their_decision, two.mine, None)


def test_a_snapshot_hangs_on_a_decision_of_its_owner_only(two: Two):
    freeze = "INSERT INTO public.evaluation_snapshots (choice_id, user_id) VALUES (%s, %s)"
    assert two.as_me(freeze, two.my_decision, two.mine) == 1
    for choice, who in ((two.their_decision, two.mine), (two.my_decision, two.theirs)):
        with pytest.raises(pg.InsufficientPrivilege):
            two.as_me(freeze, choice, who)


@pytest.mark.parametrize("moment", ["infinity", "-infinity"])
def test_a_decision_is_made_at_a_moment_that_there_is(two: Two, moment: str):
    with pytest.raises(pg.CheckViolation, match="decisions_recorded_at_finite"):
        run_as_admin(
            two.table.database,
            "UPDATE judgment.decisions SET recorded_at = %s WHERE id = %s",
            moment,
            two.my_decision,
        )


def test_answering_what_another_was_shown_does_not_close_it_for_them(two: Two):
    """The same canonical round is open to both; each closes their own."""
    table = two.table
    ((scenario_id,),) = rows(
        table.database, "SELECT scenario_id FROM judgment.servings WHERE id = %s", two.open_to_me
    )
    request = DecisionRequest(scenario_id=scenario_id, option_id="shut")
    table.rounds.record(two.mine, request, None, "c")
    assert rows(
        table.database,
        "SELECT decision_id IS NULL FROM judgment.servings WHERE id IN (%s, %s)"
        " ORDER BY decision_id IS NULL",
        two.open_to_me,
        two.open_to_them,
    ) == [(False,), (True,)]


def test_the_use_cases_do_not_lean_on_row_policies_alone(module_database: TestDatabase):
    """As the superuser, past every policy, another's round is still not to be had."""
    mine, theirs = (make_owner(module_database) for _ in range(2))
    made = scenario(theme="personal", owner_user_id=theirs)
    store_scenario(module_database, made)
    table = Table(module_database, postgres=Database(module_database.admin_url))
    with pytest.raises(NotFound):
        table.rounds.scenario(mine, made.id)
    assert table.rounds.scenario(theirs, made.id).id == made.id
    table.close()

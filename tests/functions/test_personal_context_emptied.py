"""Emptying personal context is deleting it: what goes with it, and what stays (ruling 4)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import psycopg
import pytest

from judgment.kit.hashing import sha256_hex
from tests.fakes.diary import Diary
from tests.fakes.people import decide, make_owner, run_as_admin

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P2-6", "000-7-delete", "R-4")


@pytest.fixture
def h(module_database: TestDatabase) -> Iterator[Diary]:
    harness = Diary(module_database)
    yield harness
    harness.postgres.close()


@pytest.fixture
def who(h: Diary) -> uuid.UUID:
    return make_owner(h.database)


def personal_round(h: Diary, who: uuid.UUID) -> uuid.UUID:
    """A stored personal round, shown to its owner."""
    scenario = uuid.uuid4()
    for statement in (
        "INSERT INTO public.scenarios (id, theme, category, personalized_for_user_id)"
        " VALUES (%s, 'personal', 'governance', %s)",
        "INSERT INTO judgment.scenario_contents (scenario_id, owner_user_id, title, options)"
        " VALUES (%s, %s, 'The bakery on the corner', '[]')",
        "INSERT INTO judgment.servings (id, scenario_id, user_id, served_at)"
        " VALUES (gen_random_uuid(), %s, %s, now())",
    ):
        run_as_admin(h.database, statement, scenario, who)
    return scenario


def snapshot(h: Diary, who: uuid.UUID, text: str, digest: str | None = None) -> uuid.UUID:
    """A snapshot with a prediction on the owner's latest decision."""
    made = uuid.uuid4()
    run_as_admin(
        h.database,
        "INSERT INTO public.evaluation_snapshots (id, choice_id, user_id,"
        " personal_context_snapshot, personal_context_sha256)"
        " SELECT %s, id, user_id, %s, %s FROM public.choices WHERE user_id = %s LIMIT 1",
        made,
        text,
        digest,
        who,
    )
    run_as_admin(
        h.database,
        "INSERT INTO public.evaluation_predictions (id, snapshot_id, condition, eval_model,"
        " eval_model_version) VALUES (gen_random_uuid(), %s, 'A', 'm', '1')",
        made,
    )
    return made


def test_emptying_takes_every_copy_and_leaves_digests_and_predictions(h: Diary, who: uuid.UUID):
    decide(h.database, who, 1)
    h.write(who, "The bakery, and Ruth")
    bare = snapshot(h, who, "The bakery, and Ruth")
    marked = snapshot(h, who, "An earlier text", "0" * 64)
    status, emptied = h.write(who, "")
    assert (status, emptied["personal_context"], emptied["bytes"]) == (200, "", 0)
    kept = h.rows(
        "SELECT id, personal_context_snapshot, personal_context_sha256"
        " FROM public.evaluation_snapshots WHERE user_id = %(who)s",
        who=who,
    )
    assert set(kept) == {
        (bare, None, sha256_hex("The bakery, and Ruth")),
        (marked, None, "0" * 64),
    }
    predictions = h.rows(
        "SELECT 1 FROM public.evaluation_predictions WHERE snapshot_id = ANY (%(ids)s)",
        ids=[bare, marked],
    )
    assert len(predictions) == 2


def test_emptying_removes_unanswered_rounds_and_keeps_answered_ones(h: Diary, who: uuid.UUID):
    h.write(who, "The bakery")
    waiting, answered = personal_round(h, who), personal_round(h, who)
    decide(h.database, who, 1)
    run_as_admin(
        h.database,
        "UPDATE judgment.decisions SET scenario_id = %s WHERE user_id = %s",
        answered,
        who,
    )
    h.write(who, "")
    for table, column in (
        ("public.scenarios", "id"),
        ("judgment.scenario_contents", "scenario_id"),
        ("judgment.servings", "scenario_id"),
    ):
        left = h.rows(
            f"SELECT {column} FROM {table} WHERE {column} = ANY (%(ids)s)",
            ids=[waiting, answered],
        )
        assert left == [(answered,)], table


def test_writing_another_text_keeps_copies_and_rounds(h: Diary, who: uuid.UUID):
    decide(h.database, who, 1)
    h.write(who, "One")
    copied, waiting = snapshot(h, who, "One"), personal_round(h, who)
    h.write(who, "Two")
    assert h.rows(
        "SELECT personal_context_snapshot FROM public.evaluation_snapshots WHERE id = %(i)s",
        i=copied,
    ) == [("One",)]
    assert h.rows("SELECT 1 FROM public.scenarios WHERE id = %(i)s", i=waiting)


def test_emptying_again_takes_what_was_left_by_another_writer(h: Diary, who: uuid.UUID):
    decide(h.database, who, 1)
    late = snapshot(h, who, "Left behind")
    assert h.write(who, "")[0] == 200
    assert h.rows(
        "SELECT personal_context_snapshot FROM public.evaluation_snapshots WHERE id = %(i)s", i=late
    ) == [(None,)]


def test_emptying_touches_nobody_else(h: Diary, who: uuid.UUID):
    other = make_owner(h.database)
    decide(h.database, other, 1)
    h.write(other, "Theirs")
    copied, waiting = snapshot(h, other, "Theirs"), personal_round(h, other)
    h.write(who, "mine")
    h.write(who, "")
    assert h.read(other)["personal_context"] == "Theirs"
    assert h.rows(
        "SELECT personal_context_snapshot FROM public.evaluation_snapshots WHERE id = %(i)s",
        i=copied,
    ) == [("Theirs",)]
    assert h.rows("SELECT 1 FROM public.scenarios WHERE id = %(i)s", i=waiting)
    assert h.read(who)["personal_context"] == ""


def test_emptying_waits_for_a_round_that_is_being_recorded_and_takes_its_copy(
    h: Diary, who: uuid.UUID
):
    decide(h.database, who, 1)
    h.write(who, "Read before the emptying")
    run_as_admin(
        h.database,
        "INSERT INTO judgment.profile_state (user_id, score_owner) VALUES (%s, 'judgment')",
        who,
    )
    with psycopg.connect(h.database.admin_url) as round_:
        round_.execute("SELECT 1 FROM judgment.profile_state WHERE user_id = %s FOR UPDATE", (who,))
        round_.execute(
            "INSERT INTO public.evaluation_snapshots (choice_id, user_id,"
            " personal_context_snapshot) SELECT c.id, c.user_id, p.personal_context"
            " FROM public.choices c JOIN public.profiles p ON p.id = c.user_id"
            " WHERE c.user_id = %s LIMIT 1",
            (who,),
        )
        with ThreadPoolExecutor(1) as pool:
            emptying = pool.submit(h.write, who, "")
            waiting = "SELECT 1 FROM pg_locks WHERE NOT granted AND locktype = 'transactionid'"
            while not h.rows(waiting):
                assert not emptying.done(), "it did not wait"
            round_.commit()
            assert emptying.result()[0] == 200
    copies = h.rows(
        "SELECT personal_context_snapshot FROM public.evaluation_snapshots WHERE user_id = %(w)s",
        w=who,
    )
    assert copies == [(None,)]

"""Profiles in a real Postgres, read and written by the roles that will do so."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID, uuid4

import psycopg
import pytest

from judgment.db.connection import Database, json_value
from judgment.db.errors import DatabaseError, PermissionDenied
from judgment.kit.errors import Refusal
from judgment.profile import store
from judgment.profile.build import build
from judgment.profile.composer import composed
from judgment.profile.distil import distil
from judgment.profile.scores import sync_score
from judgment.profile.service import ProfileService
from tests.unit.profile.decisions import decision, option

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.profile.model import PlayerDecisionProfile
    from tests.databases import TestDatabase

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
OPTIONS = [option(0, price=1.0), option(1, price=0.0)]
ROUNDS = [decision(n, OPTIONS, 0, rationale=f"reason {n}") for n in range(12)]


@pytest.fixture
def reader(module_database: TestDatabase) -> Database:
    database = Database(module_database.url("judgment_reader"))
    yield database
    database.close()


@pytest.fixture
def writer(module_database: TestDatabase) -> Database:
    database = Database(module_database.url("judgment_owner"))
    yield database
    database.close()


@pytest.fixture
def owner(module_database: TestDatabase) -> UUID:
    """Somebody known, without decisions."""
    user_id = uuid4()
    with psycopg.connect(module_database.admin_url) as admin:
        admin.execute("insert into auth.users (id) values (%s)", (user_id,))
        admin.execute("insert into public.profiles (id, sync_score) values (%s, 33)", (user_id,))
    return user_id


def record(database: TestDatabase, owner: UUID) -> None:
    with psycopg.connect(database.admin_url) as admin:
        for made in ROUNDS:
            row = (uuid4(), owner)
            admin.execute("insert into public.choices (id, user_id) values (%s, %s)", row)
            admin.execute(
                "insert into judgment.decisions (id, user_id, scenario_id, scenario_title,"
                " category, theme, options, chosen_option_id, chosen_label, rationale, source,"
                " recorded_at) values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, 'judgment', %s)",
                (
                    *row,
                    made.scenario_id,
                    made.scenario_title,
                    made.category,
                    made.theme,
                    json_value([o.to_json() for o in made.options]),
                    made.chosen_option_id,
                    made.chosen_label,
                    made.rationale,
                    made.recorded_at,
                ),
            )


def save(tx: Transaction, owner: UUID, profile: PlayerDecisionProfile, score: float) -> None:
    """As `ProfileProgress` does the first time."""
    store.begin_again(tx, owner)
    store.save_progress(tx, owner, profile, score, says_when=True)


def set_score(database: TestDatabase, owner: UUID, score: float) -> None:
    with psycopg.connect(database.admin_url) as admin:
        admin.execute("update public.profiles set sync_score = %s where id = %s", (score, owner))


@pytest.mark.promise("000-3.2-cold")
def test_an_owner_without_a_row_is_answered_cold_with_their_stored_score(reader, owner) -> None:
    with reader.transaction(owner, read_only=True) as tx:
        profile = ProfileService(store).profile(tx, owner)
    assert (profile.games_played, profile.summary_text, profile.signals) == (0, None, [])
    assert profile.sync_score == 33


@pytest.mark.promise("P1-4-build", "000-3.2")
def test_decisions_are_built_written_and_read_back_as_the_same_profile(
    module_database, reader, writer, owner
) -> None:
    record(module_database, owner)
    set_score(module_database, owner, 0)
    with writer.transaction(owner) as tx:
        decisions = store.decisions(tx, owner)
        profile = build(decisions)
        save(tx, owner, profile, sync_score(profile))
    assert [d.options for d in decisions] == [d.options for d in ROUNDS]
    service = ProfileService(store)
    with reader.transaction(owner, read_only=True) as tx:
        found = service.profile(tx, owner)
        explained = service.explanation(tx, owner)
        recent = service.recent_decisions(tx, owner, 5).decisions
    assert found == distil(profile, owner, sync_score(profile))
    assert found.category_tendencies[0].primary_driver == "price"
    assert (explained.sync_score.kept, explained.sync_score.score) == (False, found.sync_score)
    assert [r.rationale for r in recent] == [f"reason {n}" for n in (11, 10, 9, 8, 7)]


@pytest.mark.promise("R-5")
def test_what_the_owner_wrote_about_themself_is_in_nothing_that_agents_read(
    module_database, reader, writer, owner
) -> None:
    canary = "canary: I am a lighthouse keeper"
    with psycopg.connect(module_database.admin_url) as admin:
        admin.execute(
            "update public.profiles set personal_context = %s where id = %s", (canary, owner)
        )
    record(module_database, owner)
    with writer.transaction(owner) as tx:
        profile = composed(build(store.decisions(tx, owner)), NOW)
        save(tx, owner, profile, sync_score(profile))
    service = ProfileService(store)
    with reader.transaction(owner, read_only=True) as tx:
        answers = (
            service.profile(tx, owner),
            service.explanation(tx, owner),
            service.recent_decisions(tx, owner, 20),
        )
    assert answers[0].summary_text == profile.summary_text  # nothing is stored: it is made alike
    assert not any("lighthouse" in answer.model_dump_json() for answer in answers)
    with pytest.raises(PermissionDenied), reader.transaction(owner, read_only=True) as tx:
        tx.value("select personal_context from public.profiles")


@pytest.mark.promise("R-22")
def test_a_score_that_a_sync_app_owns_is_not_written_over(
    module_database, reader, writer, owner
) -> None:
    with psycopg.connect(module_database.admin_url) as admin:
        admin.execute(
            "insert into judgment.profile_state (user_id, score_owner) values (%s, 'sync')",
            (owner,),
        )
    with writer.transaction(owner) as tx:
        save(tx, owner, build(ROUNDS), 77.0)
    with reader.transaction(owner, read_only=True) as tx:
        explained = ProfileService(store).explanation(tx, owner)
    assert (explained.sync_score.kept, explained.sync_score.score) == (True, 33)


@pytest.mark.promise("R-22")
@pytest.mark.parametrize(("score", "has_profile"), [(33, False), (33, True), (0, True)])
def test_the_score_of_somebody_who_was_there_before_us_is_kept_without_being_told(
    module_database, reader, writer, owner, score, has_profile
) -> None:
    set_score(module_database, owner, score)
    if has_profile:
        with psycopg.connect(module_database.admin_url) as admin:
            admin.execute(
                "insert into public.player_decision_profiles (user_id, games_analyzed)"
                " values (%s, 40)",
                (owner,),
            )
    for _ in range(2):
        with writer.transaction(owner) as tx:
            save(tx, owner, build(ROUNDS), 77.0)
    with reader.transaction(owner, read_only=True) as tx:
        explained = ProfileService(store).explanation(tx, owner)
    assert (explained.sync_score.kept, explained.sync_score.score) == (True, score)


@pytest.mark.promise("R-22")
def test_the_score_of_a_beginner_is_ours_and_grows_with_each_save(
    module_database, reader, writer, owner
) -> None:
    set_score(module_database, owner, 0)
    for score in (1.5, 7.5):
        with writer.transaction(owner) as tx:
            save(tx, owner, build(ROUNDS), score)
        with reader.transaction(owner, read_only=True) as tx:
            assert ProfileService(store).profile(tx, owner).sync_score == score


@pytest.mark.promise("P1-refuse-rows")
def test_a_not_a_number_score_and_wrongly_typed_documents_are_served(
    module_database, reader, owner
) -> None:
    with psycopg.connect(module_database.admin_url) as admin:
        admin.execute("update public.profiles set sync_score = 'NaN' where id = %s", (owner,))
        admin.execute(
            "insert into public.player_decision_profiles (user_id, games_analyzed,"
            " persuadability, category_patterns, context_rules, summary_text)"
            " values (%s, 9, '[1]', '\"text\"', '{\"n\": 9e999}', %s)",
            (owner, "long " * 210_000),
        )
    with reader.transaction(owner, read_only=True) as tx:
        profile = ProfileService(store).profile(tx, owner)
    assert (profile.sync_score, profile.games_played) == (0, 9)
    assert len(profile.summary_text or "") == 4_000


@pytest.mark.promise("000-3.2-readonly")
def test_the_reader_cannot_write_a_profile_and_nobody_anothers(reader, writer, owner) -> None:
    for database, acting in ((reader, owner), (writer, uuid4())):
        with pytest.raises((DatabaseError, Refusal)), database.transaction(acting) as tx:
            save(tx, owner, build(ROUNDS), 1.0)
    with reader.transaction(uuid4(), read_only=True) as tx:
        assert store.stored_profile(tx, owner).row is None

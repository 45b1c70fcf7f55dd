"""A profile carried forward in a real Postgres, by the role that does so."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID, uuid4

import psycopg
import pytest

from judgment.db.connection import Database, json_value
from judgment.profile import store
from judgment.profile.accumulation import VERSION
from judgment.profile.build import build
from judgment.profile.model import SIGNALS_STORED
from judgment.profile.progress import ProfileProgress, Progress
from judgment.profile.scores import sync_score
from tests.unit.profile.decisions import START, decision, option
from tests.unit.profile.strategies import long_life

if TYPE_CHECKING:
    from collections.abc import Iterator

    from judgment.db.connection import Transaction
    from judgment.profile.decision import Decision
    from tests.databases import TestDatabase

INSERT = """
insert into judgment.decisions (id, user_id, scenario_id, scenario_title, category, theme, options,
    chosen_option_id, chosen_label, rationale, confidence, response_ms, first_option_id,
    predicted_peer_option_id, self_predicted_option_id, stimuli, retest_of, outcome_of, recorded_at,
    source)
values (%(id)s, %(user_id)s, %(scenario_id)s, %(scenario_title)s, %(category)s, %(theme)s,
    %(options)s, %(chosen_option_id)s, %(chosen_label)s, %(rationale)s, %(confidence)s,
    %(response_ms)s, %(first_option_id)s, %(predicted_peer_option_id)s,
    %(self_predicted_option_id)s, %(stimuli)s, %(retest_of)s, %(outcome_of)s, %(recorded_at)s,
    'judgment')
"""


class Watched:
    """The store, and how often all decisions were read from it."""

    def __init__(self) -> None:
        self.begun = 0

    def decisions(self, tx: Transaction, user_id: UUID) -> list[Decision]:
        """Every decision of the owner, oldest first."""
        self.begun += 1
        return store.decisions(tx, user_id)

    def __getattr__(self, name: str) -> Any:
        return getattr(store, name)


class Owner:
    """Somebody with decisions in a database, and the connection of the role that acts for them."""

    def __init__(self, database: TestDatabase) -> None:
        self.id = uuid4()
        self.rows = Watched()
        self.admin_url = database.admin_url
        self.database = Database(database.url("judgment_owner"))
        with psycopg.connect(self.admin_url) as admin:
            admin.execute("insert into auth.users (id) values (%s)", (self.id,))
            admin.execute("insert into public.profiles (id) values (%s)", (self.id,))

    def insert(self, made: Decision) -> None:
        """The decision's row, and nothing else."""
        values: dict[str, Any] = {**vars(made), "user_id": self.id}
        values["options"] = json_value([o.to_json() for o in made.options])
        values["confidence"] = None if made.confidence is None else Decimal(repr(made.confidence))
        values["stimuli"] = json_value(made.stimuli.to_json())
        with psycopg.connect(self.admin_url) as admin:
            admin.execute(
                "insert into public.choices (id, user_id) values (%s, %s)", (made.id, self.id)
            )
            admin.execute(INSERT, values)

    def record(self, made: Decision, version: int = VERSION) -> Progress:
        """The decision's row and the profile with it."""
        self.insert(made)
        with self.database.transaction(self.id) as tx:
            return ProfileProgress(self.rows, version).record(tx, self.id, made)

    def execute(self, statement: str, *parameters: Any) -> None:
        """Past every policy."""
        with psycopg.connect(self.admin_url) as admin:
            admin.execute(statement.encode(), parameters)

    def value(self, statement: str) -> Any:
        """Past every policy, of this owner."""
        with psycopg.connect(self.admin_url) as admin:
            found = admin.execute(statement.encode(), (self.id,)).fetchone()
            return found and found[0]

    def assert_as_from_the_beginning(self, progress: Progress) -> None:
        """What was answered and what is stored is what all decisions give."""
        with self.database.transaction(self.id) as tx:
            fresh = build(store.decisions(tx, self.id))
        assert progress.profile.documents == fresh.documents
        assert progress.sync_score == sync_score(fresh)
        stored = self.value(
            "select to_jsonb(p) from public.player_decision_profiles p where user_id = %s"
        )
        assert stored["games_analyzed"] == fresh.games_analyzed == progress.profile.games_analyzed
        found = {name: stored[name] for name in fresh.documents}
        assert found == fresh.documents
        score = self.value("select sync_score from public.profiles where id = %s")
        assert float(score) == progress.sync_score


@pytest.fixture
def owner(module_database: TestDatabase) -> Iterator[Owner]:
    somebody = Owner(module_database)
    yield somebody
    somebody.database.close()


def life(seed: int, many: int) -> list[Decision]:
    """A long life whose decisions nobody else in the database has."""
    return long_life(seed, many, salt=str(uuid4()))


@pytest.mark.promise("P2-4")
@pytest.mark.parametrize("seed", [1, 3, 5])
def test_after_each_decision_the_stored_profile_is_the_one_of_all_decisions(owner, seed) -> None:
    lived = life(seed, 40)
    for made in lived:
        owner.assert_as_from_the_beginning(progress := owner.record(made))
    assert owner.rows.begun == 1
    assert progress.profile.documents == build(lived).documents
    assert set(SIGNALS_STORED) <= progress.profile.documents.keys()


def kept_since(owner: Owner) -> dict[str, Any]:
    with psycopg.connect(owner.admin_url) as admin:
        return dict(
            admin.execute(
                "select part, updated_at from judgment.profile_accumulators where user_id = %s",
                (owner.id,),
            ).fetchall()
        )


@pytest.mark.promise("P2-4")
def test_an_owner_whose_decisions_were_seeded_is_carried_forward_from_all_of_them(owner) -> None:
    seeded, played = life(7, 20)[:12], life(8, 6)
    for made in seeded:
        owner.insert(made)
    for number, made in enumerate(played):
        later = replace(made, recorded_at=START + timedelta(days=1, seconds=number))
        owner.assert_as_from_the_beginning(owner.record(later))
    assert owner.rows.begun == 1


@pytest.mark.promise("P2-4")
def test_a_decision_reads_and_writes_its_own_domain_and_no_other(owner) -> None:
    options = [option(0, growth=1.0), option(1, growth=0.0)]
    for number, category in enumerate(["governance", "team-dynamics", "governance"]):
        owner.record(decision(number, options, 0, id=uuid4(), category=category))
    before = kept_since(owner)
    owner.record(decision(9, options, 0, id=uuid4(), category="governance"))
    after = kept_since(owner)
    assert {part for part in after if after[part] != before[part]} == {"owner", "governance"}


@pytest.mark.promise("P2-4")
@pytest.mark.parametrize(
    "damage",
    [
        "update judgment.profile_accumulators set version = version - 1 where user_id = %s",
        "update judgment.profile_accumulators set state = '{}' where user_id = %s",
        "update judgment.profile_accumulators set state = 'half a te' where user_id = %s",
        "delete from judgment.profile_accumulators where user_id = %s and part = 'governance'",
        "delete from judgment.profile_accumulators where user_id = %s and part = 'owner'",
        "delete from judgment.profile_accumulators where user_id = %s",
    ],
)
def test_what_was_kept_and_does_not_read_is_made_again(owner, damage) -> None:
    made = [replace(m, category="governance") for m in life(11, 12)]
    for each in made[:8]:
        owner.record(each)
    owner.execute(damage, owner.id)
    for each in made[8:]:
        owner.assert_as_from_the_beginning(owner.record(each))
    assert owner.rows.begun == 2


@pytest.mark.promise("P2-4")
def test_another_version_of_the_code_begins_again_and_goes_on_from_there(owner) -> None:
    made = life(12, 14)
    for each in made[:8]:
        owner.record(each)
    for each in made[8:]:
        owner.assert_as_from_the_beginning(owner.record(each, VERSION + 1))
    versions = (
        "select array_agg(distinct version) from judgment.profile_accumulators where user_id = %s"
    )
    assert owner.value(versions) == [VERSION + 1]
    assert owner.rows.begun == 2


@pytest.mark.promise("P2-4")
def test_decisions_that_nobody_recorded_or_that_came_out_of_order_are_not_missed(owner) -> None:
    made = life(13, 12)
    for each in made[:5]:
        owner.record(each)
    owner.insert(made[5])
    owner.assert_as_from_the_beginning(owner.record(made[6]))
    owner.assert_as_from_the_beginning(owner.record(made[8]))
    owner.assert_as_from_the_beginning(owner.record(made[7]))
    owner.assert_as_from_the_beginning(owner.record(made[9]))


@pytest.mark.promise("P2-3")
def test_texts_of_a_summary_stay_as_they_are(owner) -> None:
    made = life(14, 3)
    owner.record(made[0])
    owner.execute(
        "update public.player_decision_profiles set summary_text = 'As written.',"
        " agent_context_block = 'So.', summary_model_version = 'm' where user_id = %s",
        owner.id,
    )
    for each in made[1:]:
        owner.record(each)
    texts = (
        "select array[summary_text, agent_context_block, summary_model_version]"
        " from public.player_decision_profiles where user_id = %s"
    )
    assert owner.value(texts) == ["As written.", "So.", "m"]


@pytest.mark.promise("P2-3")
def test_the_row_says_when_a_decision_was_last_analysed_where_it_can(fresh_database) -> None:
    owner = Owner(fresh_database)
    made = life(15, 4)
    moment = "select updated_at from public.player_decision_profiles where user_id = %s"
    owner.record(made[0])
    before = owner.value(moment)
    owner.record(made[1])
    assert owner.value(moment) > before
    owner.execute("alter table public.player_decision_profiles drop column updated_at cascade")
    owner.assert_as_from_the_beginning(owner.record(made[2]))
    owner.database.close()


@pytest.mark.promise("P2-3")
def test_a_decision_without_a_row_is_not_recorded(owner) -> None:
    made = life(16, 1)[0]
    with pytest.raises(LookupError), owner.database.transaction(owner.id) as tx:
        ProfileProgress(store).record(tx, owner.id, made)
    assert owner.value("select count(*) from judgment.profile_accumulators where user_id = %s") == 0


@pytest.mark.promise("000-3.2-readonly")
def test_what_is_kept_of_one_owner_is_no_other_owners(owner, module_database) -> None:
    owner.record(life(17, 1)[0])
    with owner.database.transaction(UUID(int=5)) as tx:
        for table in ("profile_accumulators", "profile_marks"):
            assert tx.value(f"select count(*) from judgment.{table}") == 0

"""A round made for one owner is theirs alone, for every role and in a Sync app's database too.

Such rounds are kept out of games of many and of campaigns by the same means: whoever lists
scenarios through a Sync app's clients does not see them.
"""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from judgment.contract.routes import ROUTES
from judgment.contract.scopes import Scope
from judgment.scenarios.personal.context import PersonalContexts
from tests.architecture.source import ROOT
from tests.fakes.workshop import Workshop
from tests.integration.owner_rows import fill

if TYPE_CHECKING:
    from tests.integration.world import World

pytestmark = pytest.mark.promise("000-8", "000-8.4", "P1-accept-4")

THEIRS = "SELECT personalized_for_user_id FROM public.scenarios"


def as_client(world: World, role: str, user: uuid.UUID | None) -> list[Any]:
    """What a Sync app's client sees of scenarios, in that app's role."""
    with psycopg.connect(world.database.admin_url) as connection:
        connection.execute("GRANT SELECT ON public.scenarios TO anon, authenticated")
        if user:
            connection.execute("SELECT set_config('request.jwt.claim.sub', %s, true)", (str(user),))
        connection.execute("SELECT set_config('role', %s, true)", (role,))
        rows = connection.execute(THEIRS.encode()).fetchall()
        connection.rollback()
        return [row[0] for row in rows]


def test_a_client_of_a_sync_app_sees_no_round_made_for_somebody_else(world: World):
    world.admin.execute(
        "INSERT INTO public.scenarios (theme, category) VALUES ('court', 'governance')"
    )
    if world.sync:
        world.admin.execute("UPDATE public.scenarios SET is_published = true")
    made = [row[0] for row in world.admin.execute(THEIRS.encode()).fetchall()]
    assert {world.mine, world.theirs} <= set(made)
    seen = as_client(world, "authenticated", world.mine)
    assert set(seen) <= {world.mine, None}
    if world.sync:
        assert None in seen, "what a Sync app shows to everybody stays shown"
        assert world.mine in seen
    assert set(as_client(world, "anon", None)) <= {None}


def test_another_owner_and_every_other_role_of_ours_see_no_words_of_it(world: World):
    for role in world.connections:
        for table, column in (
            ("judgment.scenario_contents", "owner_user_id"),
            ("public.scenarios", "personalized_for_user_id"),
            ("judgment.servings", "user_id"),
        ):
            seen = world.try_as(
                role,
                f"SELECT 1 FROM {table} WHERE {column} = %(who)s",
                {"who": world.theirs},
                world.mine,
            )
            assert seen == [] or isinstance(seen, type), (role, table)


def test_nobody_can_be_shown_a_round_made_for_another(world: World):
    scenario = world.admin.execute(
        "SELECT id FROM public.scenarios WHERE personalized_for_user_id = %s", (world.theirs,)
    ).fetchone()
    assert scenario
    outcome = world.try_as(
        "judgment_owner",
        "INSERT INTO judgment.servings (id, user_id, scenario_id, served_at)"
        " VALUES (gen_random_uuid(), %(who)s, %(scenario)s, now())",
        {"who": world.mine, "scenario": scenario[0]},
        world.mine,
    )
    assert isinstance(outcome, type)


def test_a_policy_that_shows_personal_context_to_others_is_warned_of(world: World):
    said: list[tuple[str | None, str | None]] = []
    migration = ROOT / "shared/judgment/db/migrations/094_personal_context_state.sql"
    with psycopg.connect(world.database.admin_url, autocommit=True) as connection:
        connection.add_notice_handler(lambda d: said.append((d.severity, d.message_primary)))
        connection.execute(migration.read_bytes())
    warnings = [message for severity, message in said if severity == "WARNING"]
    assert len(warnings) == world.sync
    assert all("Public profiles are viewable by everyone." in str(text) for text in warnings)


def test_no_route_makes_or_shows_a_personal_round_to_agents_or_to_many():
    about = [route for route in ROUTES if "scenario" in route.path or "context" in route.path]
    assert about
    assert {route.auth for route in about} == {"owner"}
    assert not [scope for scope in Scope if "context" in scope or "scenario" in scope]
    assert not [r for r in ROUTES if "campaign" in r.path or "multiplayer" in r.path]


@pytest.mark.promise("000-7-delete", "R-4")
def test_making_and_emptying_work_on_a_sync_apps_tables_too(world: World):
    who = fill(world.admin, sync=world.sync)
    workshop = Workshop(world.database)
    contexts = PersonalContexts(workshop.postgres.transaction)
    assert contexts.write(who, "words").personal_context == "words"
    status, made = workshop.make(who)
    assert (status, made["personalized"]) == (201, True)
    assert contexts.write(who, "").personal_context == ""
    workshop.close()

    def left(query: str) -> list[Any]:
        return world.admin.execute(query.encode(), {"who": who}).fetchall()

    assert left(
        "SELECT personal_context_snapshot FROM public.evaluation_snapshots WHERE user_id = %(who)s"
    ) == [(None,)]
    words = left("SELECT title FROM judgment.scenario_contents WHERE owner_user_id = %(who)s")
    assert words == [("Mine",)], "the answered one stays"
    rows = left("SELECT id FROM public.scenarios WHERE personalized_for_user_id = %(who)s")
    assert ((uuid.UUID(made["id"]),) in rows) == world.sync

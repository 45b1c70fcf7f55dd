"""The columns, checks and indexes that seed 000 §11 names, migration by migration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import psycopg
import pytest

if TYPE_CHECKING:
    from tests.databases import TestDatabase

Connection = psycopg.Connection[Any]

# (type, nullable, default) as information_schema tells them; "" is no default.
TEXT = ("text", "YES", "")
TIME = ("timestamp with time zone", "YES", "")
SEED: dict[str, dict[str, tuple[str, str, str]]] = {
    "profiles": {
        "personal_context": ("text", "NO", "''::text"),
        "onboarding_lightbox_dismissed_at": TIME,
    },
    "player_decision_profiles": {
        "summary_text": TEXT,
        "summary_generated_at": TIME,
        "summary_model_version": TEXT,
        "agent_context_block": TEXT,
    },
    "scenarios": {
        "personalized_for_user_id": ("uuid", "YES", ""),
        "personalization_inputs_hash": TEXT,
    },
    "agent_api_keys": {
        "id": ("uuid", "NO", "gen_random_uuid()"),
        "user_id": ("uuid", "NO", ""),
        "key_hash": ("text", "NO", ""),
        "name": ("text", "NO", ""),
        "last_used_at": TIME,
        "created_at": ("timestamp with time zone", "NO", "now()"),
        "revoked_at": TIME,
    },
    "agent_feature_flags": {
        "key": ("text", "NO", ""),
        "value": ("jsonb", "NO", ""),
        "updated_at": ("timestamp with time zone", "NO", "now()"),
    },
    "evaluation_snapshots": {
        "id": ("uuid", "NO", "gen_random_uuid()"),
        "choice_id": ("uuid", "NO", ""),
        "user_id": ("uuid", "NO", ""),
        "profile_state": ("jsonb", "YES", ""),
        "personal_context_snapshot": TEXT,
        "created_at": ("timestamp with time zone", "NO", "now()"),
    },
    "evaluation_predictions": {
        "id": ("uuid", "NO", "gen_random_uuid()"),
        "snapshot_id": ("uuid", "NO", ""),
        "condition": ("text", "NO", ""),
        "predicted_option_id": TEXT,
        "predicted_rationale": TEXT,
        "eval_model": ("text", "NO", ""),
        "eval_model_version": ("text", "NO", ""),
        "choice_agreement": ("boolean", "YES", ""),
        "rationale_similarity": ("numeric", "YES", ""),
        "created_at": ("timestamp with time zone", "NO", "now()"),
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def admin(module_database: TestDatabase) -> Iterator[Connection]:
    """The superuser's connection; what a test does is rolled back by it."""
    with psycopg.connect(module_database.admin_url, autocommit=True) as connection:
        yield connection


def columns(admin: Connection, table: str) -> dict[str, tuple[str, str, str]]:
    rows = admin.execute(
        "SELECT column_name, data_type, is_nullable, coalesce(column_default, '')"
        "  FROM information_schema.columns WHERE table_schema = 'public' AND table_name = %s",
        (table,),
    ).fetchall()
    return {name: (kind, nullable, default) for name, kind, nullable, default in rows}


@pytest.mark.promise("000-11-076", "000-11-077", "000-11-078", "000-11-079", "000-11-081", "R-1")
@pytest.mark.parametrize("table", SEED)
def test_a_table_has_the_columns_of_the_seed(admin: Connection, table: str) -> None:
    found = columns(admin, table)
    assert {name: found.get(name) for name in SEED[table]} == SEED[table]


@pytest.mark.promise("R-1")
def test_summary_and_context_live_apart_and_category_is_reused(admin: Connection) -> None:
    assert "summary_text" not in columns(admin, "profiles")
    assert "personal_context" not in columns(admin, "player_decision_profiles")
    assert "target_domain" not in columns(admin, "scenarios")
    assert "category" in columns(admin, "scenarios")


def indexed(admin: Connection, table: str) -> str:
    rows = admin.execute(
        "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' AND tablename = %s", (table,)
    ).fetchall()
    return "\n".join(definition for (definition,) in rows)


@pytest.mark.promise("000-11-078", "000-11-081")
@pytest.mark.parametrize(
    ("table", "wanted"),
    [
        ("scenarios", "(personalized_for_user_id)"),
        ("evaluation_snapshots", "(user_id, created_at DESC)"),
        ("evaluation_snapshots", "(choice_id)"),
        ("evaluation_predictions", "(condition, created_at DESC)"),
    ],
)
def test_the_indexes_of_the_seed_are_there(admin: Connection, table: str, wanted: str) -> None:
    assert wanted in indexed(admin, table)


@pytest.mark.promise("000-11-078", "000-3.1-themes")
def test_a_scenario_may_be_personal_and_goes_with_its_owner(admin: Connection) -> None:
    owner, scenario = uuid4(), uuid4()
    with admin.transaction(force_rollback=True):
        admin.execute("INSERT INTO auth.users (id) VALUES (%s)", (owner,))
        admin.execute(
            "INSERT INTO public.scenarios (id, theme, category, personalized_for_user_id)"
            " VALUES (%s, 'personal', 'governance', %s)",
            (scenario, owner),
        )
        admin.execute("DELETE FROM auth.users WHERE id = %s", (owner,))
        left = admin.execute("SELECT 1 FROM public.scenarios WHERE id = %s", (scenario,))
        assert left.fetchall() == []


@pytest.mark.promise("000-11-081")
@pytest.mark.parametrize("condition", ["D", "a", ""])
def test_a_prediction_has_one_of_three_conditions(admin: Connection, condition: str) -> None:
    with pytest.raises(psycopg.errors.CheckViolation), admin.transaction():
        admin.execute(
            "INSERT INTO public.evaluation_predictions"
            " (snapshot_id, condition, eval_model, eval_model_version) VALUES (%s, %s, 'm', '1')",
            (uuid4(), condition),
        )


@pytest.mark.promise("000-11-079")
def test_a_keys_hash_is_unique_and_resolves_to_its_owner_while_it_lives(admin: Connection) -> None:
    owner, digest = uuid4(), "d" * 64
    asked = "SELECT public.validate_agent_api_key(%s)"
    minted = "INSERT INTO public.agent_api_keys (user_id, key_hash, name) VALUES (%s, %s, 'k')"
    with admin.transaction(force_rollback=True):
        admin.execute("INSERT INTO auth.users (id) VALUES (%s)", (owner,))
        admin.execute(minted, (owner, digest))
        assert admin.execute(asked, (digest,)).fetchone() == (owner,)
        with pytest.raises(psycopg.errors.UniqueViolation), admin.transaction():
            admin.execute(minted, (owner, digest))
        admin.execute("UPDATE public.agent_api_keys SET revoked_at = now()")
        assert admin.execute(asked, (digest,)).fetchone() == (None,)
        assert admin.execute(asked, ("e" * 64,)).fetchone() == (None,)


@pytest.mark.promise("000-11-080")
def test_the_kill_switch_is_planted_as_on_for_everybody(admin: Connection) -> None:
    rows = admin.execute("SELECT key, value FROM public.agent_feature_flags").fetchall()
    assert rows == [("agent_profile_access_enabled", {"global": True, "user_overrides": {}})]


@pytest.mark.promise("000-11-082")
def test_character_names_are_closed_to_the_api_roles(admin: Connection) -> None:
    secured = admin.execute(
        "SELECT relrowsecurity, (SELECT count(*) FROM pg_policy WHERE polrelid = c.oid)"
        "  FROM pg_class c WHERE oid = 'public.scenario_character_names'::regclass"
    ).fetchone()
    assert secured is not None
    assert secured[0] is True
    with admin.transaction(force_rollback=True):
        admin.execute("GRANT SELECT ON public.scenario_character_names TO anon")
        admin.execute("INSERT INTO public.scenario_character_names (name) VALUES ('Ada')")
        admin.execute("SET LOCAL ROLE anon")
        seen = admin.execute("SELECT * FROM public.scenario_character_names").fetchall()
        assert seen == []

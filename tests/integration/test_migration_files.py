"""Each of the brief's migrations makes what the brief says, column for column."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

if TYPE_CHECKING:
    from tests.databases import TestDatabase

Column = tuple[str, bool, str | None]


@pytest.fixture(scope="module")
def admin(module_database: TestDatabase) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(module_database.admin_url, autocommit=True) as connection:
        yield connection


def columns(admin: psycopg.Connection[Any], table: str) -> dict[str, Column]:
    """Type, whether null is allowed, and default, by column."""
    rows = admin.execute(
        "SELECT attname, format_type(atttypid, atttypmod), NOT attnotnull,"
        " (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef d"
        "   WHERE d.adrelid = attrelid AND d.adnum = attnum)"
        " FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0",
        (table,),
    )
    return {name: (kind, null, default) for name, kind, null, default in rows.fetchall()}


def constraints(admin: psycopg.Connection[Any], table: str) -> set[str]:
    rows = admin.execute(
        "SELECT pg_get_constraintdef(oid) FROM pg_constraint"
        " WHERE conrelid = %s::regclass AND contype <> 'n'",
        (table,),
    )
    return {text for (text,) in rows.fetchall()}


def indexes(admin: psycopg.Connection[Any], table: str) -> set[str]:
    rows = admin.execute(
        "SELECT substring(indexdef FROM 'USING.*') FROM pg_indexes"
        " WHERE schemaname || '.' || tablename = %s",
        (table,),
    )
    return {text for (text,) in rows.fetchall()}


@pytest.mark.promise("000-11-076", "R-1")
def test_076_personal_context(admin: psycopg.Connection[Any]) -> None:
    found = columns(admin, "public.profiles")
    assert found["personal_context"] == ("text", False, "''::text")
    assert found["onboarding_lightbox_dismissed_at"] == ("timestamp with time zone", True, None)


@pytest.mark.promise("000-11-077", "R-1")
def test_077_profile_summary(admin: psycopg.Connection[Any]) -> None:
    found = columns(admin, "public.player_decision_profiles")
    for name in ("summary_text", "summary_model_version", "agent_context_block"):
        assert found[name] == ("text", True, None)
    assert found["summary_generated_at"] == ("timestamp with time zone", True, None)
    assert "summary_text" not in columns(admin, "public.profiles")


@pytest.mark.promise("000-11-078", "R-1")
def test_078_personal_theme(admin: psycopg.Connection[Any]) -> None:
    found = columns(admin, "public.scenarios")
    assert found["personalized_for_user_id"] == ("uuid", True, None)
    assert found["personalization_inputs_hash"] == ("text", True, None)
    assert "target_domain" not in found
    assert any("personalized_for_user_id" in index for index in indexes(admin, "public.scenarios"))
    keys = constraints(admin, "public.scenarios")
    assert (
        "FOREIGN KEY (personalized_for_user_id) REFERENCES auth.users(id) ON DELETE CASCADE"
    ) in keys
    for theme in ("boardroom", "frontier", "rebuild", "court", "underground", "custom", "personal"):
        admin.execute(
            "INSERT INTO public.scenarios (theme, category) VALUES (%s, 'governance')", (theme,)
        )
    with pytest.raises(psycopg.errors.CheckViolation):
        admin.execute(
            "INSERT INTO public.scenarios (theme, category) VALUES ('space', 'governance')"
        )


@pytest.mark.promise("000-11-079", "000-4-keys", "R-2")
def test_079_agent_keys(admin: psycopg.Connection[Any]) -> None:
    found = columns(admin, "public.agent_api_keys")
    moment = "timestamp with time zone"
    assert {name: found[name] for name in list(found)[:7]} == {
        "id": ("uuid", False, "gen_random_uuid()"),
        "user_id": ("uuid", False, None),
        "key_hash": ("text", False, None),
        "name": ("text", False, None),
        "last_used_at": (moment, True, None),
        "created_at": (moment, False, "now()"),
        "revoked_at": (moment, True, None),
    }
    assert list(found)[7:] == ["expires_at", "last4", "prefix", "scopes"]
    keys = constraints(admin, "public.agent_api_keys")
    assert "UNIQUE (key_hash)" in keys
    assert "FOREIGN KEY (user_id) REFERENCES auth.users(id) ON DELETE CASCADE" in keys
    function = admin.execute(
        "SELECT pg_get_function_result(oid), pg_get_function_arguments(oid), prosecdef"
        " FROM pg_proc WHERE proname = 'validate_agent_api_key'"
    ).fetchall()
    assert function == [("uuid", "key_hash text", False)]


@pytest.mark.promise("000-11-080", "000-10.1")
def test_080_feature_flags(admin: psycopg.Connection[Any]) -> None:
    assert columns(admin, "public.agent_feature_flags") == {
        "key": ("text", False, None),
        "value": ("jsonb", False, None),
        "updated_at": ("timestamp with time zone", False, "now()"),
    }
    rows = admin.execute("SELECT key, value FROM public.agent_feature_flags").fetchall()
    assert rows == [("agent_profile_access_enabled", {"global": True, "user_overrides": {}})]


@pytest.mark.promise("000-11-081")
def test_081_evaluation(admin: psycopg.Connection[Any]) -> None:
    snapshots = columns(admin, "public.evaluation_snapshots")
    predictions = columns(admin, "public.evaluation_predictions")
    assert snapshots.pop("personal_context_sha256") == ("text", True, None)  # 094
    assert {name: kind for name, (kind, *_) in snapshots.items()} == {
        "id": "uuid",
        "choice_id": "uuid",
        "user_id": "uuid",
        "profile_state": "jsonb",
        "personal_context_snapshot": "text",
        "created_at": "timestamp with time zone",
    }
    assert {name: (kind, null) for name, (kind, null, _) in predictions.items()} == {
        "id": ("uuid", False),
        "snapshot_id": ("uuid", False),
        "condition": ("text", False),
        "predicted_option_id": ("text", True),
        "predicted_rationale": ("text", True),
        "eval_model": ("text", False),
        "eval_model_version": ("text", False),
        "choice_agreement": ("boolean", True),
        "rationale_similarity": ("numeric", True),
        "created_at": ("timestamp with time zone", False),
    }
    assert any("ARRAY['A'" in key for key in constraints(admin, "public.evaluation_predictions"))
    wanted = {
        "public.evaluation_snapshots": {
            "USING btree (user_id, created_at DESC)",
            "USING btree (choice_id)",
        },
        "public.evaluation_predictions": {"USING btree (condition, created_at DESC)"},
    }
    for table, listed in wanted.items():
        assert listed <= indexes(admin, table)
        readers = admin.execute(
            "SELECT DISTINCT unnest(roles) FROM pg_policies"
            " WHERE schemaname || '.' || tablename = %s AND cmd IN ('SELECT', 'ALL')",
            (table,),
        ).fetchall()
        assert {role for (role,) in readers} == {"authenticated", "service_role", "judgment_owner"}


@pytest.mark.promise("000-11-082")
def test_082_character_names(admin: psycopg.Connection[Any]) -> None:
    row = admin.execute(
        "SELECT relrowsecurity, (SELECT count(*) FROM pg_policy WHERE polrelid = c.oid)"
        " FROM pg_class c WHERE oid = 'public.scenario_character_names'::regclass"
    ).fetchone()
    assert row == (True, 0)

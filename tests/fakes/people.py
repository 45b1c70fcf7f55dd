"""Owners, keys and profiles in a test's database, made through the product's own statements."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import psycopg

from judgment.access import store
from judgment.access.keys import AgentKeys
from judgment.contract.keys import MintKeyRequest
from judgment.contract.principal import Principal
from judgment.contract.scopes import DEFAULT_SCOPES, Scope
from judgment.db.connection import Database
from judgment.queue.idempotency import idempotent
from tests.fakes.issuer import ISSUER

if TYPE_CHECKING:
    from tests.databases import TestDatabase


@dataclass(frozen=True)
class Person:
    """An owner with one agent key."""

    user_id: uuid.UUID
    key_id: uuid.UUID
    key: str

    @property
    def agent(self) -> Principal:
        """The principal of their key."""
        return Principal(
            "agent",
            self.user_id,
            key_id=self.key_id,
            key_prefix=self.key[:12],
            scopes=frozenset({"profile:read"}),
        )

    @property
    def owner(self) -> Principal:
        """The principal of the person."""
        return Principal("owner", self.user_id)


def make_owner(database: TestDatabase, user_id: uuid.UUID | None = None) -> uuid.UUID:
    """A person as their first authenticated call leaves them: no decision, no key."""
    user_id = user_id or uuid.uuid4()
    authorizer = Database(database.url("judgment_authorizer"))
    with authorizer.transaction() as tx:
        assert store.ensure_owner(tx, user_id, ISSUER, str(user_id))
    authorizer.close()
    return user_id


def make_person(
    database: TestDatabase,
    *,
    scopes: tuple[Scope, ...] = DEFAULT_SCOPES,
    expires_in: timedelta | None = None,
) -> Person:
    """An owner with a freshly minted key."""
    user_id = make_owner(database)
    owner = Database(database.url("judgment_owner"))
    keys = AgentKeys(owner.transaction, store, idempotent)
    expires_at = None if expires_in is None else datetime.now(UTC) + expires_in
    wanted = MintKeyRequest(name="laptop", scopes=list(scopes), expires_at=expires_at)
    minted = keys.mint(user_id, wanted)
    owner.close()
    return Person(user_id, minted.id, minted.key)


def run_as_admin(database: TestDatabase, statement: str, *params: object) -> None:
    """One statement as the superuser, past every policy."""
    with psycopg.connect(database.admin_url, autocommit=True) as admin:
        admin.execute(statement.encode(), params)


def switch_own(database: TestDatabase, user_id: uuid.UUID, enabled: bool) -> None:
    """The owner's own switch, past the door."""
    run_as_admin(
        database,
        "UPDATE judgment.owners SET agent_access_enabled = %s WHERE user_id = %s",
        enabled,
        user_id,
    )


def switch_flag(database: TestDatabase, value: str) -> None:
    """The kill switch's stored value, as JSON text, past the door."""
    run_as_admin(database, "UPDATE public.agent_feature_flags SET value = %s::jsonb", value)


def decide(database: TestDatabase, user_id: uuid.UUID, count: int) -> None:
    """Store `count` decisions, one a day."""
    run_as_admin(
        database,
        """
        WITH scene AS (
            INSERT INTO public.scenarios (id, theme, category)
            VALUES (gen_random_uuid(), 'boardroom', 'governance') RETURNING id),
        made AS (
            INSERT INTO public.choices (id, user_id)
            SELECT gen_random_uuid(), %s FROM generate_series(1, %s) RETURNING id)
        INSERT INTO judgment.decisions (id, user_id, scenario_id, scenario_title, category, theme,
            options, chosen_option_id, chosen_label, source, recorded_at)
        SELECT m.id, %s, scene.id, 'Round ' || row_number() OVER (), 'governance', 'boardroom',
            '[{"id": "a", "label": "Yes"}]', 'a', 'Yes', 'judgment',
            timestamptz '2026-01-01' + row_number() OVER () * interval '1 day'
          FROM made m, scene
        """,
        user_id,
        count,
        user_id,
    )

"""An owner's keys, against a real database: the plaintext exists in one answer and nowhere else."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from functions.api_keys.handler import build
from judgment.access import store
from judgment.access.keys import AgentKeys
from judgment.contract.keys import AgentKey, AgentKeyList, MintedKey
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.hashing import sha256_hex
from judgment.queue.idempotency import idempotent
from tests.fakes.events import http_event, owner
from tests.fakes.people import make_owner

if TYPE_CHECKING:
    from tests.databases import TestDatabase

KEYS = "/api/v1/keys"


class Harness:
    """The door over a real database."""

    def __init__(self, database: TestDatabase):
        self.database = database
        self.postgres = Database(database.url("judgment_owner"))
        self.authorizer = Database(database.url("judgment_authorizer"))
        keys = AgentKeys(self.postgres.transaction, store, idempotent)
        self.door = build(keys, Telemetry("api_keys"))

    def call(
        self, method: str, path: str, who: uuid.UUID, body: Any = None, **headers: str
    ) -> tuple[int, Any]:
        text = body if isinstance(body, str) or body is None else json.dumps(body)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        event = http_event(method, path, principal=owner(who), body=text, headers=named)
        reply = self.door(event, None)
        return reply["statusCode"], json.loads(reply["body"])

    def mint(self, who: uuid.UUID, **body: Any) -> MintedKey:
        status, answer = self.call("POST", KEYS, who, {"name": "laptop", **body})
        assert status == 201, answer
        return MintedKey.model_validate(answer, strict=False)

    def listed(self, who: uuid.UUID) -> list[AgentKey]:
        status, answer = self.call("GET", KEYS, who)
        assert status == 200
        return AgentKeyList.model_validate(answer, strict=False).keys

    def is_live(self, key: str) -> bool:
        with self.authorizer.transaction() as tx:
            return store.resolve_key(tx, sha256_hex(key)) is not None

    def close(self) -> None:
        self.postgres.close()
        self.authorizer.close()


@pytest.fixture
def h(module_database: TestDatabase) -> Iterator[Harness]:
    harness = Harness(module_database)
    yield harness
    harness.close()


@pytest.fixture
def me(module_database: TestDatabase) -> uuid.UUID:
    return make_owner(module_database)


@pytest.mark.promise("000-4-keys", "P1-6")
def test_a_key_is_shown_once_and_stored_as_its_hash(h: Harness, me: uuid.UUID):
    minted = h.mint(me, name="hermes on my laptop")
    assert re.fullmatch(r"sync_[A-Za-z0-9_-]{43}", minted.key)
    assert minted.scopes == ["profile:read"]
    assert (minted.prefix, minted.last4) == (minted.key[:12], minted.key[-4:])
    assert h.is_live(minted.key)
    with psycopg.connect(h.database.admin_url) as admin:
        row = admin.execute(
            "SELECT k.key_hash, to_jsonb(k)::text FROM public.agent_api_keys k WHERE id = %s",
            (minted.id,),
        ).fetchone()
    assert row is not None
    assert row[0] == sha256_hex(minted.key)
    assert minted.key not in row[1]
    assert minted.key not in json.dumps(h.call("GET", KEYS, me))


@pytest.mark.promise("000-4-keys")
def test_the_list_is_the_owners_own_newest_first_with_revoked_ones(h: Harness, me: uuid.UUID):
    other = make_owner(h.database)
    h.mint(other)
    minted = [h.mint(me, name=f"key {n}").id for n in range(3)]
    h.call("DELETE", f"{KEYS}/{minted[1]}", me)
    listed = h.listed(me)
    assert [key.id for key in listed] == minted[::-1]
    assert [key.revoked_at is not None for key in listed] == [False, True, False]
    assert all(key.last_used_at is None for key in listed)


@pytest.mark.promise("P1-accept-3")
def test_a_revoked_key_is_dead_at_once_and_revoking_again_keeps_the_time(h: Harness, me: uuid.UUID):
    minted = h.mint(me)
    status, first = h.call("DELETE", f"{KEYS}/{minted.id}", me)
    assert status == 200
    assert not h.is_live(minted.key)
    assert h.call("DELETE", f"{KEYS}/{minted.id}", me) == (200, first)


@pytest.mark.promise("P1-accept-4")
def test_nobody_revokes_anothers_key_or_learns_that_it_exists(h: Harness, me: uuid.UUID):
    victim = make_owner(h.database)
    minted = h.mint(victim)
    unknown = h.call("DELETE", f"{KEYS}/{uuid.uuid4()}", me)
    assert unknown[0] == 404
    for path in (minted.id, "not-a-uuid", str(minted.id).upper().replace("-", ""), "' or 1=1"):
        assert h.call("DELETE", f"{KEYS}/{path}", me) == unknown
    assert h.is_live(minted.key)


def test_scopes_and_an_end_may_be_asked_for(h: Harness, me: uuid.UUID):
    end = datetime.now(UTC) + timedelta(days=30)
    minted = h.mint(me, scopes=["preferences:write", "profile:read"], expires_at=end.isoformat())
    assert minted.scopes == ["preferences:write", "profile:read"]
    assert minted.expires_at == end


@pytest.mark.promise("P1-refuse-input", "R-3")
@pytest.mark.parametrize(
    "body",
    [
        None,
        "{",
        {},
        {"name": ""},
        {"name": "  "},
        {"name": "x" * 101},
        {"name": "a\x00b"},
        {"name": 5},
        {"name": "x", "scopes": []},
        {"name": "x", "scopes": ["admin"]},
        {"name": "x", "scopes": "profile:read"},
        {"name": "x", "scopes": ["decisions:write"]},
        {"name": "x", "expires_at": "2020-01-01T00:00:00Z"},
        {"name": "x", "expires_at": "2099-01-01T00:00:00"},
        {"name": "x", "expires_at": "soon"},
        {"name": "x", "expires_at": "9999-12-31T23:59:59-14:00"},
        {"name": "x", "expires_at": "0001-01-01T00:00:00+14:00"},
        {"name": "x", "expires_at": 4102444800},
        {"name": "x", "user_id": "0b7f3a55-7f2f-4d6f-9c39-0a35b5a9f6f1"},
        {"name": "x", "key": "sync_mine"},
    ],
    ids=repr,
)
def test_a_wish_of_another_shape_is_400_and_mints_nothing(h: Harness, me: uuid.UUID, body: Any):
    status, problem = h.call("POST", KEYS, me, body)
    assert (status, problem["code"]) == (400, "invalid_request")
    assert h.listed(me) == []


@pytest.mark.promise("P1-1-idempotency")
def test_a_repeated_idempotency_key_mints_nothing_and_names_the_first(h: Harness, me: uuid.UUID):
    body = {"name": "laptop"}
    status, minted = h.call("POST", KEYS, me, body, Idempotency_Key="once")
    assert status == 201
    status, problem = h.call("POST", KEYS, me, body, Idempotency_Key="once")
    assert (status, problem["code"]) == (409, "conflict")
    assert minted["id"] in problem["message"]
    assert minted["key"] not in json.dumps(problem)
    status, problem = h.call("POST", KEYS, me, {"name": "other"}, Idempotency_Key="once")
    assert (status, problem["code"]) == (409, "conflict")
    assert [str(key.id) for key in h.listed(me)] == [minted["id"]]
    other = make_owner(h.database)
    assert h.call("POST", KEYS, other, body, Idempotency_Key="once")[0] == 201


@pytest.mark.promise("P1-1-idempotency")
def test_the_plaintext_is_not_in_the_remembered_answer(h: Harness, me: uuid.UUID):
    _, minted = h.call("POST", KEYS, me, {"name": "laptop"}, Idempotency_Key="secret?")
    with psycopg.connect(h.database.admin_url) as admin:
        row = admin.execute(
            "SELECT to_jsonb(i)::text FROM judgment.idempotency_keys i WHERE user_id = %s", (me,)
        ).fetchone()
    assert row is not None
    assert minted["key"] not in row[0]


@pytest.mark.parametrize("sent", ["", "k" * 256, "ключ", "a\nb"])
def test_an_idempotency_key_nobody_can_write_down_is_400(h: Harness, me: uuid.UUID, sent: str):
    assert h.call("POST", KEYS, me, {"name": "x"}, Idempotency_Key=sent)[0] == 400
    assert h.listed(me) == []

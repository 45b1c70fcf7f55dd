"""What the role behind the door cannot do, whatever the code before it does; and the ledger."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from psycopg import errors as pg

from judgment.db.inventory import INVENTORY
from tests.fakes.people import make_owner, run_as_admin, switch_flag
from tests.fakes.preferences import Shelf, signal

if TYPE_CHECKING:
    from tests.databases import TestDatabase
    from tests.integration.world import World

OURS = [table for table in INVENTORY if "preference_" in table.name or "consent" in table.name]
ROLE = "judgment_preferences"
DENIED = pg.InsufficientPrivilege


@pytest.mark.promise("P3-consent-choke", "R-18")
@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM judgment.preference_documents",
        "SELECT document FROM judgment.preference_documents",
        "SELECT statement FROM judgment.preference_signals",
        "SELECT key FROM judgment.preference_signals",
        "SELECT 1 FROM judgment.preference_signals WHERE statement::text LIKE 'a%'",
        "DELETE FROM judgment.preference_signals RETURNING statement",
        "DELETE FROM judgment.preference_signals WHERE key = 'a.b'",
        "COPY judgment.preference_documents TO STDOUT",
        "UPDATE judgment.preference_signals SET key = 'x'",
        "UPDATE judgment.consent_events SET effect = 'allow'",
        "DELETE FROM judgment.consent_events",
        "INSERT INTO judgment.preference_ledger (user_id, position, entry, previous, hash)"
        " VALUES (judgment.current_owner(), 2, '{}', '', '')",
        "UPDATE judgment.preference_ledger SET entry = ''",
        "DELETE FROM judgment.preference_ledger",
        "UPDATE judgment.preference_state SET ledger_position = 0, ledger_hash = ''",
        "UPDATE judgment.preference_state SET compiled_revision = revision",
        "SELECT judgment.open_keys(judgment.current_owner(), 'bob', 'read', '{a.b}', now())",
        "SELECT judgment.write_preference_ledger(judgment.current_owner(), 'denial', now(), 'a',"
        " 'read', NULL, '{}', 'h', 'c')",
        "SELECT judgment.agent_access_of(judgment.current_owner())",
        "SELECT 1 FROM judgment.decisions",
        "SELECT personal_context FROM public.profiles",
    ],
)
def test_the_doors_role_cannot_go_round_the_functions(world: World, statement: str) -> None:
    assert world.try_as(ROLE, statement, owner=world.mine) is DENIED


@pytest.mark.promise("P3-consent-choke", "R-18")
def test_no_other_role_but_owner_and_compiler_reads_a_document_or_may_ask(world: World) -> None:
    readers = {
        role
        for role in world.connections
        for table in ("preference_documents", "preference_signals")
        for column in world.columns(role, f"judgment.{table}", "SELECT")
        if column in ("document", "statement", "key")
    }
    assert readers - {"judgment_migrate"} == {"judgment_owner", "judgment_worker"}
    asking = world.admin.execute(
        "SELECT r.rolname FROM pg_roles r, pg_proc p WHERE p.proname = 'disclose_preferences'"
        " AND r.rolname LIKE 'judgment\\_%' AND has_function_privilege(r.oid, p.oid, 'EXECUTE')"
    ).fetchall()
    assert {name for (name,) in asking} == {ROLE, "judgment_definer"}


DISCLOSE = (
    "SELECT judgment.disclose_preferences(%(whose)s, %(audience)s, 'read', NULL, NULL, NULL, NULL,"
    " 100, false, 'h', 'c')"
)


@pytest.mark.promise("P3-consent-choke")
def test_who_asks_is_taken_from_the_transaction_and_not_from_the_call(world: World) -> None:
    mine, theirs = world.mine, world.theirs
    for audience in ("self", f"user:{theirs}", "bob", "*", "", None):
        asked = {"whose": theirs, "audience": audience}
        assert world.try_as(ROLE, DISCLOSE, asked, owner=mine) is DENIED, audience
    for whose, audience in ((mine, "self"), (theirs, f"user:{mine}"), (None, "self")):
        asked = {"whose": whose, "audience": audience}
        assert world.try_as(ROLE, DISCLOSE, asked) is DENIED, "on behalf of nobody"
    asked = {"whose": theirs, "audience": f"user:{mine}"}
    ((answer,),) = world.try_as(ROLE, DISCLOSE, asked, owner=mine)  # type: ignore[misc]
    assert answer["allowed"] is False


@pytest.mark.promise("P3-hosted", "001-store-events")
def test_signals_are_appended_and_never_changed_by_anybody(world: World) -> None:
    for role in world.connections:
        if role == "judgment_migrate":
            continue
        for table in ("preference_signals", "consent_events", "preference_ledger"):
            for column in world.columns("postgres", f"judgment.{table}", "SELECT"):
                statement = f"UPDATE judgment.{table} SET {column} = DEFAULT"
                assert world.try_as(role, statement, owner=world.mine) is DENIED, (role, statement)


@pytest.mark.promise("P3-defect-17", "P3-ledger-chain")
def test_no_kind_but_preference_and_fact_can_be_stored(world: World) -> None:
    for kind in ('"consent"', '"disclosure"', '"denial"', "null", "1"):
        added = (
            "INSERT INTO judgment.preference_signals (user_id, id, position, key, scope, instant,"
            " sequence, sent_sha256, statement, recorded_at) VALUES (judgment.current_owner(),"
            " gen_random_uuid(), 2, 'k', 'global', now(), 0, '', %(statement)s, now())"
        )
        told = {"statement": f'{{"kind": {kind}}}'}
        assert world.try_as(ROLE, added, told, owner=world.mine) is pg.CheckViolation, kind
    assert world.try_as(ROLE, added, {"statement": "{}"}, owner=world.mine) is pg.CheckViolation


@pytest.mark.promise("P3-hosted-erase")
def test_the_tables_are_exported_whole() -> None:
    assert len(OURS) == 5
    assert all(not table.withheld for table in OURS)


@pytest.fixture
def shelf(module_database: TestDatabase) -> Iterator[Shelf]:
    switch_flag(module_database, '{"global": true, "user_overrides": {}}')
    made = Shelf(module_database)
    yield made
    made.close()


TAMPERS = {
    "an edit": "UPDATE judgment.preference_ledger SET entry = replace(entry, 'self', 'bob')"
    " WHERE user_id = %s AND position = 2",
    "an edit of a time": "UPDATE judgment.preference_ledger"
    " SET entry = overwritten(entry) WHERE user_id = %s AND position = 1",
    "a gap": "DELETE FROM judgment.preference_ledger WHERE user_id = %s AND position = 2",
    "a missing start": "DELETE FROM judgment.preference_ledger WHERE user_id = %s AND position = 1",
    "a missing end": "DELETE FROM judgment.preference_ledger WHERE user_id = %s AND position = 4",
    "all gone": "DELETE FROM judgment.preference_ledger WHERE user_id = %s",
    "a swap": "UPDATE judgment.preference_ledger SET position = 9 - position"
    " WHERE user_id = %s AND position IN (3, 4)",
    "a hash": "UPDATE judgment.preference_ledger SET hash = repeat('0', 64)"
    " WHERE user_id = %s AND position = 4",
    "a link": "UPDATE judgment.preference_ledger SET previous = '' WHERE user_id = %s",
    "an addition": "INSERT INTO judgment.preference_ledger (user_id, position, entry, previous,"
    " hash) SELECT user_id, 5, entry, hash, hash FROM judgment.preference_ledger"
    " WHERE user_id = %s AND position = 4",
    "another end": "UPDATE judgment.preference_state SET ledger_position = 3 WHERE user_id = %s",
}


@pytest.mark.promise("P3-ledger-chain")
@pytest.mark.parametrize("tamper", TAMPERS.values(), ids=TAMPERS.keys())
def test_whatever_an_administrator_does_to_the_ledger_is_found(shelf: Shelf, tamper: str):
    who = make_owner(shelf.database)
    shelf.capture(who, signal())
    for _ in range(4):
        shelf.get(who)
    assert shelf.verification(who)["intact"]
    statement = tamper.replace("overwritten(entry)", 'replace(entry, \'"at":"20\', \'"at":"19\')')
    run_as_admin(shelf.database, statement, who)
    found = shelf.verification(who)
    assert found["intact"] is False
    assert found["problems"]
    assert shelf.as_agent(who, "GET")[0] in (200, 500), "reading goes on, or is refused"


@pytest.mark.promise("P3-ledger-chain")
def test_an_entry_that_was_altered_past_reading_is_said_to_be(shelf: Shelf):
    who = make_owner(shelf.database)
    shelf.get(who)
    run_as_admin(
        shelf.database, "UPDATE judgment.preference_ledger SET entry = 'x' WHERE user_id = %s", who
    )
    status, problem = shelf.as_owner(who, "GET", "/ledger")
    assert (status, problem["code"]) == (409, "conflict")
    assert "Entry 1" in problem["message"]
    assert not shelf.verification(who)["intact"]


@pytest.mark.promise("P3-ledger-chain")
def test_a_page_of_the_ledger_fits_an_answer_whatever_was_asked(shelf: Shelf):
    who = make_owner(shelf.database)
    keys = [f"{n}.{'k' * 180}" for n in range(1_000)]
    options = [{"id": f"o{n}", "keys": keys[n * 50 : n * 50 + 50]} for n in range(20)]
    body = {"options": options, "participants": [{"self": True}]}
    shelf.capture(who, *(signal(key) for key in keys[:100]))
    for start in range(100, 1_000, 100):
        shelf.capture(who, *(signal(key) for key in keys[start : start + 100]))
    for _ in range(15):
        assert shelf.as_owner(who, "POST", "/solve", body=body)[0] == 200
    found: list[int] = []
    cursor: dict[str, str] = {}
    while True:
        page = shelf.as_owner(who, "GET", "/ledger", query={"limit": 200, **cursor})[1]
        assert len(json.dumps(page)) < 2_500_000
        found += [entry["position"] for entry in page["entries"]]
        if page["next_cursor"] is None:
            break
        cursor = {"cursor": page["next_cursor"]}
    assert found == list(range(15, 0, -1))


@pytest.mark.promise("P3-ledger-chain")
def test_anybody_can_check_the_chain_by_hand(shelf: Shelf):
    who, bob = make_owner(shelf.database), uuid.uuid4()
    shelf.capture(who, signal("key “é” \\", "x"))
    shelf.get(who)
    shelf.as_owner(who, "GET", query={"audience": f"user:{bob}"})
    with psycopg.connect(shelf.database.admin_url) as admin:
        links: list[Any] = admin.execute(
            "SELECT entry, previous, hash FROM judgment.preference_ledger WHERE user_id = %s"
            " ORDER BY position",
            (who,),
        ).fetchall()
    last = ""
    for entry, previous, chained in links:
        assert previous == last
        assert chained == hashlib.sha256((previous + entry).encode()).hexdigest()
        canonical = json.dumps(
            json.loads(entry), sort_keys=True, separators=(",", ":"), ensure_ascii=False
        )
        assert entry == canonical
        last = chained
    assert json.loads(links[0][0])["keys"] == ["key “é” \\"]
    assert last == shelf.verification(who)["head"]

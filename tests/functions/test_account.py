"""What an owner does with all that is theirs, against a real database."""

from __future__ import annotations

import base64
import json
import uuid
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from functions.account.handler import build
from judgment.access import store
from judgment.access.account import PAGE_BYTES, Account
from judgment.contract.account import ExportLine
from judgment.db.connection import Database
from judgment.db.inventory import INVENTORY
from judgment.entry.observability import Telemetry
from judgment.llm import store as model_rows
from judgment.llm.service import OwnersChoices
from judgment.llm.settings import ModelSettings, configured
from tests.fakes.chat_models import ScriptedChat, in_order
from tests.fakes.events import http_event, owner
from tests.fakes.message_door import Talk
from tests.fakes.people import Person, decide, make_person, run_as_admin
from tests.fakes.preferences import Shelf, signal

if TYPE_CHECKING:
    from tests.databases import TestDatabase

EXPORT = "/api/v1/account/export"
PAGE_OF_A_FILE = 24_000
"""Bytes that take the largest file of the starter pack, and few files at once."""


class Harness:
    """The door over a real database."""

    def __init__(self, database: TestDatabase, page_bytes: int = PAGE_BYTES):
        self.database = database
        self.postgres = Database(database.url("judgment_owner"))
        account = Account(self.postgres.transaction, store, page_bytes)
        models = configured(ModelSettings())
        choices = OwnersChoices(self.postgres.transaction, model_rows, models)
        self.door = build(account, choices, Telemetry("account"))

    def call(self, method: str, path: str, who: uuid.UUID, **event: Any) -> tuple[int, str]:
        reply = self.door(http_event(method, path, principal=owner(who), **event), None)
        return reply["statusCode"], reply["body"]

    def page(self, who: uuid.UUID, cursor: str | None = None) -> tuple[list[ExportLine], Any]:
        """The lines of one page, and its closing line's row."""
        query = {"cursor": [cursor]} if cursor else None
        status, body = self.call("GET", EXPORT, who, query=query)
        assert status == 200, body
        lines = [ExportLine.model_validate_json(line) for line in body.splitlines()]
        assert lines[-1].table == "export"
        return lines[:-1], lines[-1].row

    def pages(self, who: uuid.UUID) -> Iterator[list[ExportLine]]:
        """Every page in turn."""
        lines, closing = self.page(who)
        yield lines
        while closing["cursor"]:
            lines, closing = self.page(who, closing["cursor"])
            yield lines


@pytest.fixture
def h(module_database: TestDatabase) -> Iterator[Harness]:
    harness = Harness(module_database)
    yield harness
    harness.postgres.close()


@pytest.fixture
def small(module_database: TestDatabase) -> Iterator[Harness]:
    """The same with pages of 2 kB."""
    harness = Harness(module_database, 2_000)
    yield harness
    harness.postgres.close()


@pytest.fixture
def person(module_database: TestDatabase) -> Person:
    """Somebody with rows in every table that a door or a Sync app fills."""
    return somebody_with_everything(module_database)


def somebody_with_everything(database: TestDatabase) -> Person:
    person = make_person(database)
    who = person.user_id
    decide(database, who, 12)
    for statement in (
        "INSERT INTO public.player_decision_profiles (user_id, games_analyzed, summary_text)"
        " VALUES (%s, 12, 'Tends to wait — «é».')",
        "INSERT INTO judgment.profile_state (user_id, score_owner) VALUES (%s, 'judgment')",
        "INSERT INTO judgment.idempotency_keys (user_id, key, route, body_sha256, status)"
        " VALUES (%s, 'k', 'POST /x', 'd', 201)",
        "INSERT INTO judgment.outbox (id, type, version, user_id, subject_id, correlation_id)"
        " VALUES (gen_random_uuid(), 'profile.changed', 1, %s, gen_random_uuid(), 'c')",
        "INSERT INTO public.scenarios (id, theme, category, personalized_for_user_id)"
        " VALUES (gen_random_uuid(), 'personal', 'governance', %s)",
        "INSERT INTO judgment.scenario_contents (scenario_id, owner_user_id, title, options)"
        " SELECT id, personalized_for_user_id, 'Mine', '[]' FROM public.scenarios"
        " WHERE personalized_for_user_id = %s",
        "INSERT INTO public.evaluation_snapshots (id, choice_id, user_id, profile_state,"
        " personal_context_snapshot) SELECT gen_random_uuid(), id, user_id, '{}', 'ctx'"
        " FROM public.choices WHERE user_id = %s LIMIT 1",
        "INSERT INTO public.evaluation_predictions (id, snapshot_id, condition, eval_model,"
        " eval_model_version) SELECT gen_random_uuid(), id, 'A', 'm', '1'"
        " FROM public.evaluation_snapshots WHERE user_id = %s",
        "INSERT INTO judgment.servings (id, user_id, scenario_id, served_at)"
        " SELECT gen_random_uuid(), personalized_for_user_id, id, now() FROM public.scenarios"
        " WHERE personalized_for_user_id = %s",
        "INSERT INTO judgment.profile_accumulators (user_id, part, version, state)"
        " VALUES (%s, 'owner', 1, '{}')",
        "INSERT INTO judgment.profile_marks (user_id, key, value) VALUES (%s, 'k', 'v')",
        "INSERT INTO judgment.summary_state (user_id) VALUES (%s)",
        "INSERT INTO judgment.model_calls (id, user_id, role, provider, model, prompt_tokens,"
        " completion_tokens, milliseconds, outcome)"
        " VALUES (gen_random_uuid(), %s, 'summary', 'ollama', 'm', 1, 1, 1, 'ok')",
        "INSERT INTO judgment.owner_models (user_id, role, provider, model)"
        " VALUES (%s, 'summary', 'ollama', 'm')",
        "INSERT INTO judgment.missing_snapshots (decision_id, user_id)"
        " VALUES (gen_random_uuid(), %s)",
        "INSERT INTO judgment.personal_context_state (user_id, updated_at) VALUES (%s, now())",
    ):
        run_as_admin(database, statement, who)
    talk = Talk(database, ScriptedChat(in_order(["Well."])))
    asked = talk.say(who, "Good morning", page="fitness")
    talk.close()
    run_as_admin(
        database,
        "INSERT INTO judgment.approvals (user_id, request_id, conversation_id, turn_id,"
        " tool_call_id, tool_name, summary, input, expected)"
        " SELECT user_id, gen_random_uuid(), id, gen_random_uuid(), 'c', 'memory_write', 's', '{}',"
        " '{}' FROM judgment.conversations WHERE user_id = %s",
        who,
    )
    run_as_admin(
        database,
        "INSERT INTO judgment.memory_imports (user_id, import_id, part, content)"
        " VALUES (%s, gen_random_uuid(), 1, 'not yet')",
        who,
    )
    assert asked.last.type == "done"
    shelf = Shelf(database)
    shelf.capture(who, signal(value={"number": 2**70}), signal("tone", scope="platform:codex"))
    shelf.allow(who, "dinner club", "dining.*")
    shelf.as_owner(who, "GET")
    shelf.close()
    return person


def rows_of(database: TestDatabase, user_id: uuid.UUID) -> Counter[str]:
    """How many rows each inventory table holds of a person, seen by the superuser."""
    with psycopg.connect(database.admin_url) as admin:
        counts: Counter[str] = Counter()
        for table in INVENTORY:
            found = admin.execute(
                f"SELECT count(*) FROM {table.name} WHERE {table.condition}".encode(),
                {"user_id": user_id},
            ).fetchone()
            assert found is not None
            counts[table.name] = found[0]
        return counts


@pytest.mark.promise("R-6", "P1-accept-3")
def test_the_owners_switch_shuts_agents_out_at_once(h: Harness, person: Person):
    reader = Database(h.database.url("judgment_reader"))
    for body, allowed in (('{"enabled": false}', False), ('{"enabled": true}', True)):
        status, answer = h.call("PUT", "/api/v1/agent-access", person.user_id, body=body)
        assert (status, json.loads(answer)) == (200, json.loads(body))
        with reader.transaction(person.user_id) as tx:
            assert store.agent_access(tx) is allowed
    reader.close()


@pytest.mark.promise("P1-refuse-input")
@pytest.mark.parametrize(
    "body", ["", "{}", '{"enabled": 1}', '{"enabled": "no"}', '{"enabled": true, "user_id": "x"}']
)
def test_a_switch_that_is_not_on_or_off_is_400(h: Harness, person: Person, body: str):
    assert h.call("PUT", "/api/v1/agent-access", person.user_id, body=body)[0] == 400


@pytest.mark.promise("R-33", "P1-accept-6")
def test_an_export_holds_every_row_the_inventory_knows_and_nobody_elses(h: Harness, person: Person):
    other = somebody_with_everything(h.database)
    lines, closing = h.page(person.user_id)
    expected = rows_of(h.database, person.user_id)
    assert all(expected[table.name] > 0 for table in INVENTORY)
    assert Counter(line.table for line in lines) == expected
    assert closing["cursor"] is None
    text = json.dumps([line.model_dump(mode="json") for line in lines])
    assert str(other.user_id) not in text
    assert "key_hash" not in text
    assert "Tends to wait — «é»." in {line.row.get("summary_text") for line in lines}


@pytest.mark.promise("R-33")
def test_pages_are_bounded_and_together_the_whole_of_one_moment(
    h: Harness, module_database: TestDatabase, person: Person
):
    whole, _ = h.page(person.user_id)
    small = Harness(module_database, PAGE_OF_A_FILE)
    lines, closing = small.page(person.user_id)
    decide(h.database, person.user_id, 5)
    run_as_admin(
        h.database,
        "INSERT INTO public.agent_api_keys (user_id, key_hash, name) VALUES (%s, %s, 'later')",
        person.user_id,
        uuid.uuid4().hex,
    )
    collected, pages = list(lines), 1
    while closing["cursor"]:
        status, body = small.call(
            "GET", EXPORT, person.user_id, query={"cursor": [closing["cursor"]]}
        )
        assert status == 200
        assert sum(len(json.dumps(line)) for line in body.splitlines()) <= PAGE_OF_A_FILE
        lines, closing = small.page(person.user_id, closing["cursor"])
        collected, pages = collected + lines, pages + 1
    assert pages > 3
    assert collected == whole
    small.postgres.close()


@pytest.mark.promise("R-33", "P1-refuse-rows")
def test_what_another_app_stored_is_exported_to_the_digit_whatever_it_is(
    h: Harness, person: Person
):
    many = "9" * 5_000
    run_as_admin(
        h.database,
        "UPDATE public.player_decision_profiles SET persuadability = %s::jsonb WHERE user_id = %s",
        f'{{"digits": {many}, "large": 1e400, "text": "a\\nb \\u2028 é"}}',
        person.user_id,
    )
    run_as_admin(
        h.database,
        "UPDATE public.profiles SET sync_score = 'NaN' WHERE id = %s",
        person.user_id,
    )
    status, body = h.call("GET", EXPORT, person.user_id)
    assert status == 200
    assert many in body
    assert "1" + "0" * 400 in body
    assert "a\\nb \u2028 é" in body
    assert '"NaN"' in body
    assert all(json.loads(line, parse_int=str)["table"] for line in body.split("\n") if line)


def test_a_row_larger_than_a_page_is_named_with_its_size_and_the_export_goes_on(
    small: Harness, person: Person
):
    run_as_admin(
        small.database,
        "UPDATE public.player_decision_profiles SET summary_text = repeat('x', 5000)"
        " WHERE user_id = %s",
        person.user_id,
    )
    lines = [line for page in small.pages(person.user_id) for line in page]
    (cut,) = [line for line in lines if line.table == "public.player_decision_profiles"]
    assert cut.row["left_out"] == "larger than a page"
    assert cut.row["bytes"] > 5000
    assert Counter(line.table for line in lines) == rows_of(small.database, person.user_id)


def encoded(value: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


KEY = "0b7f3a55-7f2f-4d6f-9c39-0a35b5a9f6f1"
NOW = "2026-11-30T12:00:00Z"


@pytest.mark.promise("P1-refuse-input")
@pytest.mark.parametrize(
    "cursor",
    [
        "",
        "x",
        "!!!",
        "é",
        encoded({}),
        encoded([NOW, "judgment.owners"]),
        encoded([NOW, "auth.users", KEY]),
        encoded([NOW, "judgment.owners; drop table x", KEY]),
        encoded([NOW, "judgment.owners", "1 or 1=1"]),
        encoded([NOW, "judgment.owners", None]),
        encoded([NOW, "judgment.idempotency_keys", "a\x00b"]),
        encoded([NOW, ["judgment.owners"], KEY]),
        encoded(["2026-11-30T12:00:00", "judgment.owners", KEY]),
        encoded(["0001-01-01T00:00:00+14:00", "judgment.owners", KEY]),
        encoded(["9999-12-31T23:59:59-14:00", "judgment.owners", KEY]),
        encoded([1, "judgment.owners", KEY]),
        encoded(["then", "judgment.owners", KEY]),
        "W" * 3000,
    ],
)
def test_a_cursor_that_is_not_ours_is_400(h: Harness, person: Person, cursor: str):
    status, body = h.call("GET", EXPORT, person.user_id, query={"cursor": [cursor]})
    assert (status, json.loads(body)["code"]) == (400, "invalid_request")


@pytest.mark.promise("P1-accept-4")
def test_another_owners_cursor_shows_nothing_of_theirs(small: Harness, person: Person):
    other = somebody_with_everything(small.database)
    _, closing = small.page(other.user_id)
    lines, _ = small.page(person.user_id, closing["cursor"])
    assert str(other.user_id) not in json.dumps([line.row for line in lines])


@pytest.mark.promise("R-33", "P1-accept-6")
def test_erasing_leaves_no_row_of_the_person_and_every_row_of_the_next(h: Harness, person: Person):
    other = somebody_with_everything(h.database)
    before = rows_of(h.database, other.user_id)
    assert h.call("DELETE", "/api/v1/account", person.user_id) == (204, "")
    assert rows_of(h.database, person.user_id).total() == 0
    assert rows_of(h.database, other.user_id) == before
    with psycopg.connect(h.database.admin_url) as admin:
        found = admin.execute("SELECT 1 FROM auth.users WHERE id = %s", (person.user_id,))
        assert found.fetchone() is None
    assert h.call("DELETE", "/api/v1/account", person.user_id) == (204, "")

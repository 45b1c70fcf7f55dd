"""What an owner does about language models, against a real database."""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from functions.account.handler import build
from judgment.access import store
from judgment.access.account import Account
from judgment.contract.models import ModelsInUse
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.ids import new_id
from judgment.llm import store as model_rows
from judgment.llm.model import ModelCall, ModelChoice
from judgment.llm.service import OwnersChoices
from judgment.llm.settings import ModelSettings, configured
from tests.fakes.events import http_event, owner
from tests.fakes.people import make_person, run_as_admin

if TYPE_CHECKING:
    from tests.databases import TestDatabase

MODELS = "/api/v1/models"
SETTINGS = ModelSettings(
    model_summary="openrouter:operators/choice",
    model_offered="ollama:small:1b,openrouter:large",
)


class Harness:
    """The door over a real database, and what a worker sees."""

    def __init__(self, database: TestDatabase, settings: ModelSettings = SETTINGS):
        self.database = database
        self.postgres = Database(database.url("judgment_owner"))
        self.worker = Database(database.url("judgment_worker"))
        self.choices = OwnersChoices(self.postgres.transaction, model_rows, configured(settings))
        account = Account(self.postgres.transaction, store)
        self.door = build(account, self.choices, Telemetry("account"))

    def call(self, method: str, who: uuid.UUID, body: Any = None) -> tuple[int, dict[str, Any]]:
        event = {} if body is None else {"body": json.dumps(body)}
        reply = self.door(http_event(method, MODELS, principal=owner(who), **event), None)
        return reply["statusCode"], json.loads(reply["body"])

    def choose(self, who: uuid.UUID, *models: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        return self.call("PUT", who, {"models": list(models)})

    def roles(self, who: uuid.UUID) -> dict[str, tuple[str | None, str]]:
        """Model and chooser by role, as GET tells."""
        status, body = self.call("GET", who)
        assert status == 200
        told = ModelsInUse.model_validate(body)
        return {m.role: (m.model, m.chosen_by) for m in told.models}

    def own(self, who: uuid.UUID, role: Any = "summary") -> ModelChoice | None:
        """What the worker takes for the owner."""
        with self.worker.transaction(who, read_only=True) as tx:
            return self.choices.own(tx, who, role)

    def close(self) -> None:
        self.postgres.close()
        self.worker.close()


@pytest.fixture
def h(module_database: TestDatabase) -> Iterator[Harness]:
    harness = Harness(module_database)
    yield harness
    harness.close()


@pytest.fixture
def who(module_database: TestDatabase) -> uuid.UUID:
    return make_person(module_database).user_id


def chosen(role: str = "summary", provider: str = "ollama", model: str = "small:1b", **more: Any):
    return {"role": role, "provider": provider, "model": model, **more}


def secret_of(who: uuid.UUID, name: str = "mine") -> str:
    return f"judgment/models/owners/{who}/{name}"


@pytest.mark.promise("R-31", "P2-1-own")
def test_without_a_choice_the_operators_settings_say_who_does_what(h: Harness, who: uuid.UUID):
    assert h.roles(who) == {
        "summary": ("operators/choice", "operator"),
        "evaluation": (None, "nobody"),
        "scenario": (None, "nobody"),
        "message": (None, "nobody"),
        "embedding": (None, "nobody"),
    }
    assert h.call("GET", who)[1]["offered"] == ["ollama:small:1b", "openrouter:large"]
    assert h.own(who) is None


@pytest.mark.promise("R-31", "P2-1-own")
def test_an_owner_chooses_among_what_is_offered_and_all_at_once(h: Harness, who: uuid.UUID):
    status, body = h.choose(who, chosen(), chosen("scenario", "openrouter", "large"))
    assert status == 200
    assert body == h.call("GET", who)[1]
    assert h.roles(who)["summary"] == ("small:1b", "owner")
    assert h.roles(who)["scenario"] == ("large", "owner")
    assert h.own(who) == ModelChoice("ollama", "small:1b")
    assert h.choose(who, chosen("message"))[0] == 200
    assert h.roles(who)["summary"] == ("operators/choice", "operator")
    assert h.roles(who)["message"] == ("small:1b", "owner")
    assert h.choose(who)[0] == 200
    assert {by for _, by in h.roles(who).values()} == {"operator", "nobody"}


@pytest.mark.promise("P2-1-own")
def test_a_key_of_their_own_opens_every_model_of_a_provider(h: Harness, who: uuid.UUID):
    own = chosen(provider="openrouter", model="any/model", key_secret=secret_of(who))
    status, body = h.choose(who, own)
    assert status == 200
    assert "owners/" not in json.dumps(body)
    assert h.own(who) == ModelChoice("openrouter", "any/model", secret_of(who))


@pytest.mark.promise("P2-1-own")
def test_a_key_opens_no_model_of_a_provider_that_runs_on_the_operators_machine(
    h: Harness, who: uuid.UUID
):
    status, body = h.choose(who, chosen(model="huge", key_secret=secret_of(who)))
    assert (status, body["code"]) == (400, "invalid_request")
    assert "takes no key" in body["message"]
    assert h.own(who) is None


@pytest.mark.promise("P2-1-own")
@pytest.mark.parametrize(
    ("model", "status", "code", "says"),
    [
        (chosen(model="huge"), 400, "invalid_request", "not offered"),
        (chosen(provider="openai-compatible"), 400, "invalid_request", "not set up"),
        (chosen(provider="elsewhere"), 400, "invalid_request", ""),
        (chosen(role="poetry"), 400, "invalid_request", ""),
        (chosen(model=""), 400, "invalid_request", ""),
        (chosen(model="a b"), 400, "invalid_request", "visible ASCII"),
        (chosen(model="a\x00"), 400, "invalid_request", ""),
        (chosen(key="sk-1"), 400, "invalid_request", ""),
        (chosen(key_secret="sk-1"), 403, "forbidden", "judgment/models/owners/"),
        (chosen(key_secret="judgment/models/openrouter"), 403, "forbidden", "owners/"),
        (chosen(key_secret="judgment/session"), 403, "forbidden", "owners/"),
    ],
)
def test_what_an_owner_may_not_choose_is_refused_and_changes_nothing(
    h: Harness, who: uuid.UUID, model: dict[str, Any], status: int, code: str, says: str
):
    assert h.choose(who, chosen())[0] == 200
    answered, body = h.choose(who, chosen("scenario"), model)
    assert (answered, body["code"]) == (status, code)
    assert says in body["message"]
    assert "sk-1" not in body["message"]
    assert h.roles(who)["scenario"] == (None, "nobody")
    assert h.roles(who)["summary"] == ("small:1b", "owner")


@pytest.mark.promise("P2-1-own")
@pytest.mark.parametrize("ending", ["", "/../{me}/a", "/.."])
def test_another_owners_secret_cannot_be_named(
    h: Harness, who: uuid.UUID, module_database: TestDatabase, ending: str
):
    other = make_person(module_database).user_id
    name = secret_of(other) + ending.format(me=who)
    assert h.choose(who, chosen(key_secret=name))[0] == 403
    assert h.own(who) is None


@pytest.mark.promise("P2-1-own")
def test_a_secret_of_anothers_in_a_row_is_not_used_however_it_came_there(
    h: Harness, who: uuid.UUID, module_database: TestDatabase
):
    other = make_person(module_database).user_id
    run_as_admin(
        module_database,
        "INSERT INTO judgment.owner_models (user_id, role, provider, model, key_secret)"
        " VALUES (%s, 'summary', 'openrouter', 'x', %s)",
        who,
        secret_of(other),
    )
    assert h.own(who) is None
    assert h.roles(who)["summary"] == ("operators/choice", "operator")


def test_a_row_that_nobody_could_have_chosen_is_passed_over(h: Harness, who: uuid.UUID):
    run_as_admin(
        h.database,
        "INSERT INTO judgment.owner_models (user_id, role, provider, model)"
        " VALUES (%s, 'poetry', 'elsewhere', '')",
        who,
    )
    assert h.own(who) is None
    assert h.roles(who)["summary"] == ("operators/choice", "operator")


@pytest.mark.promise("P2-1-own")
def test_what_is_offered_no_longer_is_used_no_longer(
    h: Harness, who: uuid.UUID, module_database: TestDatabase
):
    assert h.choose(who, chosen())[0] == 200
    later = Harness(module_database, ModelSettings(model_offered="openrouter:large"))
    assert later.own(who) is None
    assert later.roles(who)["summary"] == (None, "nobody")
    later.close()
    assert h.own(who) == ModelChoice("ollama", "small:1b")


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"models": None},
        {"models": {}},
        {"models": [chosen()] * 2},
        {"models": [chosen("summary"), *(chosen(r) for r in "abcde")]},
        {"models": [], "x": 1},
    ],
)
def test_a_body_of_another_form_is_400(h: Harness, who: uuid.UUID, body: Any):
    reply = h.door(
        http_event("PUT", MODELS, principal=owner(who), body=json.dumps(body)),
        None,
    )
    assert reply["statusCode"] == 400


@pytest.mark.promise("P1-accept-4")
def test_owners_do_not_see_each_others_choices(
    h: Harness, who: uuid.UUID, module_database: TestDatabase
):
    other = make_person(module_database).user_id
    assert h.choose(who, chosen())[0] == 200
    assert h.choose(other, chosen(provider="openrouter", model="large"))[0] == 200
    assert h.roles(who)["summary"] == ("small:1b", "owner")
    assert h.roles(other)["summary"] == ("large", "owner")


def test_of_choices_made_at_once_one_stands_whole(
    h: Harness, who: uuid.UUID, module_database: TestDatabase
):
    sets = [("summary", "scenario"), ("scenario", "message"), ("message", "summary")]
    statuses: list[int] = []

    def put(roles: tuple[str, ...]) -> None:
        own = Harness(module_database)
        wanted = [chosen(role) for role in roles]
        statuses.extend(own.choose(who, *wanted)[0] for _ in range(5))
        own.close()

    threads = [threading.Thread(target=put, args=(roles,)) for roles in sets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == [200] * 15
    mine = {role for role, (_, by) in h.roles(who).items() if by == "owner"}
    assert mine in [set(roles) for roles in sets]


@pytest.mark.promise("P2-1-accounts")
def test_calls_are_on_record_with_what_they_cost_whoever_made_them(h: Harness, who: uuid.UUID):
    calls = [
        ModelCall("summary", "ollama", "m", 10, 5, 0.000125, 900, "ok"),
        ModelCall("summary", "ollama", "m", 2**31 - 1, 0, None, 0, "timeout"),
    ]
    for database in (h.worker, h.postgres):
        with database.transaction(who) as tx:
            model_rows.record_calls(tx, who, calls, new_id)
            model_rows.record_calls(tx, who, [], new_id)
    with psycopg.connect(h.database.admin_url) as admin:
        rows = admin.execute(
            "SELECT role, provider, model, prompt_tokens, completion_tokens, cost_usd::float8,"
            " milliseconds, outcome FROM judgment.model_calls WHERE user_id = %s"
            " ORDER BY prompt_tokens",
            (who,),
        ).fetchall()
    assert rows[::2] == [tuple(vars(call).values()) for call in calls]
    assert rows[1::2] == rows[::2]

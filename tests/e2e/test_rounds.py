"""Rounds on the running stack: what an owner plays, what their agents read, who wrote it."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import boto3
import psycopg
import pytest

from infra.local.provision import BUS
from judgment.contract.jobs import SYNC_SOURCE
from tests.e2e.running import SCRIPTED, WINDOW_SECONDS
from tests.e2e.somebody import Somebody
from tests.fakes.model_server import always
from tests.fakes.model_wire import Say, Turn

if TYPE_CHECKING:
    from collections.abc import Iterator

    import httpx

    from tests.e2e.running import RunningStack
    from tests.fakes.model_server import ModelServer

RATIONALE = "It is fair to everyone who has to live with it."
BAKERY = "I run a small bakery with my sister. She wants a second shop; I do not."


@pytest.fixture
def me(stack: RunningStack, api: httpx.Client) -> Somebody:
    return Somebody(stack, api)


@pytest.fixture
def model(scripted_model: ModelServer) -> Iterator[ModelServer]:
    """The provider, its script put back afterwards."""
    scripted_model.turns.clear()
    yield scripted_model
    scripted_model.script = always("no script")


@pytest.fixture
def database(stack: RunningStack) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(stack.database_url, autocommit=True) as connection:
        yield connection


def _facts(turn: Turn) -> list[dict[str, str]]:
    found = re.search(r"<facts>\n(.*)\n</facts>", turn.told)
    assert found is not None
    return json.loads(json.loads(found[1]))["facts"]


def _truthful(turn: Turn) -> Say:
    """Each fact in its own words, cited."""
    said = [{"text": fact["text"], "facts": [fact["id"]]} for fact in _facts(turn)]
    return Say(json.dumps({"summary": said[:2], "block": said[:6]}))


def _lying(turn: Turn) -> Say:
    lie = {"text": "The owner won 97 of 99 decisions.", "facts": [_facts(turn)[0]["id"]]}
    return Say(json.dumps({"summary": [lie], "block": [lie]}))


def _drafting(turn: Turn) -> Say:
    """A draft of whatever shape was asked for."""
    drivers = ("growth", "harmony", "thrift")
    options = [
        {
            "label": f"Way {place + 1} for the bakery",
            "description": f"The sisters take way number {place + 1} and tell the staff on Monday.",
            "offers": [
                {"driver": name, "amount": 0.9 if n == place else 0.2}
                for n, name in enumerate(drivers)
            ],
            "risk": 0.2 + 0.3 * place,
        }
        for place in range(3)
    ]
    draft = {
        "title": "The second shop",
        "description": "Your sister has found a shop in the next street and wants an answer by "
        "Friday. The bakery earns just enough for the two of you and three staff.",
        "constraints": ["The landlord waits until Friday.", "The bank lends once."],
        "options": options,
        "premise": "Your sister wants to grow the bakery, and the money is short.",
        "majority_option": 2,
        "majority_text": "The staff would rather keep to one shop and the hours they have.",
        "counter_arguments": [f"Way {n + 1} costs you the mornings." for n in range(3)],
    }
    schema = turn.body["response_format"]["json_schema"]["schema"]
    return Say(json.dumps({k: v for k, v in draft.items() if k in schema["properties"]}))


@pytest.mark.promise("P2-accept-1", "P2-3", "000-10.4", "P2-5-fresh")
def test_a_round_is_played_and_the_profile_and_its_summary_follow(me: Somebody) -> None:
    cold = me.profile()
    assert (cold["games_played"], cold["summary_generated_at"]) == (0, None)
    scenario = me.next_round("frontier")
    assert me.next_round("frontier") == scenario
    recorded = me.decides(scenario, confidence=0.7, response_ms=41_000, rationale=RATIONALE)
    assert recorded["games_played"] == 1
    assert recorded["summary_due_at"] is not None
    read = me.awaits_summary_of(1)
    assert me.profile_over_mcp() == read
    assert read["games_played"] == 1
    assert read["sync_score"] > 0
    assert read["summary_model_version"] == "composer-1"
    assert "1 recorded decision" in read["agent_context_block"]


@pytest.mark.promise("P2-accept-1", "P2-5-debounce")
def test_within_the_window_a_second_move_waits_and_is_not_lost(me: Somebody) -> None:
    me.decides(me.next_round(), rationale=RATIONALE, confidence=0.9, response_ms=9_000)
    first = me.awaits_summary_of(1)
    for _ in range(3):
        scenario = me.next_round()
        me.decides(scenario, len(scenario["options"]) - 2, confidence=0.2, response_ms=90_000)
    last = me.awaits_summary_of(4)
    began, ended = (datetime.fromisoformat(read["summary_generated_at"]) for read in (first, last))
    assert ended - began >= timedelta(seconds=WINDOW_SECONDS - 0.5)


@pytest.mark.promise("P2-accept-1", "P2-5")
def test_with_a_model_the_text_is_the_models_and_says_so(me: Somebody, model: ModelServer) -> None:
    model.script = _truthful
    me.chooses_the_scripted_model("summary")
    for _ in range(5):
        me.decides(me.next_round(), rationale=RATIONALE, confidence=0.7, response_ms=30_000)
    read = me.awaits_summary_of(5)
    assert read["summary_model_version"].startswith(SCRIPTED.partition(":")[0])
    told = _facts(model.turns[-1])
    assert told[0]["text"] in read["summary_text"]
    assert "tendencies" in read["agent_context_block"]
    assert RATIONALE not in model.told


@pytest.mark.promise("P2-accept-1", "P2-5-verify")
def test_a_model_that_invents_is_asked_once_more_and_not_believed(
    me: Somebody, model: ModelServer, database: psycopg.Connection[Any]
) -> None:
    me.chooses_the_scripted_model("summary")
    model.script = _lying
    for _ in range(4):
        me.decides(me.next_round(), rationale=RATIONALE, confidence=0.7, response_ms=30_000)
    read = me.awaits_summary_of(4)
    assert read["summary_model_version"] == "composer-1"
    assert "97" not in read["summary_text"]
    rows = database.execute(
        "SELECT outcome FROM judgment.model_calls WHERE user_id = %s", (me.user_id,)
    ).fetchall()
    assert len(rows) >= 2
    [(failure,)] = database.execute(
        "SELECT last_failure FROM judgment.summary_state WHERE user_id = %s", (me.user_id,)
    ).fetchall()
    assert failure == "invalid_output"


@pytest.mark.promise("P2-accept-4", "000-8", "000-12-personal")
def test_a_personal_round_is_made_played_and_nobody_elses(
    stack: RunningStack, api: httpx.Client, me: Somebody, model: ModelServer
) -> None:
    path = "/api/v1/scenarios/personal"
    empty = me.ask("POST", path, status=400)
    assert "personal-context" in empty["message"]
    me.ask("PUT", "/api/v1/personal-context", {"personal_context": BAKERY})
    unconfigured = me.ask("POST", path, status=503)
    assert "MODEL_SCENARIO" in unconfigured["message"]
    me.chooses_the_scripted_model("scenario")
    model.script = _drafting
    made = me.ask("POST", path, status=201)
    assert (made["theme"], made["personalized"]) == ("personal", True)
    assert made["title"] == "The second shop"
    mine = f"/api/v1/scenarios/{made['id']}"
    assert me.ask("GET", mine) == made
    somebody_else = Somebody(stack, api)
    assert somebody_else.ask("GET", mine, status=404)["code"] == "not_found"
    assert me.decides(made, 1)["games_played"] == 1


@pytest.mark.promise("P2-accept-4", "000-8.5", "P2-7")
def test_a_useless_model_ends_in_a_canonical_round_and_the_21st_of_a_day_is_refused(
    me: Somebody, model: ModelServer
) -> None:
    """Asked again where midnight passed in between."""
    me.ask("PUT", "/api/v1/personal-context", {"personal_context": BAKERY})
    me.chooses_the_scripted_model("scenario")
    model.script = always("no JSON at all")
    first = me.ask("POST", "/api/v1/scenarios/personal", status=201)
    assert first["personalized"] is False
    assert first["theme"] != "personal"
    statuses = [_status(me) for _ in range(20)]
    if statuses[-1] != 429:
        statuses += [_status(me) for _ in range(20)]
    assert 201 in statuses
    assert statuses[-1] == 429


def _status(me: Somebody) -> int:
    return me.api.post("/api/v1/scenarios/personal", headers=me.headers).status_code


@pytest.mark.promise("P2-3-intake", "R-24-intake")
def test_a_decision_of_a_sync_app_is_noted_once_and_the_summary_follows(
    stack: RunningStack, me: Somebody, database: psycopg.Connection[Any]
) -> None:
    database.execute(
        "INSERT INTO public.player_decision_profiles (user_id, games_analyzed, persuadability)"
        ' VALUES (%s, 9, \'{"n": 9, "moved": 0.9}\')',
        (me.user_id,),
    )
    decision = str(uuid4())
    detail = {
        "id": str(uuid4()),
        "type": "decision.recorded",
        "version": 1,
        "user_id": str(me.user_id),
        "subject_id": decision,
        "correlation_id": "tests",
    }
    events = boto3.client("events", **stack.aws)
    entry = {"EventBusName": BUS, "Source": SYNC_SOURCE, "DetailType": detail["type"]}
    for _ in range(2):
        answer = events.put_events(Entries=[{**entry, "Detail": json.dumps(detail)}])
        assert answer["FailedEntryCount"] == 0
    read = me.awaits_summary_of(9)
    assert read["games_played"] == 9
    rows = database.execute(
        "SELECT decision_id::text FROM judgment.missing_snapshots WHERE user_id = %s",
        (me.user_id,),
    ).fetchall()
    assert rows == [(decision,)]


@pytest.mark.promise("P2-refuse-decision")
def test_what_cannot_be_recorded_is_refused_on_the_way_in(me: Somebody) -> None:
    scenario = me.next_round()
    good = {"scenario_id": scenario["id"], "option_id": scenario["options"][0]["id"]}
    for more, status in (
        ({"option_id": "zz"}, 400),
        ({"confidence": 1.2}, 400),
        ({"response_ms": -1}, 400),
        ({"rationale": "a\x00b"}, 400),
        ({"rationale": "x" * 4_001}, 413),
        ({"rationale": "x" * 1_000_000}, 413),
        ({"scenario_id": str(uuid4())}, 404),
    ):
        refused = me.ask("POST", "/api/v1/decisions", {**good, **more}, status)
        assert set(refused) == {"code", "message"}
    half = json.dumps({**good, "rationale": "\ud800"})
    headers = {**me.headers, "Content-Type": "application/json"}
    assert me.api.post("/api/v1/decisions", content=half, headers=headers).status_code == 400
    nan = json.dumps({**good, "confidence": float("nan")})
    assert me.api.post("/api/v1/decisions", content=nan, headers=headers).status_code == 400
    assert me.decides(scenario)["games_played"] == 1
    assert me.ask("POST", "/api/v1/decisions", good, 409)["code"] == "conflict"

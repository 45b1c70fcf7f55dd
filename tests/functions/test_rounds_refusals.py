"""What cannot be recorded is refused in plain words, and nothing of it stays anywhere."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from judgment.db.connection import Database
from tests.fakes.people import make_owner, run_as_admin
from tests.fakes.rounds import (
    ASKING,
    everything_of,
    rows,
    scenario,
    store_scenario,
)
from tests.functions.test_rounds import Harness

if TYPE_CHECKING:
    from judgment.scenarios.model import Scenario
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P2-refuse-decision", "P2-accept-3")


@pytest.fixture
def h(module_database: TestDatabase) -> Iterator[Harness]:
    harness = Harness(module_database)
    yield harness
    harness.close()


@pytest.fixture(scope="module")
def plain(module_database: TestDatabase) -> Scenario:
    """A round that asks for nothing but the choice."""
    return store_scenario(module_database)


@pytest.fixture(scope="module")
def asking(module_database: TestDatabase) -> Scenario:
    """A round that asks for everything."""
    return store_scenario(module_database, scenario(stimuli=ASKING))


def refused(h: Harness, body: Any, status: int, code: str) -> str:
    """The refusal's sentence; nothing of the owner's was written."""
    before = everything_of(h.database, h.who)
    answered = h.decide(body, key=uuid.uuid4().hex)
    assert (answered[0], answered[1]["code"]) == (status, code), answered
    assert everything_of(h.database, h.who) == before
    assert h.bus.taken == []
    assert h.queue.sent == []
    return answered[1]["message"]


def test_a_scenario_that_nobody_has_or_another_has_is_404(h: Harness):
    stranger = make_owner(h.database)
    theirs = store_scenario(h.database, scenario(theme="personal", owner_user_id=stranger))
    archived = store_scenario(h.database, archived=True)
    messages = {
        refused(h, {"scenario_id": str(wanted), "option_id": "open"}, 404, "not_found")
        for wanted in (uuid.uuid4(), theirs.id, archived.id)
    }
    assert len(messages) == 1


def test_a_scenario_that_was_decided_is_409_and_the_first_answer_stands(h: Harness):
    made = store_scenario(h.database)
    body = {"scenario_id": str(made.id), "option_id": "open"}
    assert h.decide(body)[0] == 201
    kept = everything_of(h.database, h.who)
    for again in (body, body | {"option_id": "shut"}):
        status, problem = h.decide(again)
        assert (status, problem["code"]) == (409, "conflict")
        assert "already" in problem["message"]
    assert everything_of(h.database, h.who) == kept
    assert len(h.bus.taken) == 2


def test_a_decision_frees_nobody_else_and_binds_nobody_else(h: Harness, plain: Scenario):
    body = {"scenario_id": str(plain.id), "option_id": "open"}
    for who in (h.who, make_owner(h.database)):
        assert h.decide(body, who=who)[0] == 201


@pytest.mark.parametrize(
    "option", ["no", "Open the books", "OPEN", "open ", "open\u0000", "\uff4fpen"]
)
def test_an_option_that_is_not_offered_is_400(h: Harness, plain: Scenario, option: str):
    body = {"scenario_id": str(plain.id), "option_id": option}
    assert "option_id" in refused(h, body, 400, "invalid_request")


@pytest.mark.parametrize(
    "name", ["first_option_id", "self_predicted_option_id", "predicted_peer_option_id"]
)
def test_an_answer_that_was_not_asked_for_or_not_offered_is_400(
    h: Harness, plain: Scenario, asking: Scenario, name: str
):
    body = {"scenario_id": str(plain.id), "option_id": "open", name: "shut"}
    assert name in refused(h, body, 400, "invalid_request")
    body = {"scenario_id": str(asking.id), "option_id": "open", name: "nothing"}
    assert name in refused(h, body, 400, "invalid_request")


@pytest.mark.parametrize(
    "text",
    ["a\u0000b", "\u0007", "a\u001b[31m", "\u007f", "\u0085", "\u000b", "\u000c", "\u0080x"],
)
def test_a_rationale_with_control_characters_is_400(h: Harness, plain: Scenario, text: str):
    body = {"scenario_id": str(plain.id), "option_id": "open", "rationale": text}
    assert "rationale" in refused(h, body, 400, "invalid_request")


@pytest.mark.parametrize("half", ["\\ud800", "x\\udfffx", "\\udc00\\ud800"])
def test_half_a_surrogate_pair_is_400(h: Harness, plain: Scenario, half: str):
    head = f'{{"scenario_id": "{plain.id}", "option_id": "open", "rationale": '
    refused(h, f'{head}"{half}"}}', 400, "invalid_request")
    refused(h, f'{head}"{half.encode().decode("unicode_escape")}"}}', 400, "invalid_request")
    refused(h, f'{{"scenario_id": "{plain.id}", "option_id": "{half}"}}', 400, "invalid_request")


def test_a_rationale_too_long_is_413_and_is_not_cut(h: Harness, plain: Scenario):
    body = {"scenario_id": str(plain.id), "option_id": "open"}
    assert "4000" in refused(h, body | {"rationale": "⛵" * 4_001}, 413, "too_large")
    refused(h, body | {"rationale": "x" * 1_000_000}, 413, "too_large")
    refused(h, body | {"rationale": " " * 4_001}, 413, "too_large")
    longest = "⛵" * 4_000
    assert h.decide(body | {"rationale": longest})[0] == 201
    assert rows(
        h.database, "SELECT rationale FROM judgment.decisions WHERE user_id = %s", h.who
    ) == [(longest,)]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("confidence", v) for v in ("1.2", "-0.1", "NaN", "1e400", "-1e400", "Infinity")),
        *(("confidence", v) for v in ("true", '"0.5"', "[]", "{}")),
        *(("response_ms", v) for v in ("-1", "1.5", "86400001", "1e3", "true", '"1"', "NaN")),
        *(("response_ms", v) for v in ("1" + "0" * 400, "[1]")),
        *(("option_id", v) for v in ('""', "null", "1", "true", '["open"]', f'"{"x" * 65}"')),
        *(("scenario_id", v) for v in ('"x"', "null", "1", '""', '"open"')),
        *(("rationale", v) for v in ("1", "false", '["x"]', "{}")),
        *(("first_option_id", v) for v in ('""', "1", "true")),
        *(("user_id", v) for v in ('"0b7f3a55-7f2f-4d6f-9c39-0a35b5a9f6f1"',)),
        *((name, "null") for name in ("retest", "recorded_at", "__proto__", "")),
    ],
)
def test_a_value_out_of_its_type_or_range_is_400(
    h: Harness, asking: Scenario, name: str, value: str
):
    fields = {"scenario_id": f'"{asking.id}"', "option_id": '"open"'} | {name: value}
    text = "{" + ", ".join(f'"{k}": {v}' for k, v in fields.items()) + "}"
    refused(h, text, 400, "invalid_request")


@pytest.mark.parametrize(
    "body",
    ["", "{}", "[]", "null", "open", '{"scenario_id"', '{"option_id": "open"}', "[" * 10_000],
)
def test_a_body_that_is_no_decision_is_400(h: Harness, body: str):
    refused(h, body, 400, "invalid_request")


@pytest.mark.parametrize("key", ["", "x" * 256, "ü", "a\tb"])
def test_a_key_out_of_form_is_400(h: Harness, plain: Scenario, key: str):
    before = everything_of(h.database, h.who)
    status, problem = h.decide({"scenario_id": str(plain.id), "option_id": "open"}, key=key)
    assert (status, problem["code"]) == (400, "invalid_request")
    assert everything_of(h.database, h.who) == before


@pytest.mark.promise("R-22")
def test_an_owner_whose_profile_a_sync_app_keeps_plays_there(h: Harness, plain: Scenario):
    run_as_admin(
        h.database,
        "INSERT INTO public.player_decision_profiles (user_id, games_analyzed) VALUES (%s, 23)",
        h.who,
    )
    body = {"scenario_id": str(plain.id), "option_id": "open"}
    assert "Sync app" in refused(h, body, 409, "conflict")
    run_as_admin(
        h.database,
        "INSERT INTO judgment.profile_state (user_id, score_owner) VALUES (%s, 'sync')",
        h.who,
    )
    assert "Sync app" in refused(h, body, 409, "conflict")


def test_somebody_who_was_erased_is_404(h: Harness, plain: Scenario):
    body = {"scenario_id": str(plain.id), "option_id": "open"}
    nobody = uuid.uuid4()
    for key in (None, "k"):
        status, problem = h.decide(body, who=nobody, key=key)
        assert (status, problem["code"]) == (404, "not_found")


def test_a_database_that_is_down_is_503_and_later_the_same_request_works(
    h: Harness, plain: Scenario
):
    body = {"scenario_id": str(plain.id), "option_id": "open"}
    dead = Harness(h.database, Database("postgresql://judgment_owner@127.0.0.1:1/x"))
    status, problem = dead.decide(body, key="k", who=h.who)
    assert (status, problem["code"]) == (503, "unavailable")
    assert h.decide(body, key="k")[0] == 201

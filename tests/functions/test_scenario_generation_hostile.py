"""Contexts that try to take over, and a model on the wire that lets them.

Whatever it answers, twice, the owner gets a round by the rules: one that was made, or a canonical
one of the same domain. What is looked at is what was stored and what was answered.
"""

from __future__ import annotations

import json
import re
import unicodedata
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from judgment.contract.personal import PERSONAL_CONTEXT_LIMIT
from judgment.contract.profile import CATEGORIES
from judgment.profile.drivers import SCENARIO_DRIVERS
from judgment.scenarios.model import NONE_ID, scenario_from_row
from judgment.scenarios.personal.domain import Target
from judgment.scenarios.personal.prompt import cut, instructions
from judgment.scenarios.rules import complaints
from tests.fakes.hostile import HOSTILE, Hostile
from tests.fakes.model_server import ModelServer
from tests.fakes.model_wire import Say, Turn
from tests.fakes.workshop import Workshop, client_of

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P2-7-hostile", "000-8.6")


def nothing(_: Turn) -> Say:
    """The script before a test has set its own."""
    return Say("")


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer(nothing) as running:
        yield running


@pytest.fixture(scope="module")
def w(module_database: TestDatabase, server: ModelServer) -> Iterator[Workshop]:
    workshop = Workshop(module_database, client_of(server.url), most=1_000)
    for _ in HOSTILE:
        workshop.canonical("shelf", CATEGORIES[0])
    yield workshop
    workshop.close()


def obeys(server: ModelServer, hostile: Hostile) -> None:
    """From now on the model does what this context says."""

    def script(turn: Turn) -> Say:
        return Say(hostile.obeys(turn.body["response_format"]["json_schema"]["name"]))

    server.script = script
    server.turns.clear()


def test_there_are_enough_of_many_kinds():
    assert len(HOSTILE) >= 40
    assert len({hostile.name for hostile in HOSTILE}) == len(HOSTILE)
    assert any(len(h.context.encode()) == PERSONAL_CONTEXT_LIMIT for h in HOSTILE)


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda h: h.name.replace(" ", "-"))
def test_an_obedient_model_ends_in_a_round_by_the_rules(
    w: Workshop, server: ModelServer, hostile: Hostile
):
    obeys(server, hostile)
    who = w.person(hostile.context)
    status, body = w.make(who)
    assert status == 201
    assert body["personalized"] is (hostile.ends == "made")
    assert body["category"] == CATEGORIES[0]
    ids = [option["id"] for option in body["options"]]
    assert ids.count(NONE_ID) == 1
    assert len(ids) >= 4
    assert body["constraints"]
    assert w.used(who) == 1
    stored = w.stored(who)
    assert len(stored) == (hostile.ends == "made")
    for row in stored:
        assert_by_the_rules(row, who)
        assert row["id"] == body["id"]
    fell_back = w.rows("SELECT subject_id FROM judgment.outbox WHERE user_id = %(who)s", who=who)
    assert fell_back == ([] if stored else [(uuid.UUID(body["id"]),)])


def assert_by_the_rules(row: Any, who: uuid.UUID) -> None:
    scenario = scenario_from_row({**row, "scenario_id": uuid.UUID(row["scenario_id"])})
    assert scenario is not None
    assert complaints(scenario) == ()
    assert (row["theme"], row["personalized_for_user_id"]) == ("personal", str(who))
    assert row["owner_user_id"] == str(who)
    assert row["library_key"] is None
    for option in scenario.real_options:
        assert set(option.drivers) <= set(SCENARIO_DRIVERS)
        assert all(0 <= amount <= 1 for amount in option.drivers.values())


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda h: h.name.replace(" ", "-"))
def test_the_model_is_told_our_words_and_theirs_as_one_string(
    w: Workshop, server: ModelServer, hostile: Hostile
):
    obeys(server, hostile)
    w.make(w.person(hostile.context))
    system, user = server.turns[0].body["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    ours = instructions(Target(CATEGORIES[0], "self_awareness", "premise"))
    assert system["content"] == ours
    assert json.loads(user["content"]) == cut(hostile.context)
    assert not re.search(r"[\n\r<>\[\]{}`|]", user["content"])
    kinds = {unicodedata.category(character) for character in user["content"]}
    assert not kinds & {"Cc", "Cf", "Co", "Cn", "Zl", "Zp"}
    assert len(server.turns) <= 2


def test_a_hostile_context_spends_nothing_of_anybody_elses_day(w: Workshop, server: ModelServer):
    obeys(server, HOSTILE[0])
    other = w.person()
    w.make(w.person(HOSTILE[0].context))
    assert w.used(other) == 0

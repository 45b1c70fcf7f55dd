"""Personal rounds, from the making over the playing to the emptying, through the three doors."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest

from functions.rounds.handler import build
from judgment.entry.observability import Telemetry
from tests.fakes.bus import FakeQueue
from tests.fakes.diary import Diary
from tests.fakes.drafts import good
from tests.fakes.events import http_event, owner
from tests.fakes.models import in_turn
from tests.fakes.rounds import rounds_over
from tests.fakes.workshop import NOTES, Workshop

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P2-7", "000-8", "000-8.4", "P2-accept-4")

NEXT = "/api/v1/scenarios/next"
DECISIONS = "/api/v1/decisions"


class Day:
    """An owner's day at the three doors."""

    def __init__(self, database: TestDatabase):
        self.workshop = Workshop(database)
        self.workshop.shelf()
        self.diary = Diary(database)
        rounds = rounds_over(
            self.workshop.postgres, self.workshop.bus, FakeQueue(), lambda: self.workshop.now
        )
        self.rounds = build(rounds, Telemetry("rounds"))

    def call(self, who: uuid.UUID, method: str, path: str, **event: Any) -> tuple[int, Any]:
        """Ask the door of rounds."""
        reply = self.rounds(http_event(method, path, principal=owner(who), **event), None)
        return reply["statusCode"], json.loads(reply["body"])

    def look(self, who: uuid.UUID, scenario: str) -> tuple[int, Any]:
        """Show that round again."""
        return self.call(
            who,
            "GET",
            f"/api/v1/scenarios/{scenario}",
            resource="/api/v1/scenarios/{scenario_id}",
            path_parameters={"scenario_id": scenario},
        )

    def decide(self, who: uuid.UUID, scenario: str, option: str = "b") -> tuple[int, Any]:
        """Take that option."""
        body = json.dumps({"scenario_id": scenario, "option_id": option, "rationale": "Because."})
        return self.call(who, "POST", DECISIONS, body=body)


@pytest.fixture
def day(module_database: TestDatabase) -> Iterator[Day]:
    made = Day(module_database)
    yield made
    made.workshop.close()
    made.diary.postgres.close()


def test_a_made_round_is_played_like_any_other_and_by_its_owner_alone(day: Day):
    who, other = day.workshop.person(), day.workshop.person()
    made = day.workshop.make(who)[1]
    assert day.look(who, made["id"]) == (200, made)
    assert day.look(other, made["id"])[0] == 404
    assert day.decide(other, made["id"])[0] == 404
    status, recorded = day.decide(who, made["id"])
    assert (status, recorded["games_played"]) == (201, 1)
    assert day.decide(who, made["id"])[0] == 409
    rows = day.workshop.rows(
        "SELECT theme, category, chosen_label FROM judgment.decisions WHERE user_id = %(who)s",
        who=who,
    )
    assert rows == [("personal", made["category"], made["options"][1]["label"])]


def test_none_of_the_above_is_an_answer(day: Day):
    who = day.workshop.person()
    made = day.workshop.make(who)[1]
    assert day.decide(who, made["id"], "none")[0] == 201


def test_next_never_serves_a_personal_round_and_has_no_such_theme(day: Day):
    who, other = day.workshop.person(), day.workshop.person()
    made = day.workshop.make(who)[1]
    for asking in (who, other):
        status, body = day.call(asking, "GET", NEXT)
        assert status == 200
        assert (body["personalized"], body["id"] == made["id"]) == (False, False)
    assert day.call(who, "GET", NEXT, query={"theme": ["personal"]})[0] == 400


def test_a_fallback_waits_to_be_played_as_a_canonical_round_does(day: Day):
    day.workshop.scripted.script = in_turn("refused")
    who = day.workshop.person()
    served = day.workshop.make(who)[1]
    assert day.look(who, served["id"]) == (200, served)
    assert day.call(who, "GET", NEXT)[1]["id"] == served["id"]
    assert day.decide(who, served["id"], "a")[0] == 201


@pytest.mark.promise("000-7-delete", "R-4")
def test_after_emptying_what_was_answered_stays_and_what_was_not_is_gone(day: Day):
    who = day.workshop.person()
    answered, waiting = (day.workshop.make(who)[1]["id"] for _ in range(2))
    assert day.decide(who, answered)[0] == 201
    assert day.diary.write(who, "")[0] == 200
    assert day.look(who, waiting)[0] == 404
    assert day.decide(who, waiting)[0] == 404
    assert day.look(who, answered)[0] == 200
    snapshots = day.workshop.rows(
        "SELECT personal_context_snapshot, length(personal_context_sha256)"
        " FROM public.evaluation_snapshots WHERE user_id = %(who)s",
        who=who,
    )
    assert snapshots == [(None, 64)]
    assert day.workshop.make(who)[0] == 400


@pytest.mark.promise("P2-5-canary", "R-5")
def test_no_word_of_the_context_or_of_a_round_made_from_it_is_in_the_profile(day: Day):
    who = day.workshop.person("canary-5521 " + NOTES)
    day.workshop.scripted.script = lambda role, prompt, shape: json.dumps(
        good(shape.__name__, title="The canary-5521 oven")
    )
    for _ in range(3):
        made = day.workshop.make(who)[1]
        assert "canary-5521" in made["title"]
        day.decide(who, made["id"])
    profile = day.workshop.rows(
        "SELECT to_jsonb(p)::text FROM public.player_decision_profiles p WHERE user_id = %(who)s",
        who=who,
    )
    accumulated = day.workshop.rows(
        "SELECT state FROM judgment.profile_accumulators WHERE user_id = %(who)s", who=who
    ) + day.workshop.rows(
        "SELECT key, value FROM judgment.profile_marks WHERE user_id = %(who)s", who=who
    )
    assert profile
    assert accumulated
    assert "canary-5521" not in json.dumps([*profile, *accumulated])


def test_a_fallback_served_while_the_clock_is_set_back_is_what_next_shows(day: Day):
    who = day.workshop.person()
    first = day.call(who, "GET", NEXT)[1]
    day.workshop.now -= timedelta(hours=1)
    day.workshop.scripted.script = in_turn("provider_error")
    status, made = day.workshop.make(who)
    assert (status, made["personalized"]) == (201, False)
    assert made["id"] != first["id"]
    assert day.call(who, "GET", NEXT)[1]["id"] == made["id"]

"""Owners play, through the door, against a real database."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from functions.rounds.handler import build
from judgment.db.connection import Database
from judgment.entry.observability import Telemetry
from judgment.kit.hashing import sha256_hex
from judgment.profile import store as profiles
from judgment.profile.build import build as build_profile
from tests.fakes.events import http_event, owner
from tests.fakes.people import make_owner, run_as_admin
from tests.fakes.rounds import ASKING, Table, everything_of, rows, scenario, store_scenario

if TYPE_CHECKING:
    from judgment.scenarios.choosing import Settings
    from judgment.scenarios.model import Scenario
    from tests.databases import TestDatabase

DECISIONS = "/api/v1/decisions"


class Harness(Table):
    """The door over a real database, with one owner."""

    def __init__(
        self,
        database: TestDatabase,
        postgres: Database | None = None,
        settings: Settings | None = None,
    ):
        super().__init__(database, postgres=postgres, settings=settings)
        self.door = build(self.rounds, Telemetry("rounds"))
        self.who = make_owner(database)

    def decide(
        self, body: Any, *, key: str | None = None, who: uuid.UUID | None = None
    ) -> tuple[int, Any]:
        headers = {"X-Correlation-Id": "corr-1"} | ({} if key is None else {"Idempotency-Key": key})
        text = body if isinstance(body, str) else json.dumps(body)
        event = http_event(
            "POST", DECISIONS, principal=owner(who or self.who), headers=headers, body=text
        )
        return self.answer(event)

    def show(self, scenario_id: object, *, who: uuid.UUID | None = None) -> tuple[int, Any]:
        event = http_event(
            "GET",
            f"/api/v1/scenarios/{scenario_id}",
            resource="/api/v1/scenarios/{scenario_id}",
            principal=owner(who or self.who),
        )
        return self.answer(event)

    def answer(self, event: dict[str, Any]) -> tuple[int, Any]:
        reply = self.door(event, None)
        return reply["statusCode"], json.loads(reply["body"])

    def play(self, made: Scenario | None = None, **answers: Any) -> Any:
        """Decide on a scenario of its own; what was answered."""
        made = made or store_scenario(self.database)
        status, body = self.decide({"scenario_id": str(made.id), "option_id": "open"} | answers)
        assert status == 201, body
        return body

    def profile_row(self) -> str | None:
        found = rows(
            self.database,
            "SELECT to_jsonb(p)::text FROM public.player_decision_profiles p WHERE user_id = %s",
            self.who,
        )
        return found[0][0] if found else None


@pytest.fixture
def h(module_database: TestDatabase) -> Iterator[Harness]:
    harness = Harness(module_database)
    yield harness
    harness.close()


@pytest.mark.promise("P2-3", "000-9.1", "R-39")
def test_a_decision_is_stored_with_everything_that_was_shown_and_answered(h: Harness):
    made = store_scenario(h.database, scenario(stimuli=ASKING))
    body = h.play(
        made,
        option_id="shut",
        rationale="  They asked nicely,\n\tbut “no” — é.",
        confidence=0.1234567890123456789,
        response_ms=4_200,
        first_option_id="open",
        self_predicted_option_id="part",
        predicted_peer_option_id="shut",
    )
    assert body == {
        "decision_id": body["decision_id"],
        "scenario_id": str(made.id),
        "recorded_at": "2026-11-30T12:00:00Z",
        "retest": False,
        "games_played": 1,
        "sync_score": body["sync_score"],
        "moved": 1.0,
        "summary_due_at": "2026-11-30T12:00:00Z",
    }
    assert body["sync_score"] > 0
    ((kept, confidence),) = rows(
        h.database,
        "SELECT to_jsonb(d), confidence::text FROM judgment.decisions d WHERE user_id = %s",
        h.who,
    )
    assert kept["id"] == body["decision_id"]
    assert kept["source"] == "judgment"
    assert kept["options"] == [option.to_json() for option in made.options]
    assert kept["stimuli"] == ASKING.to_json()
    assert (kept["chosen_option_id"], kept["chosen_label"]) == ("shut", "Keep them shut")
    assert kept["rationale"] == "  They asked nicely,\n\tbut “no” — é."
    assert confidence == repr(0.1234567890123456789)
    assert kept["response_ms"] == 4_200
    assert kept["first_option_id"] == "open"
    assert kept["self_predicted_option_id"] == "part"
    assert kept["predicted_peer_option_id"] == "shut"


@pytest.mark.promise("P2-3", "R-24")
def test_the_events_are_sent_and_the_writer_of_summaries_is_woken_after_the_commit(h: Harness):
    first = h.play()
    assert [(e.type, e.subject_id, e.user_id, e.correlation_id) for e in h.bus.taken] == [
        ("decision.recorded", uuid.UUID(first["decision_id"]), h.who, "corr-1"),
        ("profile.changed", h.who, h.who, "corr-1"),
    ]
    ((message, delay),) = h.queue.sent
    assert json.loads(message) == {"user_id": str(h.who), "correlation_id": "corr-1"}
    assert delay == 0
    h.play()
    assert len(h.bus.taken) == 4
    assert len(h.queue.sent) == 1, "a summary was wanted already"
    assert rows(h.database, "SELECT count(*) FROM judgment.outbox WHERE sent_at IS NULL") == [(0,)]


@pytest.mark.promise("000-9.1")
def test_the_snapshot_is_the_profile_before_the_round_byte_for_byte(h: Harness):
    first = h.play()
    run_as_admin(
        h.database,
        "UPDATE public.player_decision_profiles SET summary_text = 'Waits — é.',"
        " persuadability = %s::jsonb WHERE user_id = %s",
        f'{{"digits": {"9" * 400}, "float": 0.30000000000000004}}',
        h.who,
    )
    before = h.profile_row()
    context = "I sell boats.\nOn Sundays I do not. ⛵"
    run_as_admin(
        h.database, "UPDATE public.profiles SET personal_context = %s WHERE id = %s", context, h.who
    )
    second = h.play()
    kept = rows(
        h.database,
        "SELECT choice_id::text, profile_state::text, personal_context_snapshot,"
        " personal_context_sha256 FROM public.evaluation_snapshots WHERE user_id = %s"
        " ORDER BY profile_state IS NOT NULL",
        h.who,
    )
    assert kept == [
        (first["decision_id"], None, None, None),
        (second["decision_id"], before, context, sha256_hex(context)),
    ]
    assert h.profile_row() != before


def test_an_empty_personal_context_is_none_in_the_snapshot(h: Harness):
    run_as_admin(
        h.database, "UPDATE public.profiles SET personal_context = '' WHERE id = %s", h.who
    )
    h.play()
    assert rows(
        h.database,
        "SELECT personal_context_snapshot, personal_context_sha256"
        " FROM public.evaluation_snapshots WHERE user_id = %s",
        h.who,
    ) == [(None, None)]


@pytest.mark.promise("P2-3", "P2-4")
def test_the_stored_profile_is_what_a_rebuild_from_the_decisions_gives(h: Harness):
    made = store_scenario(h.database, scenario(stimuli=ASKING))
    h.play(made, confidence=0.7, response_ms=900, first_option_id="shut", rationale="Fair is fair.")
    for option in ("shut", "part", "none", "open", "open"):
        h.play(option_id=option, confidence=0.1 + 0.2, response_ms=1_000)
    assert_profile_equals_rebuild(h.database, h.who, 6)


def assert_profile_equals_rebuild(database: TestDatabase, who: uuid.UUID, games: int) -> None:
    """What is stored of an owner is what their decisions give from scratch."""
    reader = Database(database.url("judgment_owner"))
    with reader.transaction(who) as tx:
        rebuilt = profiles.save_parameters(who, build_profile(profiles.decisions(tx, who)))
    reader.close()
    ((stored,),) = rows(
        database,
        "SELECT to_jsonb(p) FROM public.player_decision_profiles p WHERE user_id = %s",
        who,
    )
    texts = {"summary_text", "agent_context_block", "summary_model_version", "summary_generated_at"}
    for column, value in rebuilt.items():
        if column in texts:
            continue
        expected = getattr(value, "obj", value)
        expected = str(who) if column == "user_id" else json.loads(json.dumps(expected))
        assert stored[column] == expected, column
    assert stored["games_analyzed"] == games


@pytest.mark.promise("P2-3")
@pytest.mark.parametrize("blank", ["", " ", "\n\t \r\n", "\u2003"])
def test_a_blank_rationale_is_none(h: Harness, blank: str):
    h.play(rationale=blank)
    assert rows(
        h.database, "SELECT rationale FROM judgment.decisions WHERE user_id = %s", h.who
    ) == [(None,)]


@pytest.mark.promise("P2-refuse-postgres")
def test_a_clock_that_was_moved_back_does_not_reorder_decisions(h: Harness):
    first = h.play()
    h.clock.move(days=-400)
    second = h.play()
    third = h.play()
    assert first["recorded_at"] == "2026-11-30T12:00:00Z"
    assert second["recorded_at"] == "2026-11-30T12:00:00.000001Z"
    assert third["recorded_at"] == "2026-11-30T12:00:00.000002Z"
    h.clock.move(days=800)
    assert h.play()["recorded_at"] == "2028-01-04T12:00:00Z"


@pytest.mark.promise("P2-3", "P2-refuse-twice")
def test_a_repeated_key_gets_the_first_answer_and_changes_nothing(h: Harness):
    made = store_scenario(h.database)
    body = {"scenario_id": str(made.id), "option_id": "part", "confidence": 0.5}
    first = h.decide(body, key="k-1")
    kept = everything_of(h.database, h.who)
    h.clock.move(days=1)
    assert first[0] == 201
    assert h.decide(body, key="k-1") == first
    respelled = json.dumps(dict(reversed(body.items())), indent=2)
    assert h.decide(respelled, key="k-1") == first
    assert everything_of(h.database, h.who) == kept
    assert len(h.bus.taken) == 2
    status, problem = h.decide(body | {"option_id": "open"}, key="k-1")
    assert (status, problem["code"]) == (409, "conflict")
    assert everything_of(h.database, h.who) == kept


@pytest.mark.promise("P2-3", "P2-refuse-postgres")
def test_a_bus_and_a_queue_that_are_down_cost_the_owner_nothing(h: Harness):
    h.bus.down = h.queue.down = True
    body = h.play()
    assert body["games_played"] == 1
    assert rows(
        h.database,
        "SELECT count(*) FROM judgment.outbox WHERE user_id = %s AND sent_at IS NULL",
        h.who,
    ) == [(2,)]


@pytest.mark.promise("000-8.4", "P2-accept-4")
def test_a_personal_round_is_its_owners_alone(h: Harness):
    mine = scenario(theme="personal", owner_user_id=h.who)
    store_scenario(h.database, mine)
    stranger = make_owner(h.database)
    status, shown = h.show(mine.id)
    assert (status, shown["personalized"], shown["theme"]) == (200, True, "personal")
    unknown = h.show(uuid.uuid4(), who=stranger)
    assert h.show(mine.id, who=stranger) == unknown
    answer = {"scenario_id": str(mine.id), "option_id": "open"}
    assert h.decide(answer, who=stranger)[0] == 404
    assert h.decide(answer)[0] == 201


def test_what_is_shown_holds_nothing_of_what_choosing_reveals(h: Harness):
    made = store_scenario(h.database, scenario(stimuli=ASKING))
    status, shown = h.show(made.id)
    assert status == 200
    text = json.dumps(shown)
    for hidden in ("candour", "drivers", "risk", "approach", "left early"):
        assert hidden not in text
    assert shown["counter_arguments"] == dict(ASKING.counter_arguments)
    assert shown["steps"][0] == "premise"


def test_an_unknown_archived_or_misspelt_scenario_is_the_same_404(h: Harness):
    archived = store_scenario(h.database, archived=True)
    answers = [
        h.show(wanted)
        for wanted in (uuid.uuid4(), archived.id, "x", "é", str(uuid.uuid4()).replace("-", ""), "0")
    ]
    assert answers[0][0] == 404
    assert all(answer == answers[0] for answer in answers)

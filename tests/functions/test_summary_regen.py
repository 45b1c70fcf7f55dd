"""The door that writes summaries, against a real database, with models that a test scripts."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from functions.summary_regen.handler import build
from infra.catalogue import CATALOGUE
from judgment.contract.profile import CONTEXT_BLOCK_LIMIT, SUMMARY_LIMIT
from judgment.db.connection import Database
from judgment.llm.model import ModelChoice
from judgment.profile.composer import FRAME, compose
from judgment.summary import debounce
from judgment.summary.regenerate import RETRIES
from judgment.summary.texts import WORDING
from tests.fakes.models import CHOICE, in_turn
from tests.fakes.summaries import (
    MARK,
    START,
    WINDOW,
    Summarised,
    lying,
    message_of,
    said_by,
    truthful,
)
from tests.fakes.summary_door import SummaryDoor
from tests.unit.summary.profiles import simulated

if TYPE_CHECKING:
    from tests.databases import TestDatabase

EVENTS = Path(__file__).parents[2] / "events" / "summary_regen"
PROFILE, MOVED = simulated(1), simulated(2)


@pytest.fixture
def h(module_database: TestDatabase) -> Iterator[SummaryDoor]:
    harness = SummaryDoor(module_database)
    yield harness
    harness.close()


@pytest.mark.promise("P2-5")
def test_without_a_provider_the_composer_writes(h: SummaryDoor) -> None:
    h.save(PROFILE)
    models = h.models(operator=None)
    assert h.deliver(models) == []
    whole = compose(PROFILE)
    assert h.texts() == {
        "summary_text": whole.summary_text,
        "agent_context_block": whole.agent_context_block,
        "summary_model_version": "composer-1",
        "summary_generated_at": START,
    }
    assert (models.asked, h.calls()) == ([], [])
    assert h.state()["last_failure"] is None
    assert h.state()["games_analyzed"] == PROFILE.games_analyzed


@pytest.mark.promise("P2-5", "P2-5-block")
def test_a_truthful_model_words_both_texts_inside_our_frame(
    h: SummaryDoor, capsys: pytest.CaptureFixture[str]
) -> None:
    h.save(PROFILE)
    models = h.models()
    assert h.deliver(models) == []
    texts, state = h.texts(), h.state()
    assert texts["summary_model_version"] == CHOICE.label
    assert texts["summary_text"].count(MARK) >= 4
    block = texts["agent_context_block"]
    assert block.count(f"- {MARK}") >= 10
    assert (FRAME in block, WORDING in block, "Not known:" in block) == (True, True, True)
    assert len(block.encode()) <= CONTEXT_BLOCK_LIMIT
    assert len(texts["summary_text"]) <= SUMMARY_LIMIT
    assert h.calls() == ["ok"]
    assert state["done_seq"] == state["requested_seq"]
    assert [asked.role for asked in models.asked] == ["summary"]
    logged = capsys.readouterr().out
    assert '"SummaryWritten":[1.0]' in logged
    assert MARK not in logged


@pytest.mark.promise("P2-5-verify")
def test_a_liar_is_asked_twice_and_the_composer_serves(
    h: SummaryDoor, capsys: pytest.CaptureFixture[str]
) -> None:
    h.save(PROFILE)
    models = h.models(said_by(lying))
    assert h.deliver(models) == []
    assert len(models.asked) == 2
    assert "invented_number" in models.asked[1].told
    assert h.texts()["summary_text"] == compose(PROFILE).summary_text
    assert h.texts()["summary_model_version"] == "composer-1"
    state = h.state()
    assert (state["last_failure"], state["failed_at"]) == ("invalid_output", START)
    assert state["run_after"] is None
    assert h.calls() == ["invalid_output", "invalid_output"]
    logged = capsys.readouterr().out
    assert '"SummaryFellBack":[1.0]' in logged
    assert "invented_number" in logged
    assert "731" not in logged
    assert h.queue.sent == []


@pytest.mark.promise("P2-5-verify")
def test_a_liar_who_mends_it_is_taken(h: SummaryDoor) -> None:
    h.save(PROFILE)
    models = h.models(
        lambda role, prompt, shape: said_by(truthful if len(prompt) > 2 else lying)(
            role, prompt, shape
        )
    )
    assert h.deliver(models) == []
    assert h.texts()["summary_model_version"] == CHOICE.label
    assert h.calls() == ["invalid_output", "ok"]


@pytest.mark.promise("P2-refuse-provider")
@pytest.mark.parametrize("code", ["unreachable", "timeout", "rate_limited", "provider_error"])
def test_a_model_that_cannot_be_reached_is_asked_again_in_the_next_windows_and_then_left(
    h: SummaryDoor, code: str
) -> None:
    h.save(PROFILE)
    for attempt in range(1, RETRIES + 2):
        models = h.models(in_turn(code))
        assert h.deliver(models) == []
        assert 1 <= len(models.asked) <= 2
        assert h.texts()["summary_text"] == compose(PROFILE).summary_text
        assert (h.state()["last_failure"], h.state()["failures"]) == (code, attempt)
        h.pass_time(minutes=10)
    assert [delay for _, delay in h.queue.sent] == [600] * RETRIES
    models = h.models()
    assert h.deliver(models) == []
    assert models.asked == []
    h.save(MOVED)
    h.deliver(models)
    assert h.texts()["summary_model_version"] == CHOICE.label
    assert (h.state()["last_failure"], h.state()["failures"]) == (None, 0)


@pytest.mark.promise("P2-refuse-provider")
@pytest.mark.parametrize("code", ["refused", "empty", "truncated", "too_large", "unauthorized"])
def test_a_model_that_answers_uselessly_is_asked_again_at_the_next_move(
    h: SummaryDoor, code: str
) -> None:
    h.save(PROFILE)
    assert h.deliver(h.models(in_turn(code))) == []
    assert h.state()["last_failure"] == code
    assert h.state()["requested_seq"] == h.state()["done_seq"]
    assert h.texts()["summary_text"] == compose(PROFILE).summary_text
    h.pass_time(minutes=1)
    assert h.save(PROFILE).due_at is None
    assert h.save(MOVED).due_at == START + WINDOW


def test_without_time_left_the_composer_writes_and_nobody_is_asked(h: SummaryDoor) -> None:
    h.save(PROFILE)
    models = h.models()
    done = h.run(models, seconds=5)
    assert (done.ending, done.version, done.failure) == ("written", "composer-1", "timeout")
    assert models.asked == []


@pytest.mark.promise("P2-5-debounce")
def test_early_ones_are_sent_again_and_doubled_ones_do_nothing(h: SummaryDoor) -> None:
    h.save(PROFILE)
    models, wake = h.models(), message_of(h.user_id)
    assert h.deliver(models, wake, wake, wake) == []
    assert len(models.asked) == 1
    h.pass_time(minutes=4)
    h.save(MOVED)
    assert h.deliver(models) == []
    assert len(models.asked) == 1
    assert h.queue.sent == [(message_of(h.user_id).replace(", ", ",").replace(": ", ":"), 360)]
    h.pass_time(minutes=6)
    assert h.deliver(models, wake, wake) == []
    assert len(models.asked) == 2
    assert len(h.queue.sent) == 1


@pytest.mark.promise("P2-5-debounce")
def test_a_move_while_the_model_thinks_is_written_up_after_the_window(h: SummaryDoor) -> None:
    h.save(PROFILE)

    def slow(role: Any, prompt: Any, shape: Any) -> Any:
        h.pass_time(seconds=20)
        assert h.save(MOVED).became_pending
        return said_by(truthful)(role, prompt, shape)

    assert h.deliver(h.models(slow)) == []
    assert h.state()["requested_seq"] > h.state()["done_seq"]
    assert h.state()["run_after"] == START + WINDOW
    h.pass_time(minutes=10)
    assert h.deliver(h.models(operator=None)) == []
    assert h.texts()["summary_text"] == compose(MOVED).summary_text
    assert h.state()["requested_seq"] == h.state()["done_seq"]


@pytest.mark.promise("P2-5-debounce")
def test_an_owner_erased_before_or_during_the_call_leaves_nothing(h: SummaryDoor) -> None:
    h.save(PROFILE)

    def erasing(role: Any, prompt: Any, shape: Any) -> Any:
        h.erase()
        return said_by(truthful)(role, prompt, shape)

    assert h.deliver(h.models(erasing)) == []
    assert (h.texts(), h.state(), h.calls()) == ({}, {}, [])
    assert h.run(h.models()).ending == "nothing_due"
    assert h.queue.sent == []


def test_an_owner_without_a_profile_row_is_finished_quietly(h: SummaryDoor) -> None:
    h.request()
    models = h.models()
    assert h.run(models).ending == "gone"
    assert (models.asked, h.state()["done_seq"]) == ([], 1)


def test_whoever_comes_too_late_writes_nothing_but_what_it_cost(h: SummaryDoor) -> None:
    h.save(PROFILE)

    def late(role: Any, prompt: Any, shape: Any) -> Any:
        h.pass_time(minutes=10)
        with h.owner.transaction(h.user_id) as tx:
            debounce.request(tx, h.user_id, "c", h.now, WINDOW)
        other = Summarised.run
        h.worker = Database(h.database.url("judgment_worker"))
        other(h, h.models(operator=None))
        return said_by(truthful)(role, prompt, shape)

    slow = h.worker
    done = h.run(h.models(late))
    slow.close()
    assert done.ending == "superseded"
    assert h.texts()["summary_model_version"] == "composer-1"
    assert h.calls() == ["ok"]


def test_the_owners_own_model_is_asked(h: SummaryDoor) -> None:
    h.save(PROFILE)
    own = ModelChoice("ollama", "mine")
    models = h.models()
    assert h.deliver(models, own=own) == []
    assert models.asked[0].choice == own
    assert h.texts()["summary_model_version"] == "ollama:mine"


@pytest.mark.parametrize(
    "body",
    ["", "{}", "[]", "null", "\x00", '{"user_id": "x", "correlation_id": "c"}', "x" * 100_000],
)
def test_what_is_no_wake_up_goes_to_the_dead_letters(h: SummaryDoor, body: str) -> None:
    assert h.deliver(h.models(), body, message_of(h.user_id)) == ["m0"]


def test_the_example_events_are_a_wake_up_and_one_for_the_dead_letters(h: SummaryDoor) -> None:
    models = h.models()
    door = build(h.regeneration(models), h.queue, h.telemetry)
    for file, failed in (("wake-up", 0), ("malformed", 1)):
        event = json.loads((EVENTS / f"{file}.json").read_text())
        assert len(door(event, None)["batchItemFailures"]) == failed


def test_a_database_that_is_down_leaves_the_message_to_be_delivered_again(h: SummaryDoor) -> None:
    live, h.worker = (
        h.worker,
        Database("postgresql://judgment_worker@127.0.0.1:1/judgment"),
    )
    assert h.deliver(h.models()) == ["m0"]
    live.close()


def test_a_queue_that_is_down_costs_nothing(h: SummaryDoor) -> None:
    h.save(PROFILE)
    h.queue.down = True
    assert h.deliver(h.models(in_turn("timeout"))) == []
    assert h.state()["run_after"] == START + WINDOW


def test_the_lease_outlasts_the_door(h: SummaryDoor) -> None:
    assert timedelta(seconds=CATALOGUE.door("summary_regen").timeout_s) < debounce.LEASE


def test_owners_do_not_meet(h: SummaryDoor, module_database: TestDatabase) -> None:
    other = Summarised(module_database)
    other.save(MOVED)
    h.save(PROFILE)
    h.deliver(h.models(operator=None))
    assert other.texts()["summary_text"] is None
    assert h.texts()["summary_text"] == compose(PROFILE).summary_text
    assert h.run(h.models()).ending == "nothing_due"
    assert h.deliver(h.models(), message_of(uuid.uuid4())) == []
    other.close()

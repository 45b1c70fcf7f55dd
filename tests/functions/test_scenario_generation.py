"""A round about the owner's own life, asked for at the door, over a real database."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from judgment.contract.profile import CATEGORIES
from judgment.kit.hashing import sha256_hex
from judgment.scenarios import store as rounds
from tests.fakes.counters import MemoryCounters
from tests.fakes.drafts import good
from tests.fakes.models import in_turn
from tests.fakes.people import run_as_admin
from tests.fakes.workshop import NOTES, OFFERED, Workshop

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P2-7", "000-8.2")


@pytest.fixture
def w(module_database: TestDatabase) -> Iterator[Workshop]:
    workshop = Workshop(module_database)
    workshop.shelf()
    yield workshop
    workshop.close()


@pytest.fixture
def alone(fresh_database: TestDatabase) -> Iterator[Workshop]:
    """A workshop in a database without a single canonical round."""
    workshop = Workshop(fresh_database)
    run_as_admin(fresh_database, "UPDATE judgment.scenario_contents SET archived = true")
    yield workshop
    workshop.close()


def decide(w: Workshop, who: uuid.UUID, scenario: uuid.UUID, category: str, **columns: Any) -> None:
    """A decision on that scenario, with columns of one's own."""
    choice = uuid.uuid4()
    run_as_admin(
        w.database, "INSERT INTO public.choices (id, user_id) VALUES (%s, %s)", choice, who
    )
    names = "".join(f", {name}" for name in columns)
    run_as_admin(
        w.database,
        "INSERT INTO judgment.decisions (id, user_id, scenario_id, scenario_title, category, theme,"
        f" options, chosen_option_id, chosen_label, source, recorded_at{names}) VALUES"
        " (%s, %s, %s, 'T', %s, 'court', '[]', 'a', 'A', 'judgment', now()"
        + ", %s" * len(columns)
        + ")",
        *(choice, who, scenario, category),
        *columns.values(),
    )


@pytest.mark.promise("P2-accept-4", "000-8.4")
def test_a_good_answer_becomes_the_owners_round_and_survives_a_refresh(w: Workshop):
    who = w.person()
    status, body = w.make(who)
    assert status == 201
    assert (body["theme"], body["personalized"], body["retest"]) == ("personal", True, False)
    assert body["title"] == good()["title"]
    assert [option["id"] for option in body["options"]] == ["a", "b", "c", "none"]
    assert all(option.keys() == {"id", "label", "description"} for option in body["options"])
    (stored,) = w.stored(who)
    assert stored["id"] == body["id"]
    assert (stored["theme"], stored["category"]) == ("personal", body["category"])
    assert stored["personalized_for_user_id"] == stored["owner_user_id"] == str(who)
    assert len(stored["personalization_inputs_hash"]) == 64
    assert w.calls(who) == ["ok"]
    assert w.used(who) == 1
    assert w.bus.taken == []
    with w.postgres.transaction(who) as tx:
        playable = rounds.playable(tx, who, uuid.UUID(body["id"]))
        assert playable is not None
        assert rounds.open_serving(tx, who, playable.id) is not None


@pytest.mark.promise("000-8.4", "P2-accept-4")
def test_each_request_makes_another_round_and_nobody_else_sees_any(w: Workshop):
    who, other = w.person(), w.person()
    made = {w.make(who)[1]["id"] for _ in range(3)}
    assert len(made) == 3
    with w.postgres.transaction(other) as tx:
        assert [rounds.playable(tx, other, uuid.UUID(one)) for one in made] == [None] * 3
    assert w.stored(other) == []


@pytest.mark.promise("000-7")
@pytest.mark.parametrize("notes", ["", " ", "\n\t\u2003"])
def test_without_context_it_says_where_to_write_it_and_counts_nothing(w: Workshop, notes: str):
    who = w.person(notes)
    status, body = w.make(who)
    assert (status, body["code"]) == (400, "invalid_request")
    assert "PUT /api/v1/personal-context" in body["message"]
    assert (w.used(who), w.scripted.asked, w.calls(who)) == (0, [], [])


@pytest.mark.promise("R-32")
def test_without_a_model_it_names_the_setting_and_counts_nothing(w: Workshop):
    w.scripted.operator = None
    who = w.person()
    status, body = w.make(who)
    assert (status, body["code"]) == (503, "unavailable")
    assert "MODEL_SCENARIO" in body["message"]
    assert (w.used(who), w.counters.calls) == (0, 0)


@pytest.mark.promise("R-32")
def test_a_model_whose_key_cannot_be_read_was_not_called_and_is_not_counted(w: Workshop):
    w.scripted.is_ready = False
    who = w.person()
    status, body = w.make(who)
    assert (status, body["code"]) == (503, "unavailable")
    assert "key" in body["message"]
    assert (w.used(who), w.scripted.asked, w.calls(who)) == (0, [], [])


def test_an_empty_context_is_said_before_a_missing_model(w: Workshop):
    w.scripted.operator = None
    assert w.make(w.person(""))[0] == 400


@pytest.mark.parametrize(
    "kept",
    [
        "INSERT INTO public.player_decision_profiles (user_id) VALUES (%s)",
        "INSERT INTO judgment.profile_state (user_id, score_owner) VALUES (%s, 'sync')",
        "UPDATE public.profiles SET sync_score = 12 WHERE id = %s",
    ],
)
def test_where_a_sync_app_keeps_the_profile_no_round_is_made(w: Workshop, kept: str):
    who = w.person()
    run_as_admin(w.database, kept, who)
    status, body = w.make(who)
    assert (status, body["code"]) == (409, "conflict")
    assert w.used(who) == 0


def test_an_owner_who_was_erased_is_404(w: Workshop):
    assert w.make(uuid.UUID(int=1))[0] == 404


@pytest.mark.promise("000-8.5", "000-10.2-personal", "R-32", "P2-accept-4")
def test_the_21st_of_a_day_is_429_for_that_owner_until_midnight_utc(w: Workshop):
    who, other = w.person(), w.person()
    assert [w.make(who)[0] for _ in range(20)] == [201] * 20
    asked = len(w.scripted.asked)
    status, body = w.make(who)
    assert (status, body["code"]) == (429, "rate_limited")
    assert body["retry_after_seconds"] == 16 * 3_600
    assert len(w.scripted.asked) == asked
    assert w.make(other)[0] == 201
    w.tomorrow()
    assert w.make(who)[0] == 201


@pytest.mark.promise("000-8.5", "R-32")
def test_requests_at_once_cannot_pass_the_cap_together(w: Workshop):
    counters, who = MemoryCounters(), w.person()

    def one(_: int) -> int:
        mine = Workshop(w.database, counters=counters, most=3)
        status = mine.make(who)[0]
        mine.close()
        return status

    with ThreadPoolExecutor(6) as pool:
        statuses = sorted(pool.map(one, range(6)))
    assert statuses == [201] * 3 + [429] * 3
    assert len(w.stored(who)) == 3


@pytest.mark.promise("000-8.2", "000-8.6")
def test_a_bad_answer_is_mended_once_and_told_why(w: Workshop):
    bad = good(constraints=["Write to ruth@example.com."])
    w.scripted.script = in_turn(json.dumps(bad), json.dumps(good()))
    run = w.person()
    decide_all_but(w, run, None)
    status, body = w.make(run)
    assert (status, body["personalized"]) == (201, True)
    assert w.calls(run) == ["invalid_output", "ok"]
    assert "e-mail" in w.scripted.asked[-1].prompt[-1].text
    assert w.used(run) == 1


def decide_all_but(w: Workshop, who: uuid.UUID, signal: str | None) -> None:
    """Make every stimulus well known, so that the next round needs none, or that one."""
    stimuli = {"majority_option_id": "a", "majority_text": "t", "counter_arguments": {"a": "x"}}
    columns: dict[str, Any] = {
        "self_predicted_option_id": "a",
        "first_option_id": "a",
        "predicted_peer_option_id": "a",
        "stimuli": json.dumps(stimuli),
    }
    if signal:
        del columns[signal]
    for category in CATEGORIES:
        decide(w, who, uuid.uuid4(), category, **columns)


@pytest.mark.promise("000-8.2", "000-8.3")
@pytest.mark.parametrize(
    ("missing", "step"),
    [
        ("self_predicted_option_id", "self_prediction"),
        ("first_option_id", "first_choice"),
        ("predicted_peer_option_id", "peer_prediction"),
    ],
)
def test_the_round_serves_the_signal_that_is_least_known(w: Workshop, missing: str, step: str):
    who = w.person()
    columns = {"rationale": "r", "confidence": 0.5, "response_ms": 9}
    for category in CATEGORIES:
        decide(w, who, uuid.uuid4(), category, **columns)
    decide_all_but(w, who, missing)
    body = w.make(who)[1]
    assert step in body["steps"]
    assert len(set(body["steps"]) & {"self_prediction", "first_choice", "peer_prediction"}) == 1


@pytest.mark.promise("000-8.2")
def test_domains_take_turns(w: Workshop):
    who = w.person()
    assert [w.make(who)[1]["category"] for _ in range(8)] == [*CATEGORIES, *CATEGORIES]


@pytest.mark.promise("000-8.2", "R-24")
def test_twice_bad_is_a_canonical_round_of_the_domain_logged_counted_and_told(
    w: Workshop, capsys: pytest.CaptureFixture[str]
):
    w.scripted.script = lambda role, prompt, shape: '{"title": "canary-91"}'
    who = w.person()
    run_as_admin(w.database, "INSERT INTO judgment.profile_state VALUES (%s, 'judgment')", who)
    status, body = w.make(who, headers={"X-Correlation-Id": "c-1"})
    assert (status, body["personalized"], body["theme"]) == (201, False, "court")
    assert body["category"] == CATEGORIES[0]
    assert w.stored(who) == []
    assert w.calls(who) == ["invalid_output", "invalid_output"]
    assert w.used(who) == 1
    (event,) = w.bus.taken
    assert (event.type, str(event.subject_id), event.user_id) == (
        "scenario.fell_back",
        body["id"],
        who,
    )
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (told,) = [line for line in lines if line.get("message") == "scenario.fell_back"]
    assert (told["code"], told["level"]) == ("invalid_output", "WARNING")
    assert (told["correlation_id"], told["category"]) == ("c-1", CATEGORIES[0])
    assert [line for line in lines if "ScenarioFellBack" in line]
    assert "canary-91" not in json.dumps(lines)
    assert NOTES not in json.dumps(lines)


def test_the_log_says_which_rules_the_last_answer_broke(
    w: Workshop, capsys: pytest.CaptureFixture[str]
):
    w.scripted.script = lambda role, prompt, shape: json.dumps(
        good(shape.__name__, constraints=["Call +49 30 1234567.", "call +49 30 1234567."])
    )
    assert w.make(w.person())[1]["personalized"] is False
    line = next(x for x in capsys.readouterr().out.splitlines() if "scenario.fell_back" in x)
    assert json.loads(line)["complaints"] == ["constraints_repeat", "contact"]


def test_a_fallback_was_never_shown_to_that_owner_while_there_is_one(alone: Workshop):
    alone.scripted.script = in_turn("refused")
    who = alone.person()
    seen = alone.canonical("1", CATEGORIES[0])
    decide(alone, who, seen, CATEGORIES[0])
    alone.canonical("2", CATEGORIES[0], json.dumps({"sequel_of": str(seen)}))
    paired = alone.canonical("3", CATEGORIES[0], '{"pair": "p"}')
    plain = alone.canonical("4", CATEGORIES[0])
    elsewhere = alone.canonical("0", CATEGORIES[2])
    served = [alone.make(who)[1].get("id") for _ in range(3)]
    assert served == [str(plain), str(paired), str(elsewhere)]
    status, body = alone.make(who)
    assert (status, body["code"]) == (503, "unavailable")
    assert alone.used(who) == 4
    assert alone.calls(who) == ["refused"] * 4


def test_another_owners_history_does_not_use_up_the_shelf(alone: Workshop):
    alone.scripted.script = in_turn("refused")
    only = alone.canonical("1", CATEGORIES[0])
    first, second = alone.person(), alone.person()
    assert alone.make(first)[1]["id"] == alone.make(second)[1]["id"] == str(only)


@pytest.mark.promise("P2-1-own", "R-31")
def test_the_owners_own_model_is_asked_and_stands_in_the_fingerprint(w: Workshop):
    who = w.person()
    run_as_admin(
        w.database,
        "INSERT INTO judgment.owner_models (user_id, role, provider, model)"
        " VALUES (%s, 'scenario', 'openrouter', 'own/model')",
        who,
    )
    assert w.make(who)[0] == 201
    assert w.scripted.asked[-1].choice == OFFERED


def test_the_fingerprint_follows_the_context_and_gives_nothing_away(w: Workshop):
    def fingerprint(notes: str) -> Any:
        who = w.person(notes)
        w.make(who)
        return w.stored(who)[0]["personalization_inputs_hash"]

    first = fingerprint("One life")
    assert first == fingerprint("One life")
    assert first != fingerprint("Another life")
    assert first != sha256_hex("One life")


@pytest.mark.promise("R-5")
def test_only_the_owners_own_text_reaches_the_model(w: Workshop):
    other = w.person("canary-of-another")
    who = w.person("canary-of-mine")
    decide(w, who, uuid.uuid4(), "governance", rationale="canary-rationale")
    w.make(other)
    before = len(w.scripted.asked)
    w.make(who)
    told = "\n".join(asked.told for asked in w.scripted.asked[before:])
    assert "canary-of-mine" in told
    assert "canary-of-another" not in told
    assert "canary-rationale" not in told


def test_a_long_context_is_cut_and_still_makes_a_round(w: Workshop):
    who = w.person("x" * 12_000 + "MIDDLE" * 8_000 + "y" * 4_000)
    assert w.make(who)[0] == 201
    told = w.scripted.asked[-1].prompt[1].text
    assert "MIDDLE" not in told[:12_000]
    assert len(told) < 16_100

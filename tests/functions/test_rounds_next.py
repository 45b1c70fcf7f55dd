"""Which round an owner is shown: open ones again, unseen ones first, retests, and then none."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from judgment.profile.decision import Option
from judgment.profile.stimuli import Outcome, Stimuli
from judgment.scenarios.choosing import SEQUEL_DISTANCE, Settings
from tests.fakes.events import http_event, owner
from tests.fakes.people import make_owner, run_as_admin
from tests.fakes.rounds import everything_of, rows, scenario, store_scenario
from tests.functions.test_rounds import Harness as Playing

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P2-3-next")

NEXT = "/api/v1/scenarios/next"


class Harness(Playing):
    """The door over a real database that holds no scenario at first."""

    def following(self, who: uuid.UUID | None = None, **query: str) -> tuple[int, Any]:
        values = {name: [value] for name, value in query.items()}
        event = http_event("GET", NEXT, principal=owner(who or self.who), query=values or None)
        return self.answer(event)

    def play_next(self, option: str = "open", **query: str) -> dict[str, Any]:
        """Play whatever comes; what was shown, with the decision's answer."""
        status, shown = self.following(**query)
        assert status == 200, shown
        body = {"scenario_id": shown["id"], "option_id": option}
        status, answer = self.decide(body)
        assert status == 201, answer
        return shown | {"answer": answer}


@pytest.fixture
def h(fresh_database: TestDatabase) -> Iterator[Harness]:
    harness = Harness(fresh_database)
    yield harness
    harness.close()


def test_a_refresh_shows_the_same_round_until_it_is_decided(h: Harness):
    for _ in range(3):
        store_scenario(h.database)
    first = h.following()
    h.clock.move(minutes=5)
    assert h.following() == first
    assert h.following(theme="boardroom") == first
    assert rows(
        h.database,
        "SELECT served_at, decision_id FROM judgment.servings WHERE user_id = %s",
        h.who,
    ) == [(h.clock.now, None)]
    played = h.play_next()
    assert played["id"] == first[1]["id"]
    assert h.following()[1]["id"] != first[1]["id"]
    ((closed,),) = rows(
        h.database,
        "SELECT decision_id::text FROM judgment.servings WHERE decision_id IS NOT NULL"
        " AND user_id = %s",
        h.who,
    )
    assert closed == played["answer"]["decision_id"]


def test_each_theme_has_an_open_round_of_its_own(h: Harness):
    for theme in ("boardroom", "court"):
        store_scenario(h.database, scenario(theme=theme))
    first, second = h.following(theme="boardroom")[1], h.following(theme="court")[1]
    assert (first["theme"], second["theme"]) == ("boardroom", "court")
    assert h.following(theme="boardroom")[1] == first
    assert h.following(theme="court")[1] == second


@pytest.mark.promise("P2-refuse-postgres")
def test_a_clock_that_was_moved_back_does_not_change_which_round_was_shown_last(h: Harness):
    for theme in ("boardroom", "court"):
        store_scenario(h.database, scenario(theme=theme))
        h.following(theme=theme)
    for theme in ("boardroom", "court", "boardroom"):
        h.clock.move(days=-40)
        shown = h.following(theme=theme)
        assert h.following() == shown
        assert h.following() == shown


@pytest.mark.promise("000-8", "000-15-multiplayer", "R-38")
def test_personal_and_archived_rounds_are_never_next(h: Harness):
    store_scenario(h.database, scenario(theme="personal", owner_user_id=h.who))
    store_scenario(h.database, archived=True)
    for query in ({}, {"theme": "boardroom"}):
        status, problem = h.following(**query)
        assert (status, problem["code"]) == (404, "not_found")
        assert "no rounds here yet" in problem["message"]
    assert h.following(theme="personal")[0] == 400
    only = store_scenario(h.database)
    assert h.following()[1]["id"] == str(only.id)


def test_an_open_round_that_was_archived_meanwhile_gives_way(h: Harness):
    made = [store_scenario(h.database) for _ in range(2)]
    shown = h.following()[1]["id"]
    run_as_admin(
        h.database,
        "UPDATE judgment.scenario_contents SET archived = true WHERE scenario_id = %s",
        shown,
    )
    (left,) = {str(one.id) for one in made} - {shown}
    assert h.following()[1]["id"] == left
    assert h.decide({"scenario_id": shown, "option_id": "open"})[0] == 404


def test_an_open_round_that_nobody_could_play_any_more_gives_way(h: Harness):
    for _ in range(2):
        store_scenario(h.database)
    shown = h.following()[1]["id"]
    run_as_admin(
        h.database,
        "UPDATE judgment.scenario_contents SET options = '[]' WHERE scenario_id = %s",
        shown,
    )
    other = h.following()
    assert other[0] == 200
    assert other[1]["id"] != shown
    assert h.following() == other
    assert h.show(shown)[0] == 404
    assert h.decide({"scenario_id": shown, "option_id": "open"})[0] == 404


@pytest.mark.promise("R-23")
def test_when_all_is_played_it_says_from_when_on_a_round_is_asked_again(h: Harness):
    store_scenario(h.database)
    h.play_next()
    status, problem = h.following()
    assert (status, problem["code"]) == (404, "not_found")
    assert "2026-12-30" in problem["message"]
    h.clock.move(days=29, hours=23)
    assert h.following()[0] == 404
    store_scenario(h.database, scenario(theme="court"))
    assert "Other themes" in h.following(theme="boardroom")[1]["message"]
    h.play_next(theme="court")
    h.clock.move(hours=1)
    assert h.following()[1]["retest"] is True


@pytest.mark.promise("R-23")
def test_a_retest_is_marked_and_hangs_on_the_decision_it_repeats(h: Harness):
    made = store_scenario(h.database)
    first = h.play_next()["answer"]
    assert first["retest"] is False
    h.clock.move(days=31)
    shown = h.following()[1]
    assert (shown["id"], shown["retest"]) == (str(made.id), True)
    assert h.show(made.id)[1]["retest"] is True
    second = h.play_next("shut")["answer"]
    assert second["retest"] is True
    assert rows(
        h.database,
        "SELECT retest_of::text FROM judgment.decisions WHERE id = %s",
        second["decision_id"],
    ) == [(first["decision_id"],)]
    assert h.show(made.id)[1]["retest"] is False
    again = h.decide({"scenario_id": str(made.id), "option_id": "open"})
    assert again[0] == 409
    assert h.following()[0] == 404


@pytest.mark.promise("R-23")
def test_one_in_so_many_rounds_is_a_retest_while_there_are_new_ones(fresh_database: TestDatabase):
    h = Harness(fresh_database, settings=Settings(retest_after_days=30, retest_one_in=4))
    for _ in range(20):
        store_scenario(h.database)
    played = []
    for _ in range(12):
        played.append(h.play_next()["retest"])
        h.clock.move(days=31)
    assert played == [False, False, False, True] * 3
    h.close()


def test_a_sequel_shows_how_the_earlier_decision_turned_out(h: Harness):
    outcomes = {"open": Outcome("The auditor left early.", True)}
    first = scenario(stimuli=Stimuli(outcomes=outcomes), title="The auditor")
    sequel = scenario(
        theme="court",
        title="The auditor returns",
        stimuli=Stimuli(sequel_of=first.id),
        options=(Option("x", "Again"), Option("y", "Never")),
    )
    store_scenario(h.database, first)
    store_scenario(h.database, sequel)
    for _ in range(SEQUEL_DISTANCE):
        store_scenario(h.database)
    told: dict[str, Any] = {}
    answers: dict[str, Any] = {}
    for _ in range(3 + SEQUEL_DISTANCE):
        status, shown = h.following()
        if status == 404:
            break
        if shown["outcome"]:
            told = shown
            break
        answers[shown["id"]] = h.play_next()["answer"]
    assert told["id"] == str(sequel.id)
    assert told["steps"][0] == "outcome"
    assert told["outcome"] == {
        "decision_id": answers[str(first.id)]["decision_id"],
        "scenario_title": "The auditor",
        "chosen_label": "Open the books",
        "text": "The auditor left early.",
    }
    assert h.show(sequel.id)[1]["outcome"] == told["outcome"]
    last = h.play_next("y")["answer"]
    assert rows(
        h.database,
        "SELECT outcome_of::text FROM judgment.decisions WHERE id = %s",
        last["decision_id"],
    ) == [(answers[str(first.id)]["decision_id"],)]


def test_a_changed_round_is_offered_as_it_is_now(h: Harness):
    """What is kept of a scenario between calls goes by its digest."""
    kept = [store_scenario(h.database) for _ in range(2)]
    run_as_admin(
        h.database,
        "UPDATE judgment.scenario_contents SET content_sha256 = md5(scenario_id::text)",
    )
    first = h.play_next()["id"]
    (other,) = {str(one.id) for one in kept} - {first}
    run_as_admin(
        h.database,
        "UPDATE public.scenarios SET theme = 'court' WHERE id = %s",
        other,
    )
    run_as_admin(
        h.database,
        "UPDATE judgment.scenario_contents SET content_sha256 = 'new' WHERE scenario_id = %s",
        other,
    )
    assert h.following(theme="boardroom")[0] == 404
    assert h.following(theme="court")[1]["id"] == other


@pytest.mark.promise("R-22")
def test_an_owner_whose_profile_a_sync_app_keeps_is_sent_there(h: Harness):
    store_scenario(h.database)
    run_as_admin(h.database, "UPDATE public.profiles SET sync_score = 17 WHERE id = %s", h.who)
    status, problem = h.following()
    assert (status, problem["code"]) == (409, "conflict")
    assert "Sync app" in problem["message"]
    assert everything_of(h.database, h.who)["judgment.servings"] == []


@pytest.mark.parametrize(
    "query", [{"theme": "moon"}, {"theme": ""}, {"theme": "Court"}, {"them": "court"}]
)
def test_a_theme_that_there_is_not_is_400(h: Harness, query: dict[str, str]):
    status, problem = h.following(**query)
    assert (status, problem["code"]) == (400, "invalid_request")


def test_owners_do_not_see_each_others_open_rounds(h: Harness):
    made = store_scenario(h.database)
    other = make_owner(h.database)
    h.play_next()
    assert h.following(who=other)[1]["id"] == str(made.id)
    assert h.following(who=other)[1]["retest"] is False


@pytest.mark.promise("R-23")
@pytest.mark.parametrize(("days", "one_in"), [(-1, 20), (40_000, 20), (30, 0), (30, -5)])
def test_settings_that_no_round_could_follow_are_refused_at_the_start(days: int, one_in: int):
    with pytest.raises(ValueError, match="retests come"):
        Settings(days, one_in)

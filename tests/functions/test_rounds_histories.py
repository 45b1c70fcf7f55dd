"""No history of calls, good, bad and repeated, leaves a decision half recorded or out of order."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judgment.scenarios.choosing import Settings
from tests.fakes.people import make_owner
from tests.fakes.rounds import ASKING, rows, scenario, store_scenario
from tests.functions.test_rounds import assert_profile_equals_rebuild
from tests.functions.test_rounds_next import Harness

if TYPE_CHECKING:
    from tests.databases import TestDatabase

pytestmark = pytest.mark.promise("P2-3", "P2-refuse-twice", "P2-refuse-decision")

OPTIONS = ["open", "part", "shut", "none"]
DEEDS = st.one_of(
    st.tuples(st.just("play"), st.sampled_from(OPTIONS), st.booleans()),
    st.tuples(st.just("refresh"), st.sampled_from(["boardroom", "court", None]), st.none()),
    st.tuples(st.just("wrong"), st.sampled_from(["option", "unasked", "unknown"]), st.none()),
    st.tuples(st.just("again"), st.sampled_from(["same key", "no key", "other body"]), st.none()),
    st.tuples(st.just("time"), st.sampled_from([-40.0, -0.001, 0.5, 31.0]), st.none()),
    st.tuples(st.just("bus"), st.booleans(), st.none()),
)


@pytest.fixture(scope="module")
def h(module_database: TestDatabase) -> Iterator[Harness]:
    for theme in ("boardroom", "court"):
        for stimuli in ({}, {"stimuli": ASKING}, {}):
            store_scenario(module_database, scenario(theme=theme, **stimuli))
    harness = Harness(module_database, settings=Settings(retest_after_days=30, retest_one_in=3))
    yield harness
    harness.close()


class Life:
    """One owner's calls, and what must have come of them."""

    def __init__(self, h: Harness):
        self.h = h
        h.who = make_owner(h.database)
        h.bus.down = False
        self.answers: list[Any] = []
        self.last: tuple[dict[str, Any], str] | None = None

    def do(self, deed: str, how: Any, keyed: bool | None) -> None:
        getattr(self, deed)(how, keyed)

    def play(self, option: str, keyed: bool) -> None:
        status, shown = self.h.following()
        if status == 404:
            return
        key = uuid.uuid4().hex
        body = {"scenario_id": shown["id"], "option_id": option, "confidence": 0.1}
        if "first_choice" in shown["steps"]:
            body |= {"first_option_id": "shut"}
        status, answer = self.h.decide(body, key=key if keyed else None)
        assert status == 201, answer
        assert answer["retest"] is shown["retest"]
        self.answers.append(answer)
        self.last = (body, key) if keyed else None

    def refresh(self, theme: str | None, _: None) -> None:
        query = {} if theme is None else {"theme": theme}
        first = self.h.following(**query)
        assert self.h.following(**query) == first

    def wrong(self, how: str, _: None) -> None:
        status, shown = self.h.following()
        wanted = shown["id"] if status == 200 else str(uuid.uuid4())
        body = {"scenario_id": wanted, "option_id": "open"}
        body |= {
            "option": {"option_id": "nothing"},
            "unasked": {"self_predicted_option_id": "nothing"},
            "unknown": {"scenario_id": str(uuid.uuid4())},
        }[how]
        assert self.h.decide(body, key="wrong")[0] in (400, 404)

    def again(self, how: str, _: None) -> None:
        if self.last is None:
            return
        body, key = self.last
        if how == "same key":
            assert self.h.decide(body, key=key) == (201, self.answers[-1])
        elif how == "no key":
            status, shown = self.h.show(body["scenario_id"])
            if status == 200 and not shown["retest"]:
                assert self.h.decide(body)[0] == 409
        else:
            assert self.h.decide(body | {"confidence": 0.2}, key=key)[0] == 409

    def time(self, days: float, _: None) -> None:
        self.h.clock.move(days=days)

    def bus(self, down: bool, _: None) -> None:
        self.h.bus.down = down


@settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(DEEDS, max_size=25))
def test_every_accepted_decision_is_there_once_whole_and_in_order(
    h: Harness, deeds: list[tuple[str, Any, bool | None]]
):
    life = Life(h)
    for deed in deeds:
        life.do(*deed)
    games = len(life.answers)
    stored = rows(
        h.database,
        "SELECT d.id::text, d.recorded_at, s.profile_state ->> 'games_analyzed'"
        " FROM judgment.decisions d LEFT JOIN public.evaluation_snapshots s ON s.choice_id = d.id"
        " WHERE d.user_id = %s ORDER BY d.recorded_at",
        h.who,
    )
    assert [one for one, _, _ in stored] == [answer["decision_id"] for answer in life.answers]
    assert [answer["games_played"] for answer in life.answers] == [*range(1, games + 1)]
    assert len({moment for _, moment, _ in stored}) == games
    assert [before for _, _, before in stored] == [None, *map(str, range(1, games))][:games]
    counts = rows(
        h.database,
        "SELECT (SELECT count(*) FROM judgment.outbox WHERE user_id = %(u)s),"
        " (SELECT count(*) FROM public.choices WHERE user_id = %(u)s),"
        " (SELECT count(*) FROM judgment.servings WHERE user_id = %(u)s"
        "   AND decision_id IS NOT NULL)".replace("%(u)s", f"'{h.who}'"),
    )
    assert counts == [(2 * games, games, games)]
    if games:
        assert_profile_equals_rebuild(h.database, h.who, games)

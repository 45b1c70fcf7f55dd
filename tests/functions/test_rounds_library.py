"""The library as it is shipped, played to its end through the door."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from judgment.profile.service import read_stored
from judgment.scenarios.library.reading import read_library
from judgment.scenarios.loading import load_into
from judgment.scenarios.model import NONE_ID
from tests.fakes.rounds import rows
from tests.functions.test_rounds import assert_profile_equals_rebuild
from tests.functions.test_rounds_next import Harness

if TYPE_CHECKING:
    from tests.databases import TestDatabase

RATIONALE = "We promised the people who work here, and it can still be undone later."


@pytest.fixture
def h(fresh_database: TestDatabase) -> Iterator[Harness]:
    load_into(fresh_database.url("judgment_migrate"))
    harness = Harness(fresh_database)
    yield harness
    harness.close()


def answers_to(shown: dict[str, Any], turn: int) -> dict[str, Any]:
    """Everything that a round asks for, answered in turn.

    None of the above is never the answer: it has no approach, so that learning cannot be seen.
    """
    options = [option["id"] for option in shown["options"] if option["id"] != NONE_ID]
    chosen, other = options[turn % len(options)], options[(turn + 1) % len(options)]
    body = {
        "scenario_id": shown["id"],
        "option_id": chosen,
        "confidence": 0.1 * (turn % 11),
        "response_ms": 1_000 + 100 * turn,
        "rationale": RATIONALE,
    }
    asked = (
        ("self_prediction", "self_predicted_option_id", other),
        ("peer_prediction", "predicted_peer_option_id", chosen),
        ("first_choice", "first_option_id", other if turn % 2 else chosen),
    )
    return body | {field: option for step, field, option in asked if step in shown["steps"]}


@pytest.mark.promise("P2-3-next", "P2-2-stimuli", "000-3.1-signals", "P2-3")
def test_every_round_is_played_once_and_each_signal_that_can_speak_does(h: Harness):
    library = read_library()
    seen: Counter[str] = Counter()
    outcomes = 0
    while True:
        status, shown = h.following()
        if status == 404:
            assert "asked again from" in shown["message"]
            break
        seen[shown["id"]] += 1
        outcomes += shown["outcome"] is not None
        status, answer = h.decide(answers_to(shown, seen.total()))
        assert status == 201, answer
        h.clock.move(minutes=1)
    assert set(seen) == {str(one.id) for one in library}
    assert set(seen.values()) == {1}
    assert outcomes >= 6
    assert_profile_equals_rebuild(h.database, h.who, seen.total())
    ((row,),) = rows(
        h.database,
        "SELECT to_jsonb(p)::text FROM public.player_decision_profiles p WHERE user_id = %s",
        h.who,
    )
    sparse = {name for name, one in read_stored(row).signals.items() if one.evidence < 4}
    assert sparse == {"occasion_noise"}, "which needs a retest, after a month"


@pytest.mark.promise("R-23")
def test_a_month_later_the_first_of_them_is_asked_again(h: Harness):
    for turn in range(3):
        status, shown = h.following(theme="court")
        assert status == 200
        assert h.decide(answers_to(shown, turn))[0] == 201
    h.clock.move(days=31)
    for turn in range(3, 30):
        shown = h.following(theme="court")[1]
        assert h.decide(answers_to(shown, turn))[0] == 201
        if shown["retest"]:
            break
    else:
        pytest.fail("none of 27 rounds was a retest")
    assert turn <= 20

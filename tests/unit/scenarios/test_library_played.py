"""What playing the library tells: each driver can be recognised, and no signal stays unknown."""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

import pytest

from judgment.profile.build import build
from judgment.profile.decision import Decision
from judgment.profile.drivers import SCENARIO_DRIVERS
from judgment.profile.signals import SIGNALS
from judgment.scenarios.library.entries import NAMESPACE
from judgment.scenarios.library.reading import read_library
from tests.unit.profile.simulated import DRIVER_SENTENCES, STYLE_SENTENCES

if TYPE_CHECKING:
    from judgment.scenarios.model import Scenario

LIBRARY = read_library()
START = datetime(2026, 1, 1, tzinfo=UTC)
RETESTS = 4


def offers(scenario: Scenario, driver: str) -> bool:
    return driver in scenario.real_options[0].drivers


def played(scenario: Scenario, driver: str, number: int) -> Decision:
    """A round by an owner who takes what offers most of a driver, else an option by its place."""
    turned = deque(scenario.real_options)
    turned.rotate(number)
    taken = max(turned, key=lambda o: o.drivers.get(driver, 0.0))
    stimuli, reason = scenario.stimuli, max(taken.drivers, key=lambda d: taken.drivers[d])
    return Decision(
        id=decision_id(scenario, number),
        scenario_id=scenario.id,
        scenario_title=scenario.title,
        category=scenario.category,
        theme=scenario.theme,
        options=scenario.options,
        chosen_option_id=taken.id,
        chosen_label=taken.label,
        recorded_at=START + timedelta(hours=number),
        rationale=f"{STYLE_SENTENCES['principled']} {DRIVER_SENTENCES[reason]}",
        confidence=0.7,
        response_ms=90_000,
        first_option_id=taken.id if stimuli.counter_arguments else None,
        predicted_peer_option_id=taken.id if stimuli.majority_option_id else None,
        self_predicted_option_id=taken.id if stimuli.premise else None,
        stimuli=stimuli,
    )


def decision_id(scenario: Scenario, number: int) -> UUID:
    return uuid5(NAMESPACE, f"{scenario.key} {number}")


def whole_game() -> list[Decision]:
    """Every scenario once, sequels after the decisions they tell of, and a few asked again."""
    found: dict[UUID, Decision] = {}
    for number, scenario in enumerate(
        sorted(LIBRARY, key=lambda s: s.stimuli.sequel_of is not None)
    ):
        decision, before = played(scenario, "care", number), scenario.stimuli.sequel_of
        told_of = None if before is None else found[before].id
        found[scenario.id] = replace(decision, outcome_of=told_of)
    decisions = list(found.values())
    for number, first in enumerate(decisions[:RETESTS], 24 * 40):
        moment = START + timedelta(hours=number)
        again = uuid5(NAMESPACE, f"again {number}")
        decisions.append(replace(first, id=again, retest_of=first.id, recorded_at=moment))
    return decisions


@pytest.mark.promise("000-3.1-signals")
def test_whoever_plays_the_library_leaves_no_signal_sparse() -> None:
    profile = build(whole_game())
    states = {signal.name: profile.signal(signal.name).state for signal in SIGNALS}
    assert [name for name, state in states.items() if state == "sparse"] == []


@pytest.mark.parametrize("driver", SCENARIO_DRIVERS)
def test_an_owner_who_follows_one_driver_is_recognised_in_its_domain(driver: str) -> None:
    originals = [s for s in LIBRARY if not (s.key or "").endswith("/twin")]
    domain = Counter(s.category for s in originals if offers(s, driver)).most_common(1)[0][0]
    rounds = [s for s in originals if s.category == domain]
    profile = build(played(s, driver, number) for number, s in enumerate(rounds))
    pattern = next(p for p in profile.patterns if p.category == domain)
    assert pattern.pulls[0].name == driver
    assert pattern.pulls[0].weight > 0

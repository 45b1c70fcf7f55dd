"""Histories with everything that a round may hold and much that it may not, by Hypothesis.

Rounds and answers are drawn from pools made once, so that the same round is met again and again:
repeats, pairs, sequels and retests are what a history is made of here, not its rare accidents.
"""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid5

from hypothesis import strategies as st

from judgment.contract.profile import CATEGORIES
from judgment.profile.decision import Decision, Option
from judgment.profile.drivers import SCENARIO_DRIVERS
from judgment.profile.stimuli import Outcome, Stimuli
from tests.unit.profile.decisions import NAMESPACE, START

ROUNDS = 48
ANSWERS = 64
RATIONALES = (
    None,
    "",
    "Fair is fair: everyone must be treated the same, on principle.",
    "If we do this, the result would be a higher cost and in the end we lose money.",
    "I thought of her feelings and of the families; people would suffer.",
    "The data and the figures show that it works.",
    "We have always done it this way. Last time it held.",
    "It just felt right.",
    "ist mir egal \u2028 \U0001f600",
    "growth speed loyalty openness and the long run",
)
AMOUNTS = (0.0, -0.0, 0.25, 1 / 3, 0.5, 0.1 + 0.2, 1.0, 1e-9, -10.0, 10.0)


def _options(dice: random.Random) -> tuple[Option, ...]:
    """Two to five options; now and then one, none, two of one id, or more drivers than are read."""
    many = dice.choice((0, 1, 2, 3, 3, 4, 4, 5))
    names: list[str] = dice.sample(SCENARIO_DRIVERS, dice.choice((0, 1, 3, 5)))
    if dice.random() < 0.05:
        names = [f"odd_{n}" for n in range(20)]
    made = []
    for place in range(many):
        offered = {name: dice.choice(AMOUNTS) for name in names if dice.random() < 0.9}
        risk = dice.choice((None, 0.0, 0.2, 0.5, 1.0))
        approach = dice.choice((None, "hold", "yield", "share"))
        made.append(Option(str(place), f"Option {place}", "In words.", offered, risk, approach))
    if dice.random() < 0.6:
        made.append(Option("none", "None of these"))
    if made and dice.random() < 0.05:
        made.append(replace(made[0], label="Its twin"))
    return tuple(made)


def _stimuli(dice: random.Random, earlier: list[dict[str, Any]], ids: list[str]) -> Stimuli:
    """Any of what a round may show and ask, also about options that are not there."""
    named = [*ids, "elsewhere"]
    some = [name for name in named if dice.random() < 0.5]
    return Stimuli(
        premise=dice.choice((None, "A council meets.")),
        majority_option_id=dice.choice((None, dice.choice(named))),
        majority_text=dice.choice((None, "Most are for it.")),
        counter_arguments=dict.fromkeys(some, "But then?") if dice.random() < 0.5 else {},
        outcomes={o: Outcome("Then.", good=dice.random() < 0.4) for o in named},
        pair=dice.choice((None, None, "pair-a", "pair-b", "pair-c")),
        sequel_of=dice.choice(earlier)["scenario_id"] if earlier and dice.random() < 0.3 else None,
    )


def _rounds() -> list[dict[str, Any]]:
    dice = random.Random(20)
    made: list[dict[str, Any]] = []
    for number in range(ROUNDS):
        options = _options(dice)
        twin = dice.choice(made) if made and dice.random() < 0.3 else None
        made.append(
            {
                "scenario_id": uuid5(NAMESPACE, f"s{number}"),
                "scenario_title": dice.choice(("Contract 1 of 2", "Contract 2 of 2", "Harbour")),
                "category": dice.choice((*CATEGORIES, *CATEGORIES, "unknown", "owner")),
                "theme": dice.choice(("boardroom", "boardroom", "court", "personal")),
                "options": twin["options"] if twin else options,
                "stimuli": _stimuli(dice, made, [o.id for o in options]),
            }
        )
    return made


def _answers() -> list[dict[str, Any]]:
    dice = random.Random(21)
    named = ("0", "0", "1", "1", "2", "3", "none", "elsewhere")
    return [
        {
            "chosen_option_id": dice.choice(named),
            "rationale": dice.choice(RATIONALES),
            "confidence": dice.choice((None, 0.0, 0.1 + 0.2, 0.5, 0.9, 1.0)),
            "response_ms": dice.choice((None, 0, 1, 900, 12_345, 200_000, 1_000_000_000)),
            "first_option_id": dice.choice((None, *named)),
            "predicted_peer_option_id": dice.choice((None, *named)),
            "self_predicted_option_id": dice.choice((None, *named)),
        }
        for _ in range(ANSWERS)
    ]


ROUND_POOL, ANSWER_POOL = _rounds(), _answers()
ROUND, ANSWER = st.sampled_from(ROUND_POOL), st.sampled_from(ANSWER_POOL)
LATER = st.sampled_from([timedelta(0), timedelta(microseconds=1), timedelta(days=40)])
ELSE = UUID(int=77)


@st.composite
def lives(draw: st.DrawFn, least: int = 0, most: int = 14) -> list[Decision]:
    """Any history, oldest first but for ties: several decisions may carry the same moment."""
    found: list[Decision] = []
    moment = START
    for number in range(draw(st.integers(least, most))):
        earlier = [None, *[None] * len(found), *range(len(found))]
        repeated, seen = (draw(st.sampled_from(earlier)) for _ in range(2))
        moment += draw(LATER)
        made = Decision(
            id=uuid5(NAMESPACE, f"life{number}"),
            recorded_at=moment,
            chosen_label="As chosen",
            outcome_of=None if seen is None else found[seen].id,
            **draw(ROUND),
            **draw(ANSWER),
        )
        if repeated is not None:
            of = found[repeated]
            again = {"scenario_id": of.scenario_id, "options": of.options, "category": of.category}
            made = replace(made, retest_of=of.id, **(again if number % 5 else {}))
        elif number % 13 == 7:
            made = replace(made, retest_of=ELSE)
        found.append(made)
    return found


def long_life(seed: int, many: int, salt: str = "") -> list[Decision]:
    """A history out of the same pools, of any length, the same for the same seed and salt."""
    dice = random.Random(seed)
    found: list[Decision] = []
    for number in range(many):
        made = Decision(
            id=uuid5(NAMESPACE, f"{salt}/{seed}/{number}"),
            recorded_at=START + timedelta(seconds=number),
            chosen_label="As chosen",
            outcome_of=dice.choice([None, None, *(d.id for d in found)]),
            **dice.choice(ROUND_POOL),
            **dice.choice(ANSWER_POOL),
        )
        if found and dice.random() < 0.3:
            of = dice.choice(found)
            again = {"scenario_id": of.scenario_id, "options": of.options, "category": of.category}
            made = replace(made, retest_of=of.id, **again)
        found.append(made)
    return found

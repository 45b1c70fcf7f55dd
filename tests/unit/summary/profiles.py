"""Profiles to write summaries of: simulated owners, with much to say about each."""

from __future__ import annotations

import random
from datetime import timedelta
from typing import TYPE_CHECKING

from judgment.profile.build import build
from judgment.profile.drivers import SCENARIO_DRIVERS
from judgment.profile.model import CATEGORIES, PlayerDecisionProfile
from judgment.profile.stimuli import Stimuli
from tests.unit.profile.decisions import START, decision, option

if TYPE_CHECKING:
    from judgment.profile.decision import Decision


def simulated(seed: int, rounds: int = 48) -> PlayerDecisionProfile:
    """An owner who mostly takes the option with most of one driver in each domain."""
    dice = random.Random(seed)
    favourites = {c: dice.sample(SCENARIO_DRIVERS, 3) for c in CATEGORIES}
    made: list[Decision] = []
    for n in range(rounds):
        category = CATEGORIES[n % len(CATEGORIES)]
        loved, other, third = favourites[category]
        options = [
            option(0, risk=0.1, **{loved: 0.9, other: 0.1}),
            option(1, risk=0.5, **{other: 0.9, loved: 0.2}),
            option(2, risk=0.9, **{third: 0.8, other: 0.3}),
        ]
        Stimuli(majority_option_id="1", counter_arguments={o.id: "But." for o in options})
        dice.shuffle(options)
        best = max(options, key=lambda o: o.drivers.get(loved, 0))
        chosen = best if dice.random() < 0.85 else dice.choice(options)
        made.append(
            decision(
                n,
                options,
                options.index(chosen),
                category=category,
                theme="boardroom",
                confidence=dice.choice([0.6, 0.8, 0.9]),
                response_ms=dice.randint(4_000, 90_000),
                first_option_id=dice.choice(options).id,
                self_predicted_option_id=dice.choice(options).id if n % 2 else None,
                predicted_peer_option_id=dice.choice(options).id if n % 2 else None,
                stimuli=Stimuli(
                    majority_option_id="1", counter_arguments={o.id: "But." for o in options}
                ),
                retest_of=made[n - 8].id if n % 5 == 0 and n >= 8 else None,
                recorded_at=START + timedelta(days=n),
            )
        )
    return build(made)

"""Owners made by code: one neutral, and for each signal one who differs in that trait alone.

All play the same library-like set of rounds, in which every stimulus occurs. A trait is a rate,
kept exactly by a running quota (the k-th case is a yes where k · rate passes a whole number), so
that an owner shows a trait and never a run of luck. Only which option is meant is drawn, seeded.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid5

from judgment.contract.profile import CATEGORIES, Category
from judgment.profile.decision import Decision, Option
from judgment.profile.stimuli import NO_STIMULI, Outcome, Stimuli
from tests.unit.profile.decisions import NAMESPACE, START

OFFERED: Mapping[Category, tuple[str, str, str]] = {
    "governance": ("fairness", "transparency", "autonomy"),
    "team-dynamics": ("loyalty", "harmony", "merit"),
    "resource-allocation": ("growth", "speed", "thrift"),
    "values-culture": ("stability", "long_term", "care"),
}
STYLE_SENTENCES = {
    "principled": "It is a matter of principle.",
    "consequence": "The outcome decides.",
    "people": "I thought of my father.",
    "evidence": "The evidence is clear.",
    "precedent": "There is precedent.",
    "intuition": "I had a hunch.",
}
DRIVER_SENTENCES = {
    "fairness": "What weighs is a level playing field.",
    "transparency": "What weighs is openness.",
    "autonomy": "What weighs is autonomy.",
    "loyalty": "What weighs is loyalty.",
    "harmony": "What weighs is harmony.",
    "merit": "What weighs is merit.",
    "growth": "What weighs is growth.",
    "speed": "What weighs is speed.",
    "thrift": "What weighs is thrift.",
    "stability": "What weighs is stability.",
    "long_term": "What weighs is the next generation.",
    "care": "What weighs is health.",
}
AMOUNTS = ((0.9, 0.4, 0.1), (0.1, 0.9, 0.4), (0.4, 0.1, 0.9))
ROUNDS = 96
READING_MS_A_WORD = 60_000 / 238


@dataclass(frozen=True)
class Owner:
    """Rates 0 to 1, but for `style` and `attention` (one, or None for all in turn) and `pace`.

    `name_bias` is what a name adds to `noise`, the rate at which anything asked again comes out
    differently. `lean` is how often the first driver of a domain wins a round nobody disturbs.
    """

    style: str | None = None
    attention: str | None = None
    confidence: float = 0.52
    pace: float = 2.0
    moved: float = 0.42
    peers: float = 0.55
    dissent: float = 0.45
    authentic: float = 0.55
    adjusted: float = 0.47
    noise: float = 0.37
    foresight: float = 0.55
    name_bias: float = 0.0
    lean: float = 0.6


NEUTRAL = Owner()


@dataclass
class _Game:
    """One owner at play; `made` grows by one decision a round."""

    owner: Owner
    dice: random.Random
    made: list[Decision] = field(default_factory=list[Decision])
    quotas: dict[str, float] = field(default_factory=dict[str, float])

    def keeps(self, trait: str, rate: float) -> bool:
        """Whether the next case of a trait is a yes, so that the rate comes out exactly."""
        due = self.quotas.get(trait, 0.5) + rate
        self.quotas[trait] = due % 1 if due >= 1 else due
        return due >= 1

    def turn(self, trait: str, size: int) -> int:
        """0, 1, … size - 1 and round again."""
        place = int(self.quotas.get(trait, 0))
        self.quotas[trait] = (place + 1) % size
        return place

    def other(self, options: tuple[Option, ...], than: str) -> str:
        return self.dice.choice([o.id for o in options if o.id not in (than, "none")])

    def one_or_other(self, trait: str, rate: float, options: tuple[Option, ...], one: str) -> str:
        return one if self.keeps(trait, rate) else self.other(options, one)


def play(owner: Owner, seed: int = 1) -> list[Decision]:
    """The decisions of that owner over the whole set, oldest first: 96 rounds and what follows."""
    game = _Game(owner, random.Random(seed))
    for number in range(ROUNDS):
        options, stimuli = _offer(number), _stimuli(number)
        lean = options[0].id
        if stimuli.majority_option_id:
            chosen = game.one_or_other(
                "dissent", 1 - owner.dissent, options, stimuli.majority_option_id
            )
        else:
            chosen = game.one_or_other("lean", owner.lean, options, lean)
        _decide(game, f"round {number}", number, options, chosen, stimuli)
    for first in list(game.made):
        _follow(game, first)
    return game.made


def _offer(number: int) -> tuple[Option, ...]:
    drivers = OFFERED[CATEGORIES[number % 4]]
    options = [
        Option(
            id=f"o{place}",
            label=f"Option {number}-{place}",
            description="One way to settle it, told in a line of plain words.",
            drivers=dict(zip(drivers, amounts, strict=True)),
            risk=(0.2, 0.5, 0.8)[(place + number // 4) % 3],
            approach=("hold", "bend", "leave")[place],
        )
        for place, amounts in enumerate(AMOUNTS)
    ]
    return (*options, Option(id="none", label="None of these"))


def _stimuli(number: int) -> Stimuli:
    """Majorities, counter-arguments, self-predictions, outcomes and pairs, each on its own beat."""
    step = number // 4
    stimuli = NO_STIMULI
    if step % 3 == 0:
        majority = f"o{step % 2 + 1}"
        stimuli = replace(stimuli, majority_option_id=majority, majority_text="Most want this.")
    if step % 2 == 0 and step % 3:
        arguments = {f"o{place}": "Think again." for place in range(3)}
        stimuli = replace(stimuli, counter_arguments=arguments)
    if step % 2 == 1:
        stimuli = replace(stimuli, premise="A hard choice is coming.")
    if step % 4 == 1:
        bad = {f"o{place}": Outcome("It went badly.", good=False) for place in range(3)}
        stimuli = replace(stimuli, outcomes=bad)
    if step % 4 == 2:
        stimuli = replace(stimuli, pair=f"pair {number}")
    return stimuli


def _follow(game: _Game, first: Decision) -> None:
    """The twin, the sequel or the retest of a round, a hundred rounds and forty days later."""
    number, owner, options = len(game.made), game.owner, first.options
    step = int(first.scenario_title.split()[1]) // 4
    category, chosen = first.category, first.chosen_option_id
    if first.stimuli.pair:
        same = 1 - min(owner.noise + owner.name_bias, 1.0)
        chosen = game.one_or_other("pair", same, options, chosen)
        title = f"{first.scenario_title} with Omar"
        _decide(game, title, number, options, chosen, first.stimuli, category=category)
    elif first.stimuli.outcomes:
        chosen = game.one_or_other("adjusted", 1 - owner.adjusted, options, chosen)
        again = tuple(replace(o, label=f"{o.label} after all") for o in options)
        sequel = Stimuli(sequel_of=first.scenario_id)
        told = {"category": category, "outcome_of": first.id}
        _decide(game, f"sequel {number}", number, again, chosen, sequel, **told)
    elif step % 4 == 3:
        chosen = game.one_or_other("noise", 1 - owner.noise, options, chosen)
        told = {"category": category, "retest_of": first.id}
        _decide(game, first.scenario_title, number, options, chosen, first.stimuli, **told)


def _decide(
    game: _Game,
    title: str,
    number: int,
    options: tuple[Option, ...],
    chosen: str,
    stimuli: Stimuli,
    **more: Any,
) -> None:
    owner, majority = game.owner, stimuli.majority_option_id
    first = peers = foreseen = None
    if stimuli.counter_arguments:
        first = game.one_or_other("moved", 1 - owner.moved, options, chosen)
    if majority:
        peers = game.one_or_other("peers", owner.peers, options, majority)
    if stimuli.premise:
        foreseen = game.one_or_other("foresight", owner.foresight, options, chosen)
    words = len(" ".join([title, *(f"{o.label} {o.description}" for o in options)]).split())
    game.made.append(
        replace(
            Decision(
                id=_uuid(f"decision {number}"),
                scenario_id=_uuid(title),
                scenario_title=title,
                category=CATEGORIES[number % 4],
                theme="boardroom",
                options=options,
                chosen_option_id=chosen,
                chosen_label=chosen,
                recorded_at=START + timedelta(minutes=number, days=40 if number >= ROUNDS else 0),
                rationale=_rationale(game, options, chosen),
                confidence=owner.confidence,
                response_ms=round(owner.pace * words * READING_MS_A_WORD),
                first_option_id=first,
                predicted_peer_option_id=peers,
                self_predicted_option_id=foreseen,
                stimuli=stimuli,
            ),
            **more,
        )
    )


def _rationale(game: _Game, options: tuple[Option, ...], chosen: str) -> str:
    """A sentence of some style and one of a driver, if one is to be had that the quota asks for."""
    styles = tuple(STYLE_SENTENCES)
    style = game.owner.style or styles[game.turn("style", len(styles))]
    means = game.quotas.get("authentic", 0.5) + game.owner.authentic >= 1
    fitting = [
        name
        for name in options[0].drivers
        if (chosen == _best(options, name)) == means and game.owner.attention in (None, name)
    ]
    if not fitting:
        return STYLE_SENTENCES[style]
    game.keeps("authentic", game.owner.authentic)
    driver = fitting[game.turn("driver", 6) % len(fitting)]
    return f"{STYLE_SENTENCES[style]} {DRIVER_SENTENCES[driver]}"


def _best(options: tuple[Option, ...], driver: str) -> str:
    return max(options, key=lambda o: o.drivers.get(driver, 0.0)).id


def _uuid(name: str) -> UUID:
    return uuid5(NAMESPACE, name)

"""An owner who plays whatever is served, with the evidence counted as the signals' rows say it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from uuid import UUID, uuid5

from judgment.scenarios.choosing import (
    ANY_ROUND,
    COUNTER_ARGUMENT,
    MAJORITY,
    PREMISE,
    Answered,
    Candidate,
    Choice,
    History,
    Settings,
    choose,
)

if TYPE_CHECKING:
    from judgment.contract.rounds import CanonicalTheme

NAMESPACE = UUID("00000000-0000-0000-0000-000000000002")
START = datetime(2026, 1, 1, 9, tzinfo=UTC)
EVERY_ROUND = ANY_ROUND | PREMISE | MAJORITY | COUNTER_ARGUMENT
"""Signals of which one answer to a round that carries them is one piece of evidence."""


@dataclass
class Player:
    """One owner, their clock, and what they were served, in order."""

    number: int
    library: Sequence[Candidate]
    settings: Settings = field(default_factory=Settings)
    now: datetime = START
    history: History = field(init=False)
    served: list[Choice] = field(default_factory=list[Choice])

    def __post_init__(self) -> None:
        self.history = History(uuid5(NAMESPACE, f"owner {self.number}"))

    def next(self, theme: CanonicalTheme | None = None) -> Choice | None:
        """What would be served now."""
        return choose(self.history, self.library, theme=theme, now=self.now, settings=self.settings)

    def play(self, theme: CanonicalTheme | None = None) -> Choice | None:
        """Answer what is served; None, and nothing changes, where nothing is."""
        choice = self.next(theme)
        if choice is not None:
            self.record(choice)
        return choice

    def record(self, choice: Choice) -> None:
        """Note the decision on it."""
        before, number = self.history, self.history.rounds + 1
        known = before.answered.get(choice.scenario_id)
        answered = Answered(
            scenario_id=choice.scenario_id,
            decision_id=uuid5(NAMESPACE, f"{before.user_id} {number}"),
            first_round=known.first_round if known else number,
            last_round=number,
            last_at=self.now,
            times=known.times + 1 if known else 1,
        )
        self.history = replace(
            before,
            rounds=number,
            answered={**before.answered, choice.scenario_id: answered},
            evidence=self._evidence(choice),
        )
        self.served.append(choice)

    def _evidence(self, choice: Choice) -> dict[str, int]:
        """As the table of signals counts it: a pair when both are answered, a retest when asked."""
        by_id = {c.id: c for c in self.library}
        found, candidate = dict(self.history.evidence), by_id[choice.scenario_id]
        more = list(candidate.feeds & EVERY_ROUND)
        answered = self.history.answered
        twins = [c.id for c in self.library if c.pair == candidate.pair and c.id != candidate.id]
        if choice.retest_of is not None:
            more.append("occasion_noise")
        elif candidate.pair is not None and any(twin in answered for twin in twins):
            more.append("name_bias_signal")
        if choice.outcome_of is not None:
            more.append("learning_rate")
        for name in more:
            found[name] = found.get(name, 0) + 1
        return found


def library(seed: int, *, themes: int = 2, pairs: int = 2, stories: int = 2, plain: int = 4):
    """Candidates of a made-up library: so many pairs, stories with a sequel, and others."""
    draw = random.Random(seed)
    kinds = (PREMISE, MAJORITY, COUNTER_ARGUMENT)
    names = ("boardroom", "frontier", "rebuild", "court", "underground", "custom")[:themes]

    def made(name: str, theme: str, **links: object) -> Candidate:
        feeds = ANY_ROUND.union(*(kind for kind in kinds if draw.random() < 0.4))
        if links.get("pair"):
            feeds |= {"name_bias_signal"}
        if "story" in name or links.get("sequel_of"):
            feeds |= {"learning_rate"}
        return replace(Candidate(uuid5(NAMESPACE, f"{seed} {name}"), theme, feeds), **links)

    found: list[Candidate] = []
    for number in range(pairs):
        theme = draw.choice(names)
        one = made(f"pair {number}", theme, pair=f"pair {number}")
        found += [one, replace(one, id=uuid5(NAMESPACE, f"{one.id} twin"))]
    for number in range(stories):
        first = made(f"story {number}", draw.choice(names))
        found += [first, made(f"sequel {number}", first.theme, sequel_of=first.id)]
    return [*found, *(made(f"plain {n}", draw.choice(names)) for n in range(plain))]

"""Which domain a personal round is in, and which signal it may serve, by rotation (seed 000 §8.2).

The owner picks neither. The target is the signal with the least data among those that a made round
can serve at all. Domains take turns; the one in which the target has the least data takes two
turns where the others take one. So for any two domains, and whatever becomes of the evidence
meanwhile: rounds(a) <= 2 * (rounds(b) + 1). Nothing is drawn by lot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from judgment.contract.profile import CATEGORIES, Category

Stimulus = Literal["premise", "majority", "counter_arguments"]
"""What a round may show besides its options; a personal round shows one at most."""


@dataclass(frozen=True)
class Served:
    """A signal that a made round can serve. `stimulus` is what it takes, None where any will do."""

    signal: str
    stimulus: Stimulus | None


SERVED: tuple[Served, ...] = (
    Served("self_awareness", "premise"),
    Served("persuadability", "counter_arguments"),
    Served("dissent_profile", "majority"),
    Served("peer_reading", "majority"),
    Served("reasoning_style_distribution", None),
    Served("attention_distribution", None),
    Served("authenticity", None),
    Served("confidence_calibration", None),
    Served("timing_signature", None),
)
"""In this order where two have the same data. Learning rate, occasion noise and name bias compare
rounds with one another, which only the library can set up."""

Evidence = Mapping[Category, Mapping[str, int]]
"""By domain: supporting decisions by signal."""


@dataclass(frozen=True)
class Target:
    """What the next personal round is for."""

    category: Category
    signal: str
    stimulus: Stimulus | None


def choose(made: Mapping[Category, int], evidence: Evidence) -> Target:
    """The next domain and signal, from the owner's personal rounds by domain and their evidence.

    What is missing from either counts 0.
    """
    served = min(SERVED, key=lambda row: sum(_known(evidence, c, row.signal) for c in CATEGORIES))
    known = {category: _known(evidence, category, served.signal) for category in CATEGORIES}
    least = min(known.values())

    def turn(category: Category) -> tuple[float, int]:
        weight = 2 if known[category] == least else 1
        return (made.get(category, 0) + 1) / weight, CATEGORIES.index(category)

    return Target(min(CATEGORIES, key=turn), served.signal, served.stimulus)


def _known(evidence: Evidence, category: Category, signal: str) -> int:
    return evidence.get(category, {}).get(signal, 0)

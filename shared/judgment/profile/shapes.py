"""The typed shapes that a stored profile is read into; plain values, no behaviour."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID

    from judgment.contract.profile import Category, Level, SignalState, Speed
    from judgment.profile.decision import Decision

SPARSE_BELOW = 4
RICH_FROM = 12
LEAN_Z = 1.28
CLEAR_Z = 1.96


def state_of(supporting: int) -> SignalState:
    """Ruling 21: sparse below 4 supporting decisions, developing from 4, rich from 12."""
    if supporting < SPARSE_BELOW:
        return "sparse"
    return "rich" if supporting >= RICH_FROM else "developing"


@dataclass(frozen=True)
class SignalReading:
    """What is stored for one signal: `evidence` supporting decisions, and its numbers."""

    evidence: int = 0
    numbers: Mapping[str, float] = field(default_factory=dict[str, float])
    shares: Mapping[str, float] = field(default_factory=dict[str, float])

    @property
    def state(self) -> SignalState:
        """How much backs the signal."""
        return state_of(self.evidence)


@dataclass(frozen=True)
class Pull:
    """One driver's weight in one category; `share` is its part (0 to 1) of the total pull.

    `sd` is the weight's uncertainty; None where an older app stored a bare weight.
    """

    name: str
    weight: float
    sd: float | None
    share: float


@dataclass(frozen=True)
class Tally:
    """How often the option with most (or least) of a driver was taken, beside pure chance.

    `differed` counts the decisions whose options differed on the driver.
    """

    differed: int
    took_most: int
    chance_most: float
    took_least: int
    chance_least: float


@dataclass(frozen=True)
class OwnPattern:
    """How often the other decisions point to the one taken: `hits` of `of`, by chance `chance`."""

    hits: int
    of: int
    chance: float

    @property
    def beats_chance(self) -> bool:
        """Whether the hits stand 1.28 deviations or more above what guessing would give."""
        spread = math.sqrt(self.chance * max(1 - self.chance / self.of, 0.0))
        return self.hits >= self.chance + LEAN_Z * spread


@dataclass(frozen=True)
class Comparison:
    """Driver `over` outweighs driver `under`, `ratio` times."""

    over: str
    under: str
    ratio: float


@dataclass(frozen=True)
class Trend:
    """A driver whose weight differs between the earlier and the later half of the decisions."""

    driver: str
    early: float
    late: float
    decisions: int


@dataclass(frozen=True)
class CategoryPattern:
    """How the owner decides in one domain, as far as it is stored.

    `kind` is the title of three quarters of its decisions or more, `of_kind` how many those are;
    None and 0 where they are of several kinds.
    """

    category: Category
    decisions: int
    pulls: tuple[Pull, ...] = ()
    primary: str | None = None
    secondary: tuple[str, ...] = ()
    risk: Level = "medium"
    risk_numbers: Mapping[str, float] = field(default_factory=dict[str, float])
    speed: Speed = "balanced"
    speed_numbers: Mapping[str, float] = field(default_factory=dict[str, float])
    kind: str | None = None
    of_kind: int = 0
    own: OwnPattern | None = None
    comparison: Comparison | None = None
    trend: Trend | None = None
    trend_text: str | None = None
    tallies: Mapping[str, Tally] = field(default_factory=dict[str, Tally])


@dataclass(frozen=True)
class ContextRule:
    """A circumstance and the shift in behaviour stored for it; texts are data, never commands."""

    trigger: str
    behavior_shift: str
    confidence: float


@dataclass(frozen=True)
class StoredProfile:
    """What the database holds: the row as JSON text (None: no row), score and its owner, raw.

    `summary_games`: from how many decisions we wrote its texts; `summary_stale`: whether a move of
    the profile has asked for new ones.
    """

    row: str | None
    sync_score: str | None
    score_owner: str | None
    summary_games: int | None = None
    summary_stale: bool = False


@dataclass(frozen=True)
class Carried:
    """A stored decision, and what the profile is carried forward from over it.

    `latest`: the owner's two latest decisions, this one first unless it came out of order. `owner`
    and `category`: the parts' texts (`accumulation`), None where there is none of this version.
    `marks` by key; None where it was looked up and is not there. `says_when`: whether profiles have
    a column that says when a decision was last analysed.
    """

    decision: Decision
    latest: tuple[UUID, ...]
    owner: str | None
    category: str | None
    marks: Mapping[str, str | None]
    says_when: bool

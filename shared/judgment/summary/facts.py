"""What a model is told of a profile: the observations, each with an id that it must cite.

Only sentences of our own making: what an earlier app or a scenario's title put into words (rules,
kinds, drivers of an older form) is never shown to a model; code adds those lines to its texts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgment.profile.observe import EARLIER_FORM, EARLIER_SHARE
from judgment.profile.signals import SIGNALS

if TYPE_CHECKING:
    from judgment.profile.model import PlayerDecisionProfile
    from judgment.profile.observations import Observation

FACTS_LIMIT = 60
FOREIGN_ASPECTS = ("kind", "earlier_primary", "earlier_secondary")
FOREIGN_TEMPLATES = (EARLIER_SHARE, EARLIER_FORM)


@dataclass(frozen=True)
class Fact:
    """An observation that may be cited. `scope` is its domain, or `signal`."""

    id: str
    about: str
    text: str

    @property
    def scope(self) -> str:
        """Sentences speak of one scope each: a domain, or the manner of deciding."""
        kind, _, rest = self.about.partition(":")
        return rest.partition(":")[0] if kind == "category" else kind

    @property
    def words(self) -> str:
        """The sentence with what it is about, where names may be taken from."""
        return f"{self.text} {self.about.replace(':', ' ')}"


@dataclass(frozen=True)
class Facts:
    """Everything a model is told: `by_id` most important first, and what is not known."""

    games: int
    by_id: Mapping[str, Fact]
    unknown: tuple[str, ...]

    def cited(self, ids: Sequence[str]) -> list[Fact]:
        """The facts of those ids that exist."""
        return [self.by_id[i] for i in ids if i in self.by_id]


def facts_of(profile: PlayerDecisionProfile, observations: Sequence[Observation]) -> Facts:
    """The first sixty observations in our own words, named f1, f2, …"""
    own = [o for o in observations if not is_foreign(o)][:FACTS_LIMIT]
    facts = [Fact(f"f{n}", o.about, o.text) for n, o in enumerate(own, 1)]
    unknown = tuple(s.name for s in SIGNALS if profile.signal(s.name).state == "sparse")
    return Facts(profile.games_analyzed, {fact.id: fact for fact in facts}, unknown)


def is_foreign(observation: Observation) -> bool:
    """Whether words of an earlier app or of a scenario stand in it."""
    kind, _, rest = observation.about.partition(":")
    return (
        kind not in ("category", "signal")
        or '"' in observation.text  # whatever is stored and not ours is said in quotes
        or rest.rpartition(":")[2] in FOREIGN_ASPECTS
        or observation.template in FOREIGN_TEMPLATES
    )

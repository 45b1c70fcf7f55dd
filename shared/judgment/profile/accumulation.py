"""What a profile is carried forward from: sums, and the latest decisions of each domain.

One part for the owner and one per domain, so that a decision reads and writes two of them. Both are
bounded whatever the length of the history; what would grow with it (the last answer to each offer)
lies behind `Marks`, a look-up by key. Text written by a part reads back as the same part, to the
last bit of every number. Everything here is derived from decisions: another `VERSION`, or a text
that does not read, means that it is made again from them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from judgment.kit.hashing import canonical_json

VERSION = 4
"""To be raised with every change of what any number of a profile means."""
WINDOW = 240
OWNER = "owner"

Row = list[float]


class Marks(Protocol):
    """What later decisions are compared with, by key."""

    def get(self, key: str) -> str | None:
        """What was set last, or None."""
        ...

    def set(self, key: str, value: str) -> None:
        """Remember, in place of what was there."""
        ...


class MemoryMarks:
    """Marks kept in `written`: all there are, while a history is read from its beginning."""

    def __init__(self) -> None:
        self.written: dict[str, str] = {}

    def get(self, key: str) -> str | None:
        """What was set last, or None."""
        return self.written.get(key)

    def set(self, key: str, value: str) -> None:
        """Remember, in place of what was there."""
        self.written[key] = value


class Case(NamedTuple):
    """A first decision of a domain, as far as weighing needs it.

    `rows` has the amounts of the drivers `names` for each option with drivers, `taken` which row
    was chosen; both are empty where the decision says nothing about weights. `held` is what the
    last retest said, `pace` the response time over the reading time; None where unknown.
    """

    id: str
    confidence: float | None
    held: bool | None
    pace: float | None
    names: list[str]
    rows: list[Row]
    taken: int | None


class Judged(NamedTuple):
    """Decisions of a domain with a stated confidence of which it is known whether they hold."""

    n: int = 0
    confidence: float = 0.0
    held: int = 0


@dataclass
class CategoryPart:
    """One domain: its latest 240 first decisions, and sums over all of them.

    `titles` counts the decisions under each of the first sixteen titles. `placed` counts decisions
    between a safest and a riskiest option, `places` sums where between the two they lie.
    """

    decisions: int = 0
    titles: dict[str, int] = field(default_factory=dict[str, int])
    placed: int = 0
    places: float = 0.0
    timed: int = 0
    cases: list[Case] = field(default_factory=list[Case])


@dataclass
class Finished:
    """What one domain adds to the profile, as its part gave it last."""

    pattern: dict[str, Any]
    tallies: dict[str, Any]
    judged: Judged


@dataclass
class OwnerPart:
    """All the rest: counts of each signal, latest times, what each domain adds.

    `last` is the id of the latest decision taken in. `counts` has by signal `n` and what was
    counted over it; `latest_times` milliseconds and pace of the latest 240 timed first decisions.
    """

    decisions: int = 0
    last: str | None = None
    counts: dict[str, dict[str, int]] = field(default_factory=dict[str, dict[str, int]])
    latest_times: list[tuple[int, float]] = field(default_factory=list[tuple[int, float]])
    styles: dict[str, int] = field(default_factory=dict[str, int])
    attention: dict[str, float] = field(default_factory=dict[str, float])
    finished: dict[str, Finished] = field(default_factory=dict[str, Finished])

    def count(self, signal: str, **hits: bool) -> None:
        """One more case of a signal, and of each named thing that was so in it."""
        counted = self.counts.setdefault(signal, {"n": 0, **dict.fromkeys(hits, 0)})
        counted["n"] += 1
        for name, hit in hits.items():
            counted[name] += hit

    def counted(self, signal: str) -> Mapping[str, int]:
        """The counts of a signal; `n` is 0 before the first."""
        return self.counts.get(signal) or {"n": 0}


@dataclass
class State:
    """The owner's part and those domains' that are at hand; a missing domain is not an empty one
    unless the owner's part has nothing finished of it."""

    owner: OwnerPart = field(default_factory=OwnerPart)
    categories: dict[str, CategoryPart] = field(default_factory=dict[str, CategoryPart])

    def category(self, name: str) -> CategoryPart:
        """The part of a domain, begun where there was none."""
        return self.categories.setdefault(name, CategoryPart())


def to_text(part: OwnerPart | CategoryPart) -> str:
    """A part as canonical JSON."""
    values = dict(vars(part))
    if isinstance(part, OwnerPart):
        values["finished"] = {name: vars(done) for name, done in part.finished.items()}
    return canonical_json(values)


def owner_from_text(text: str) -> OwnerPart:
    """The owner's part again. Raises ValueError, TypeError or KeyError on any other text."""
    values = json.loads(text)
    values["latest_times"] = [(ms, pace) for ms, pace in values["latest_times"]]
    values["finished"] = {
        name: Finished(done["pattern"], done["tallies"], Judged(*done["judged"]))
        for name, done in values["finished"].items()
    }
    return OwnerPart(**values)


def category_from_text(text: str) -> CategoryPart:
    """A domain's part again. Raises ValueError, TypeError or KeyError on any other text."""
    values = json.loads(text)
    values["cases"] = [Case(*case) for case in values["cases"]]
    return CategoryPart(**values)

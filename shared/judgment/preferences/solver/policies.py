"""How a group's opinions become one order, and what each way of doing it means.

One option touches some keys; one participant holds opinions on some keys. Three steps lead from
there to a ranking, and each is kept whole in the trace.

**What an opinion counts for.** weight x confidence, and half of that when it is stale: an opinion
that is unsure or long unconfirmed pulls less, in either direction, and can never change sides.

**What an option is worth to one participant**, its *satisfaction* s. The mean over those of the
option's keys that the participant has an opinion on, so that s stays within [-1, 1] and an option
with three mild attractions does not beat one with a single strong one. `normalise="none"` takes
the sum instead, which is what the reference system does. A participant without an opinion on any
of its keys is *silent*: s = 0, neither for nor against, and the silence is reported beside the
score. Zero is a choice: leaving the silent out would let an option that one person has heard of
win on that one voice, and counting them as against would make every new idea lose.

**What an option is worth to the group.** Each policy answers a different question:

- `weighted-sum`: the sum of s. Utilitarian (Bentham; Harsanyi 1955): the most satisfaction in
  all, however it is spread. A large minority may be made unhappy by a small majority's delight.
- `hard-veto`: the same sum over what nobody vetoes. A veto is an opinion whose raw weight lies
  strictly below `veto_below`: somebody's "not that" is not for sale, whatever the others feel.
  Confidence and staleness do not soften it, since a wrong veto costs the group one option and an
  ignored one costs a person.
- `maximin`: the worst-off participant decides (Rawls 1971), and where two options treat the
  worst-off alike, the next worst-off, and so on (leximin, Sen 1970). Only that refinement keeps
  an option from winning that is worse for everybody else.
- `least-misery`: the worst-off participant decides and nothing else (O'Connor, Cosley, Konstan
  and Riedl 2001, PolyLens). Coarser than maximin on purpose: what the minimum does not separate
  is a tie.
- `nash`: the product of utilities u = (1 + s) / 2 (Nash 1950), shown as their geometric mean. The
  point of disagreement is full aversion, u = 0. Between sum and maximin: a gain counts for more
  the less somebody has, and an option that somebody rejects wholly is worth nothing. It needs u
  in [0, 1], hence the mean.

Scores are rounded to six decimals before anything is compared, so that what looks equal is equal.
Equal scores share a rank and the next rank counts everybody before it (1, 1, 3): a tie that the
opinions do not break is not broken here. `forced_order` breaks it by the option's id and says so;
that order means nothing but that it is always the same.

Sums are `math.fsum`, which is exact before its one rounding: the order in which participants,
options and keys come cannot show in any number, and neither can their names, which are only
compared for equality (and put the list of ties in order).

Constraints and vetoes are not traded against satisfaction: they take an option out before scores
are compared, and name who asked. Sources: seed 001 "Solver";
`docs/decisions/088-what-a-group-ranking-means.md`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, fsum, log
from typing import Literal

PolicyName = Literal["weighted-sum", "hard-veto", "maximin", "nash", "least-misery"]
Normalise = Literal["mean", "none"]
NORMALISATIONS: tuple[Normalise, ...] = ("mean", "none")
STALE_SHARE = 0.5
"""What is left of an opinion that is stale."""
DECIMALS = 6
TIE_BREAK = "lexicographic option id"


@dataclass(frozen=True, slots=True)
class Policy:
    """One way to a group's score. `score` takes one satisfaction a participant, at least one."""

    name: PolicyName
    score: Callable[[Sequence[float]], float]
    called: str
    by_the_worst_off: bool = False
    vetoes: bool = False
    needs_mean: bool = False


def rounded(number: float) -> float:
    """To six decimals, zero without a sign."""
    return round(number, DECIMALS) + 0.0


def worst_first(satisfactions: Sequence[float]) -> list[float]:
    """What maximin compares place by place: rounded, from the worst-off up."""
    return sorted(map(rounded, satisfactions))


def _total(satisfactions: Sequence[float]) -> float:
    return rounded(fsum(satisfactions))


def _least(satisfactions: Sequence[float]) -> float:
    return rounded(min(satisfactions))


def _nash(satisfactions: Sequence[float]) -> float:
    """The geometric mean of (1 + s) / 2; by logarithms, since a product of hundreds vanishes."""
    if min(satisfactions) <= -1.0:
        return 0.0
    logs = fsum([log((1.0 + one) / 2.0) for one in satisfactions])
    return rounded(exp(logs / len(satisfactions)))


POLICIES: dict[str, Policy] = {
    one.name: one
    for one in (
        Policy("weighted-sum", _total, "total"),
        Policy("hard-veto", _total, "total", vetoes=True),
        Policy("maximin", _least, "worst-off", by_the_worst_off=True),
        Policy("nash", _nash, "geometric mean of utilities", needs_mean=True),
        Policy("least-misery", _least, "worst-off"),
    )
}

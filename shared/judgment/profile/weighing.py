"""What weighs with an owner in one domain, from the decisions they made in it.

The drivers' weights come from `choice` under its neutral prior; beside each stand plain counts,
so that a reader can check the model against what happened. Counts and weights come from the
latest 240 decisions of the domain, which keeps the cost bounded; how many decisions there were is
counted over all of them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judgment.profile import choice
from judgment.profile.blocks import Task
from judgment.profile.shapes import CLEAR_Z, SPARSE_BELOW

if TYPE_CHECKING:
    from judgment.profile.accumulation import Case

DRIVERS_WEIGHED = 8
COMPARE_Z = 1.645
TREND_Z = 2.5
TREND_FROM = 12


@dataclass(frozen=True)
class Weighing:
    """One domain's `category_patterns` part, its tallies, and which decisions hold.

    `held` has, by id, an entry for each decision that could be checked: True when the owner's other
    decisions point to the option taken.
    """

    document: Mapping[str, Any]
    tallies: Mapping[str, Any] = field(default_factory=dict[str, Any])
    held: Mapping[str, bool] = field(default_factory=dict[str, bool])


def weigh(cases: Sequence[Case]) -> Weighing:
    """Weigh the latest decisions of one domain, oldest first.

    Decisions whose options carry no drivers, or that ended in an option without any, say nothing
    about weights and are skipped. Below 4 usable decisions nothing is weighed.
    """
    names = _drivers(cases)
    usable = [c for c in cases if c.taken is not None]
    if len(usable) < SPARSE_BELOW or not names:
        return Weighing({"weighed": len(usable), "drivers": []})
    tasks = [_task(case, names) for case in usable]
    fitted = choice.fit(tasks, choice.neutral_prior(len(names)))
    reach = [w * s for w, s in zip(fitted.weights, _spans(tasks), strict=True)]
    held = {
        case.id: _points_to(chances, task.chosen)
        for case, task, chances in zip(usable, tasks, choice.left_out(tasks, fitted), strict=True)
    }
    document = {
        "weighed": len(usable),
        "drivers": _ranked(names, fitted, reach),
        "own_pattern": {
            "hits": sum(held.values()),
            "of": len(usable),
            "chance": round(sum(1 / len(t.options) for t in tasks), 4),
        },
        "comparison": _comparison(names, fitted, reach),
        "trend": _trend(names, tasks),
    }
    return Weighing(document, {n: _tally(tasks, i) for i, n in enumerate(names)}, held)


def _drivers(cases: Sequence[Case]) -> list[str]:
    """The drivers on which options most often differ, at most eight, by name."""
    differed = Counter(name for case in cases for name in case.names)
    useful = sorted(differed, key=lambda name: (-differed[name], name))
    return sorted(useful[:DRIVERS_WEIGHED])


def _task(case: Case, names: Sequence[str]) -> Task:
    """The choice as rows over `names`; a driver on which its options do not differ is 0."""
    places = [case.names.index(name) if name in case.names else None for name in names]
    rows = tuple(tuple(0.0 if p is None else row[p] for p in places) for row in case.rows)
    return Task(rows, case.taken or 0)


def _spans(tasks: Sequence[Task]) -> list[float]:
    """How far apart the options stand on each driver, on average over the tasks."""
    columns = [list(zip(*task.options, strict=True)) for task in tasks]
    size = len(columns[0])
    return [sum(max(c[i]) - min(c[i]) for c in columns) / len(columns) for i in range(size)]


def _points_to(chances: Sequence[float], chosen: int) -> bool:
    """Whether the option taken is the single likeliest one."""
    rest = max((p for i, p in enumerate(chances) if i != chosen), default=0.0)
    return chances[chosen] > rest + 1e-9


def _ranked(
    names: Sequence[str], fitted: choice.Fit, reach: Sequence[float]
) -> list[dict[str, Any]]:
    total = sum(map(abs, reach)) or 1.0
    order = sorted(range(len(names)), key=lambda i: (-abs(reach[i]), names[i]))
    return [
        {
            "name": names[i],
            "weight": round(fitted.weights[i], 4),
            "sd": round(math.sqrt(fitted.covariance[i][i]), 4),
            "share": abs(reach[i]) / total,
        }
        for i in order
    ]


def _tally(tasks: Sequence[Task], index: int) -> dict[str, float]:
    """How often the most and the least of one driver was taken, beside what chance would give."""
    found = {"differed": 0, "took_most": 0, "took_least": 0}
    chance_most = chance_least = 0.0
    for task in tasks:
        column = [row[index] for row in task.options]
        most, least = max(column), min(column)
        if most == least:
            continue
        found["differed"] += 1
        found["took_most"] += column[task.chosen] == most
        found["took_least"] += column[task.chosen] == least
        chance_most += column.count(most) / len(column)
        chance_least += column.count(least) / len(column)
    return {**found, "chance_most": round(chance_most, 4), "chance_least": round(chance_least, 4)}


def _comparison(
    names: Sequence[str], fitted: choice.Fit, reach: Sequence[float]
) -> dict[str, Any] | None:
    """The strongest clear driver against the next one, where it outweighs it beyond doubt.

    Beyond doubt: the difference of the two pulls is 1.645 of its own standard deviations or more.
    """
    order = sorted(range(len(names)), key=lambda i: (-abs(reach[i]), names[i]))
    if len(order) < 2 or abs(fitted.z(order[0])) < CLEAR_Z:
        return None
    a, b = order[0], order[1]
    spans = [r / w if w else 0.0 for r, w in zip(reach, fitted.weights, strict=True)]
    sa = math.copysign(spans[a], fitted.weights[a])
    sb = math.copysign(spans[b], fitted.weights[b])
    cov = fitted.covariance
    variance = sa * sa * cov[a][a] + sb * sb * cov[b][b] - 2 * sa * sb * cov[a][b]
    gap = abs(reach[a]) - abs(reach[b])
    if not reach[b] or variance <= 0 or gap / math.sqrt(variance) < COMPARE_Z:
        return None
    return {"over": names[a], "under": names[b], "ratio": round(abs(reach[a] / reach[b]), 4)}


def _trend(names: Sequence[str], tasks: Sequence[Task]) -> dict[str, Any] | None:
    """The driver whose weight moved most between the earlier and the later half, if it did."""
    if len(tasks) < TREND_FROM:
        return None
    middle = len(tasks) // 2
    prior = choice.neutral_prior(len(names))
    early, late = choice.fit(tasks[:middle], prior), choice.fit(tasks[middle:], prior)
    moves = [
        (late.weights[i] - early.weights[i])
        / math.sqrt(late.covariance[i][i] + early.covariance[i][i])
        for i in range(len(names))
    ]
    top = max(range(len(names)), key=lambda i: abs(moves[i]))
    if abs(moves[top]) < TREND_Z:
        return None
    return {
        "driver": names[top],
        "early": round(early.weights[top], 4),
        "late": round(late.weights[top], 4),
        "z": round(moves[top], 2),
        "decisions": len(tasks),
    }

"""Many choices at once: the sums that `choice` needs, taken column by column.

Tasks with the same number of options form a block. Every row of driver values is kept as its
difference to the option taken, which changes no probability and leaves one row less; a column holds
one driver of all of them, option by option. In plain Python that is some ten times quicker than
going through the tasks one by one, and that is the reason for this file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import add, mul

Vector = list[float]
Matrix = list[list[float]]


@dataclass(frozen=True)
class Task:
    """One decision: a row of driver values per option, and which option was taken."""

    options: tuple[tuple[float, ...], ...]
    chosen: int


@dataclass(frozen=True)
class Block:
    """`many` tasks with `others` options besides the one taken; `indexes` are the tasks' places.

    Row `option * many + task` of each column belongs to that option of that task.
    """

    indexes: list[int]
    others: int
    columns: list[Vector]

    @property
    def many(self) -> int:
        """How many tasks these are."""
        return len(self.indexes)

    def utilities(self, weights: Sequence[float]) -> Vector:
        """The utility of each row; that of each option taken is 0."""
        found = [0.0] * (self.others * self.many)
        for weight, column in zip(weights, self.columns, strict=True):
            if weight:
                found = [u + weight * x for u, x in zip(found, column, strict=True)]
        return found

    def chances(self, utilities: Vector) -> tuple[float, Vector, Vector]:
        """Log likelihood; the chance of each task's option taken; the chance of each row."""
        by_option = self.by_option(utilities)
        none = [0.0] * self.many
        highest = list(map(max, none, *by_option)) if by_option else none
        odds = list(
            map(math.exp, [u - h for u, h in zip(utilities, highest * self.others, strict=True)])
        )
        taken = [math.exp(-h) for h in highest]
        totals = taken
        for part in self.by_option(odds):
            totals = list(map(add, totals, part))
        likelihood = -sum(highest) - sum(map(math.log, totals))
        shares = [odd / total for odd, total in zip(odds, totals * self.others, strict=True)]
        return likelihood, [t / total for t, total in zip(taken, totals, strict=True)], shares

    def add_moments(self, shares: Vector, slope: Vector, curve: Matrix) -> None:
        """Add the rows' covariance under their chances to `curve`, take their mean off `slope`."""
        weighted = [list(map(mul, shares, column)) for column in self.columns]
        means = [self.summed(column) for column in weighted]
        for i, column in enumerate(weighted):
            slope[i] -= sum(column)
            for j in range(i, len(weighted)):
                amount = sum(map(mul, column, self.columns[j]))
                amount -= sum(map(mul, means[i], means[j]))
                curve[i][j] += amount
                if i != j:
                    curve[j][i] += amount

    def products(self, covariance: Sequence[Sequence[float]]) -> list[list[Vector]]:
        """x · covariance · y of every two rows x, y of a task, by option, option and task.

        Option 0 is the one taken, for which it is 0.
        """
        size = self.others + 1
        found: list[list[Vector]] = [[[0.0] * self.many for _ in range(size)] for _ in range(size)]
        turned = [self.by_option(self.utilities(row)) for row in covariance]
        plain = [self.by_option(column) for column in self.columns]
        for i in range(1, size):
            for j in range(i, size):
                total = found[i][j]
                for one, other in zip(turned, plain, strict=True):
                    total = list(map(add, total, map(mul, one[i - 1], other[j - 1])))
                found[i][j] = found[j][i] = total
        return found

    def summed(self, rows: Vector) -> Vector:
        """The sum over the options, task by task."""
        total = [0.0] * self.many
        for part in self.by_option(rows):
            total = list(map(add, total, part))
        return total

    def by_option(self, rows: Vector) -> list[Vector]:
        """Rows cut into one list per option, each task by task."""
        many = self.many
        return [rows[start : start + many] for start in range(0, self.others * many, many)]


def blocks(tasks: Sequence[Task], size: int) -> list[Block]:
    """The tasks as blocks over `size` drivers, smallest number of options first."""
    alike: dict[int, list[int]] = {}
    for index, task in enumerate(tasks):
        alike.setdefault(len(task.options), []).append(index)
    found: list[Block] = []
    for many, indexes in sorted(alike.items()):
        rows: list[list[float]] = []
        for place in range(1, many):
            for index in indexes:
                task = tasks[index]
                taken = task.options[task.chosen]
                option = task.options[place - 1 if place <= task.chosen else place]
                rows.append([x - t for x, t in zip(option, taken, strict=True)])
        columns = [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(size)]
        found.append(Block(indexes, many - 1, columns))
    return found

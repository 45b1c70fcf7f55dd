"""A second opinion: every sentence about a person made again from their decisions, with numpy.

Shares no code with the product but the words of the drivers. Same definitions: posterior mode
under a normal prior (mean 0, sd 2), its curvature, one Newton step to leave a decision out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from judgment.profile.drivers import in_words

if TYPE_CHECKING:
    from judgment.profile.decision import Decision

PRIOR_SD = 2.0


def sentences(decisions: Sequence[Decision]) -> list[str]:
    """What may be said of a person with one kind of decision, in one domain, in any order."""
    ordered = sorted(decisions, key=lambda d: (d.recorded_at, d.id))
    return [_kind(ordered), *weighed(ordered)]


def weighed(ordered: Sequence[Decision]) -> list[str]:
    """What may be said of weights in one domain, oldest first; the same drivers in every option."""
    names, tables, chosen = _tables(ordered)
    weights, covariance, _ = _posterior(tables, chosen)
    spans = np.mean([t.max(0) - t.min(0) for t in tables], axis=0)
    reach = np.abs(weights) * spans
    shares = reach / reach.sum()
    z = np.round(weights, 4) / np.round(np.sqrt(np.diag(covariance)), 4)
    hits, chance = sum(points_to(ordered)), sum(1 / len(table) for table in tables)
    steady = hits >= chance + 1.28 * np.sqrt(chance * (1 - chance / len(tables)))
    found = [_steadiness(hits, len(tables), chance, steady)]
    flat = []
    for i, name in enumerate(names):
        if abs(z[i]) < 1.28 or not steady:
            flat.append(name.replace("_", " "))
            continue
        took, differed, luck = _tally(tables, chosen, i, most=weights[i] >= 0)
        sure = "Clearly" if abs(z[i]) >= 1.96 else "Perhaps"
        found.append(
            f"{sure} leans towards {in_words(name, weights[i])} ({shares[i]:.0%} of the pull): "
            f"took the option best on that in {took} of {differed} decisions, {luck:.1f} by "
            "chance."
        )
    if flat:
        found.append(
            f"No pull that could be told from chance, over {len(tables)} decisions: "
            f"{', '.join(sorted(flat))}."
        )
    return found + (_comparison(names, weights, covariance, spans) if steady else [])


def points_to(ordered: Sequence[Decision]) -> list[bool]:
    """Of each decision, whether the others in its domain point to the option taken."""
    _, tables, chosen = _tables(ordered)
    weights, _, curve = _posterior(tables, chosen)
    found = []
    for table, taken in zip(tables, chosen, strict=True):
        chances = _chances(weights, table)
        pull = table[taken] - chances @ table
        without = weights - np.linalg.solve(curve - _spread(chances, table), pull)
        again = _chances(without, table)
        found.append(bool(again[taken] > np.delete(again, taken).max() + 1e-9))
    return found


def moved(ordered: Sequence[Decision]) -> tuple[str, float, float, float]:
    """The driver that moved most from the earlier half to the later, both weights, deviations."""
    names, tables, chosen = _tables(ordered)
    half = len(tables) // 2
    early, before, _ = _posterior(tables[:half], chosen[:half])
    late, after, _ = _posterior(tables[half:], chosen[half:])
    z = (late - early) / np.sqrt(np.diag(before) + np.diag(after))
    top = int(np.argmax(np.abs(z)))
    return names[top], early[top], late[top], float(z[top])


def _tables(ordered: Sequence[Decision]) -> tuple[list[str], list[np.ndarray], list[int]]:
    """Drivers by name, and per decision what its options offer of them and which was taken."""
    names = sorted(ordered[0].options[0].drivers)
    offered = [[o for o in d.options if o.drivers] for d in ordered]
    tables = [np.array([[o.drivers[n] for n in names] for o in options]) for options in offered]
    pairs = zip(ordered, offered, strict=True)
    return names, tables, [[o.id for o in os].index(d.chosen_option_id) for d, os in pairs]


def _posterior(
    tables: Sequence[np.ndarray], chosen: Sequence[int]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    size = tables[0].shape[1]
    weights = np.zeros(size)
    for _ in range(400):
        slope, curve = -weights / PRIOR_SD**2, np.eye(size) / PRIOR_SD**2
        for table, taken in zip(tables, chosen, strict=True):
            chances = _chances(weights, table)
            slope = slope + table[taken] - chances @ table
            curve = curve + _spread(chances, table)
        step = np.linalg.solve(curve, slope)
        weights = weights + 0.5 * step
        if np.abs(step).max() < 1e-11:
            break
    return weights, np.linalg.inv(curve), curve


def _chances(weights: np.ndarray, table: np.ndarray) -> np.ndarray:
    odds = np.exp(table @ weights - (table @ weights).max())
    return odds / odds.sum()


def _spread(chances: np.ndarray, table: np.ndarray) -> np.ndarray:
    away = table - chances @ table
    return np.einsum("j,ja,jb->ab", chances, away, away)


def _tally(
    tables: Sequence[np.ndarray], chosen: Sequence[int], driver: int, *, most: bool
) -> tuple[int, int, float]:
    took = differed = 0
    chance = 0.0
    for table, taken in zip(tables, chosen, strict=True):
        column = table[:, driver] if most else -table[:, driver]
        best = column == column.max()
        if best.all():
            continue
        differed += 1
        took += int(best[taken])
        chance += best.mean()
    return took, differed, chance


def _steadiness(hits: int, of: int, chance: float, steady: bool) -> str:
    said = f"The other choices point to the one taken in {hits} of {of} decisions, {chance:.1f} by "
    return said + ("chance." if steady else "chance: too few to say what weighs.")


def _comparison(
    names: Sequence[str], weights: np.ndarray, covariance: np.ndarray, spans: np.ndarray
) -> list[str]:
    """Said where the strongest driver is clear and its lead over the next is 1.645 deviations."""
    signed = np.sign(weights) * spans
    first, second = sorted(
        range(len(names)), key=lambda i: (-abs(weights[i] * spans[i]), names[i])
    )[:2]
    contrast = np.zeros(len(names))
    contrast[first], contrast[second] = signed[first], -signed[second]
    lead = contrast @ weights / np.sqrt(contrast @ covariance @ contrast)
    if abs(weights[first]) / np.sqrt(covariance[first, first]) < 1.96 or lead < 1.645:
        return []
    ratio = abs(weights[first] * spans[first] / (weights[second] * spans[second]))
    over = in_words(names[first], weights[first]).capitalize()
    return [
        f"{over} outweighs {in_words(names[second], weights[second])}, about {ratio:.1f} times."
    ]


def _kind(ordered: Sequence[Decision]) -> str:
    return (
        f'All {len(ordered)} are of one kind, "Electricity contract": elsewhere the owner may '
        "weigh things differently."
    )

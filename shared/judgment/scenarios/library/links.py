"""What binds scenarios of the library to each other: matched pairs, and sequels."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from judgment.kit.hashing import canonical_json
from judgment.scenarios.model import scenario_columns
from judgment.scenarios.rules import Complaint

if TYPE_CHECKING:
    from judgment.scenarios.model import Scenario

NAMES_MOST = 2
"""A given name and a family name."""
_NO_NAMES = frozenset({"he", "she", "him", "his", "her", "hers", "mr", "mrs", "ms", "miss", "sir"})
_WORD = re.compile(r"[^\W\d_]+|\d+|\S")


def link_complaints(scenarios: Sequence[Scenario]) -> Iterator[tuple[str, Complaint]]:
    """What is wrong with pairs and sequels, with the key of an entry that it is wrong with."""
    pairs: dict[str, list[Scenario]] = defaultdict(list)
    for scenario in scenarios:
        if scenario.stimuli.pair is not None:
            pairs[scenario.stimuli.pair].append(scenario)
    for members in pairs.values():
        complaint = _about_pair(members)
        if complaint is not None:
            yield members[0].key or "", complaint
    yield from _about_sequels(scenarios)


def _about_pair(members: Sequence[Scenario]) -> Complaint | None:
    if len(members) != 2:
        return Complaint("pair_size", "A matched pair has exactly two scenarios.")
    one, other = members
    if (one.theme, one.category) != (other.theme, other.category):
        return Complaint("pair_place", "A matched pair shares its theme and category.")
    if one.stimuli.sequel_of or other.stimuli.sequel_of:
        return Complaint("pair_sequel", "A sequel cannot be of a matched pair.")
    if not only_a_name_differs(one, other):
        return Complaint("pair_differs", "A matched pair differs in a character's name alone.")
    return None


def only_a_name_differs(one: Scenario, other: Scenario) -> bool:
    """Whether one becomes the other by writing another name, given and family, for one person."""
    first, second = _content(one), _content(other)
    if len(first) != len(second):
        return False
    swapped: dict[str, str] = {}
    for mine, theirs in zip(first, second, strict=True):
        if swapped.setdefault(mine, theirs) != theirs:
            return False
    renamed = {mine: theirs for mine, theirs in swapped.items() if mine != theirs}
    names = (*renamed, *renamed.values())
    apart = len(set(swapped.values())) == len(swapped)
    return apart and 1 <= len(renamed) <= NAMES_MOST and all(map(_is_name, names))


def _is_name(word: str) -> bool:
    return word.istitle() and word.lower() not in _NO_NAMES


def _content(scenario: Scenario) -> list[str]:
    """Every word, number and sign of what is shown and of what choosing reveals, in order."""
    columns = scenario_columns(scenario)
    del columns["scenario_id"]
    return _WORD.findall(canonical_json(columns))


def _about_sequels(scenarios: Sequence[Scenario]) -> Iterator[tuple[str, Complaint]]:
    by_id = {scenario.id: scenario for scenario in scenarios}
    followed: set[object] = set()
    for scenario in scenarios:
        before = scenario.stimuli.sequel_of
        if before is None:
            continue
        original = by_id.get(before)
        if original is None or not original.stimuli.outcomes:
            yield (
                scenario.key or "",
                Complaint("sequel_of", "It follows no scenario with outcomes."),
            )
        elif before in followed:
            yield scenario.key or "", Complaint("sequel_twice", "Another one follows it already.")
        elif original.theme != scenario.theme:
            yield scenario.key or "", Complaint("sequel_theme", "A sequel keeps its theme.")
        elif not _offers_again(original, scenario):
            yield scenario.key or "", Complaint("sequel_approach", "It offers other approaches.")
        followed.add(before)
    for scenario in scenarios:
        if scenario.stimuli.outcomes and scenario.id not in followed:
            yield scenario.key or "", Complaint("outcome_unseen", "No sequel tells its outcome.")


def _offers_again(original: Scenario, sequel: Scenario) -> bool:
    """Whether every approach, of which each real option has one, is on offer again."""
    before = [option.approach for option in original.real_options]
    after = [option.approach for option in sequel.real_options]
    return None not in before and set(before) == set(after) and len(set(before)) > 1

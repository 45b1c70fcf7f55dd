"""What every scenario must be, whoever wrote it; the same for the library and for a model's.

A trade-off under constraints: at least three real options, none of which is at least as good as
another in every respect, and none of the above; stimuli that fit them; and text that is only a
story. What is said of a broken rule never quotes the scenario, so that it may be logged, and sent
to a model that is to repair it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

from judgment.profile import values
from judgment.profile.drivers import SCENARIO_DRIVERS
from judgment.scenarios import guardrails
from judgment.scenarios.model import NONE_ID, Scenario

if TYPE_CHECKING:
    from judgment.profile.decision import Option

REAL_OPTIONS_LEAST = 3
REAL_OPTIONS_MOST = 6
CONSTRAINTS_MOST = 8
DRIVERS_MOST = 8
DIFFERENCE = 0.05
"""Drivers closer than this count as equal."""
TITLE_MOST = 120
DESCRIPTION_LEAST = 40
DESCRIPTION_MOST = 2_000
CONSTRAINT_MOST = 300
ID_MOST = 48
LABEL_MOST = 120
OPTION_TEXT_MOST = 600
STIMULUS_MOST = 800

_DRIVERS = frozenset(SCENARIO_DRIVERS)


@dataclass(frozen=True)
class Complaint:
    """One rule that is broken: a stable code, and a plain sentence that says what to repair."""

    code: str
    sentence: str


@dataclass(frozen=True)
class _Text:
    where: str
    text: str
    most: int
    least: int = 1
    lines: bool = False


def complaints(scenario: Scenario) -> tuple[Complaint, ...]:
    """Every rule that the scenario breaks, in a fixed order; none for a good one. Never raises."""
    return (
        *_about_options(scenario.options),
        *_about_drivers(scenario.real_options),
        *_about_trade_off(scenario.real_options),
        *_about_constraints(scenario.constraints),
        *_about_stimuli(scenario),
        *_about_texts(scenario),
    )


def _about_options(options: Sequence[Option]) -> Iterator[Complaint]:
    real = [option for option in options if option.id != NONE_ID]
    if not REAL_OPTIONS_LEAST <= len(real) <= REAL_OPTIONS_MOST:
        yield Complaint(
            "option_count",
            f"Offer {REAL_OPTIONS_LEAST} to {REAL_OPTIONS_MOST} options besides none of the above.",
        )
    if len(options) - len(real) != 1:
        yield Complaint("none_missing", f'Offer exactly one option with the id "{NONE_ID}".')
    ids = [option.id for option in options]
    if len(set(ids)) < len(ids) or not all(_is_id(identity) for identity in ids):
        yield Complaint(
            "option_ids",
            "Give every option an id of its own, of lower-case letters, digits and hyphens.",
        )
    labels = {" ".join(option.label.split()).casefold() for option in options}
    if len(labels) < len(options):
        yield Complaint("option_labels", "Give every option a label of its own.")
    if any(o.drivers or o.risk is not None or o.approach for o in options if o.id == NONE_ID):
        yield Complaint("none_reveals", "None of the above has no drivers, risk or approach.")
    if any(o.approach is not None and o.approach != values.name(o.approach) for o in real):
        yield Complaint("approach", "Name an approach in one lower-case word, or leave it out.")


def _is_id(identity: str) -> bool:
    plain = identity.replace("-", "").replace("_", "")
    return (
        0 < len(identity) <= ID_MOST
        and plain.isascii()
        and plain.isalnum()
        and (identity == identity.lower())
    )


def _about_drivers(real: Sequence[Option]) -> Iterator[Complaint]:
    if any(not option.drivers for option in real):
        yield Complaint("drivers_missing", "Say for every option which drivers it offers.")
    if any(option.drivers.keys() - _DRIVERS for option in real):
        yield Complaint(
            "drivers_unknown", f"Use only these drivers: {', '.join(SCENARIO_DRIVERS)}."
        )
    if any(len(option.drivers) > DRIVERS_MOST for option in real):
        yield Complaint("drivers_many", f"Use at most {DRIVERS_MOST} drivers for an option.")
    if not all(_is_share(amount) for option in real for amount in option.drivers.values()):
        yield Complaint("drivers_range", "Give every driver a number from 0 to 1.")
    if not all(option.risk is not None and _is_share(option.risk) for option in real):
        yield Complaint("risk", "Give every option but none of the above a risk from 0 to 1.")


def _is_share(amount: float) -> bool:
    return math.isfinite(amount) and 0 <= amount <= 1


def _about_trade_off(real: Sequence[Option]) -> Iterator[Complaint]:
    """No option may be as good as another, or better, in every driver."""
    pairs = permutations(real[: 2 * REAL_OPTIONS_MOST], 2)
    if any(_covers(one.drivers, other.drivers) for one, other in pairs):
        yield Complaint(
            "trade_off",
            "Make it a trade-off: each option must offer more of some driver than each other one.",
        )


def _covers(one: Mapping[str, float], other: Mapping[str, float]) -> bool:
    return all(amount - one.get(name, 0.0) < DIFFERENCE for name, amount in other.items())


def _about_constraints(constraints: Sequence[str]) -> Iterator[Complaint]:
    if not 1 <= len(constraints) <= CONSTRAINTS_MOST:
        yield Complaint(
            "constraint_count",
            f"State 1 to {CONSTRAINTS_MOST} constraints that the choice is under.",
        )
    if len({" ".join(c.split()).casefold() for c in constraints}) < len(constraints):
        yield Complaint("constraints_repeat", "State each constraint once.")


def _about_stimuli(scenario: Scenario) -> Iterator[Complaint]:
    stimuli = scenario.stimuli
    real = {option.id for option in scenario.real_options}
    offered = real | {NONE_ID}
    if (stimuli.majority_option_id is None) != (stimuli.majority_text is None):
        yield Complaint("majority_half", "State both the majority's option and the sentence on it.")
    if stimuli.majority_option_id is not None and stimuli.majority_option_id not in real:
        yield Complaint("majority_option", "The majority's option must be one of the real options.")
    if stimuli.counter_arguments.keys() - offered:
        yield Complaint("counter_option", "Argue only against options that are on offer.")
    if stimuli.counter_arguments and real - stimuli.counter_arguments.keys():
        yield Complaint("counter_missing", "Give a counter-argument against every real option.")
    if stimuli.outcomes.keys() - offered:
        yield Complaint("outcome_option", "Tell outcomes only of options that are on offer.")
    if stimuli.outcomes and offered - stimuli.outcomes.keys():
        yield Complaint(
            "outcome_missing", "Tell the outcome of every option, also of none of the above."
        )
    if _same(stimuli.premise, scenario.description):
        yield Complaint("premise_repeats", "Let the premise say less than the description does.")
    if scenario.personalized and (stimuli.pair or stimuli.sequel_of):
        yield Complaint("personal_links", "A personal scenario belongs to no pair and no sequel.")


def _same(one: str | None, other: str) -> bool:
    return one is not None and one.split() == other.split()


def _about_texts(scenario: Scenario) -> Iterator[Complaint]:
    texts = list(_texts(scenario))
    for item in texts:
        if len(item.text.strip()) < item.least:
            yield Complaint(
                "text_missing", f"{item.where} must have at least {item.least} characters."
            )
        if len(item.text) > item.most:
            yield Complaint("text_long", f"{item.where} must have at most {item.most} characters.")
        if guardrails.hides_something(item.text, lines=item.lines):
            yield Complaint("invisible", f"{item.where} must hold no invisible characters.")
    for item in texts:
        for guard in guardrails.broken(item.text):
            yield Complaint(guard.code, f"{item.where} {guard.repair}.")


def _texts(scenario: Scenario) -> Iterator[_Text]:
    yield _Text("The title", scenario.title, TITLE_MOST, 3)
    yield _Text(
        "The description", scenario.description, DESCRIPTION_MOST, DESCRIPTION_LEAST, lines=True
    )
    for number, text in enumerate(scenario.constraints[: 2 * CONSTRAINTS_MOST], 1):
        yield _Text(f"Constraint {number}", text, CONSTRAINT_MOST)
    places: dict[str, str] = {}
    for number, option in enumerate(scenario.options[: 2 * REAL_OPTIONS_MOST], 1):
        place = places.setdefault(option.id, f"option {number}")
        yield _Text(f"The id of {place}", option.id, ID_MOST)
        yield _Text(f"The label of {place}", option.label, LABEL_MOST)
        yield _Text(f"The description of {place}", option.description, OPTION_TEXT_MOST)
        if option.approach is not None:
            yield _Text(f"The approach of {place}", option.approach, ID_MOST)
    yield from _stimulus_texts(scenario, places)


def _stimulus_texts(scenario: Scenario, places: Mapping[str, str]) -> Iterator[_Text]:
    stimuli = scenario.stimuli
    if stimuli.premise is not None:
        yield _Text("The premise", stimuli.premise, STIMULUS_MOST, lines=True)
    if stimuli.majority_text is not None:
        yield _Text("The sentence on the majority", stimuli.majority_text, STIMULUS_MOST)
    for identity, text in list(stimuli.counter_arguments.items())[: 2 * REAL_OPTIONS_MOST]:
        place = places.get(identity, "an option that is not on offer")
        yield _Text(f"The counter-argument against {place}", text, STIMULUS_MOST)
    for identity, outcome in list(stimuli.outcomes.items())[: 2 * REAL_OPTIONS_MOST]:
        place = places.get(identity, "an option that is not on offer")
        yield _Text(f"The outcome of {place}", outcome.text, STIMULUS_MOST)

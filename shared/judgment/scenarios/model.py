"""A scenario: what an owner decides on, as it is stored and as it is played.

What choosing an option reveals (its drivers, risk and approach) and how options turn out never
leave the house; a page gets only what is to be read and asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, get_args
from uuid import UUID

from judgment.contract.profile import CATEGORIES, Category, Theme
from judgment.contract.rounds import Majority, RoundOption, ShownOutcome, Step
from judgment.contract.rounds import Scenario as WireScenario
from judgment.profile import values
from judgment.profile.decision import OPTIONS_LIMIT, Option, option_from_json
from judgment.profile.stimuli import NO_STIMULI, Stimuli, stimuli_from_json

NONE_ID = "none"
"""The id of none of the above, whatever words it is offered in."""
PERSONAL: Theme = "personal"
CONSTRAINTS_LIMIT = 24
TITLE_STORED = 160
DESCRIPTION_STORED = 4_000
CONSTRAINT_STORED = 600

_THEMES: tuple[Theme, ...] = get_args(Theme)
_ALWAYS = frozenset({"option_id", "rationale", "confidence", "response_ms"})


@dataclass(frozen=True)
class Scenario:
    """One trade-off. `owner_user_id` is the one owner it is for, None where it is everybody's.

    `key` is its key in the library, None for a scenario that is not of the library.
    """

    id: UUID
    theme: Theme
    category: Category
    title: str
    description: str
    constraints: tuple[str, ...]
    options: tuple[Option, ...]
    stimuli: Stimuli = NO_STIMULI
    owner_user_id: UUID | None = None
    archived: bool = False
    key: str | None = None

    @property
    def personalized(self) -> bool:
        """Whether it was made from one owner's personal context."""
        return self.theme == PERSONAL

    def option(self, option_id: str) -> Option | None:
        """The option with that id, or None where it is not on offer."""
        return next((o for o in self.options if o.id == option_id), None)

    @property
    def real_options(self) -> tuple[Option, ...]:
        """The options but for none of the above."""
        return tuple(o for o in self.options if o.id != NONE_ID)


def asked(scenario: Scenario) -> frozenset[str]:
    """The fields of a `DecisionRequest` that this round asks for; answers to others are refused."""
    stimuli = scenario.stimuli
    fields = set(_ALWAYS)
    if stimuli.premise:
        fields.add("self_predicted_option_id")
    if stimuli.states_majority:
        fields.add("predicted_peer_option_id")
    if stimuli.counter_arguments:
        fields.add("first_option_id")
    return frozenset(fields)


def steps(scenario: Scenario, *, outcome: bool) -> tuple[Step, ...]:
    """What a page shows and asks, in the contract's order; `outcome`: one is shown first."""
    stimuli = scenario.stimuli
    found: list[Step] = []
    if outcome:
        found.append("outcome")
    if stimuli.premise:
        found.extend(("premise", "self_prediction"))
    found.append("scenario")
    if stimuli.states_majority:
        found.extend(("peer_prediction", "majority"))
    if stimuli.counter_arguments:
        found.extend(("first_choice", "counter_argument"))
    return (*found, "choice", "confidence", "rationale")


def to_wire(scenario: Scenario, *, retest: bool, outcome: ShownOutcome | None) -> WireScenario:
    """The round as it is sent: `retest` where the owner decided it before."""
    stimuli = scenario.stimuli
    majority = None
    if stimuli.states_majority:
        majority = Majority(
            option_id=str(stimuli.majority_option_id), text=str(stimuli.majority_text)
        )
    return WireScenario(
        id=scenario.id,
        theme=scenario.theme,
        category=scenario.category,
        title=scenario.title,
        premise=stimuli.premise,
        description=scenario.description,
        constraints=list(scenario.constraints),
        options=[
            RoundOption(id=o.id, label=o.label, description=o.description) for o in scenario.options
        ],
        majority=majority,
        counter_arguments=dict(stimuli.counter_arguments),
        outcome=outcome,
        steps=list(steps(scenario, outcome=outcome is not None)),
        retest=retest,
        personalized=scenario.personalized,
    )


def scenario_from_row(row: Mapping[str, Any]) -> Scenario | None:
    """A row of `judgment.scenario_contents` with `theme` and `category` of `public.scenarios`.

    None where nobody could play it: an unknown theme or category, no title, or no option besides
    none of the above. Never raises on what jsonb and text hold; raises KeyError on no scenario_id.
    Stimuli that name an option not on offer are left out, so that what is shown is what is kept.
    """
    theme, category = _theme(row.get("theme")), _category(row.get("category"))
    title = values.label(row.get("title"), TITLE_STORED)
    options = _options(row.get("options"))
    if theme is None or category is None or title is None or not {*options} - {NONE_ID}:
        return None
    constraints = (
        values.label(raw, CONSTRAINT_STORED)
        for raw in values.sequence(row.get("constraints"))[:CONSTRAINTS_LIMIT]
    )
    return Scenario(
        id=row["scenario_id"],
        theme=theme,
        category=category,
        title=title,
        description=values.text(row.get("description"), DESCRIPTION_STORED) or "",
        constraints=tuple(text for text in constraints if text is not None),
        options=tuple(options.values()),
        stimuli=_fitting(stimuli_from_json(row.get("stimuli")), options),
        owner_user_id=row.get("owner_user_id"),
        archived=row.get("archived") is True,
        key=values.label(row.get("library_key"), 64),
    )


def scenario_columns(scenario: Scenario) -> dict[str, Any]:
    """The stored values by column; options, constraints and stimuli as plain JSON values."""
    return {
        "scenario_id": scenario.id,
        "theme": scenario.theme,
        "category": scenario.category,
        "owner_user_id": scenario.owner_user_id,
        "title": scenario.title,
        "description": scenario.description,
        "options": [option.to_json() for option in scenario.options],
        "constraints": list(scenario.constraints),
        "stimuli": scenario.stimuli.to_json(),
    }


def _theme(value: object) -> Theme | None:
    return next((theme for theme in _THEMES if theme == value), None)


def _category(value: object) -> Category | None:
    return next((category for category in CATEGORIES if category == value), None)


def _options(value: object) -> dict[str, Option]:
    """By id, in order; of two with one id the first."""
    found: dict[str, Option] = {}
    for raw in values.sequence(value)[:OPTIONS_LIMIT]:
        option = option_from_json(raw)
        if option is not None:
            found.setdefault(option.id, option)
    return found


def _fitting(stimuli: Stimuli, options: Mapping[str, Option]) -> Stimuli:
    states = stimuli.states_majority and stimuli.majority_option_id in options
    return replace(
        stimuli,
        majority_option_id=stimuli.majority_option_id if states else None,
        majority_text=stimuli.majority_text if states else None,
        counter_arguments={k: v for k, v in stimuli.counter_arguments.items() if k in options},
        outcomes={k: v for k, v in stimuli.outcomes.items() if k in options},
    )

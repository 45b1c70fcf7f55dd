"""The written form of a scenario, read strictly: what is wrong with it is said, never guessed at.

Library entries and a model's answers have the same form. Reading a stored row is another matter
(`scenario_from_row`): that was checked when it was written, and must never fail.
"""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from pydantic import Field, ValidationError

from judgment.contract.profile import Category, Theme
from judgment.contract.rounds import CanonicalTheme
from judgment.contract.wire import RequestModel
from judgment.profile.decision import Option
from judgment.profile.stimuli import Outcome, Stimuli
from judgment.scenarios.model import Scenario
from judgment.scenarios.rules import Complaint, complaints

FORM_COMPLAINTS_MOST = 12


class OptionForm(RequestModel):
    """One option; `drivers` 0 to 1 by name, `risk` 0 to 1, `approach` a word for what it does."""

    id: str
    label: str
    description: str
    drivers: dict[str, float] = Field(default_factory=dict)
    risk: float | None = None
    approach: str | None = None


class OutcomeForm(RequestModel):
    """How an option turned out, and whether the story means it well."""

    text: str
    good: bool


class StimuliForm(RequestModel):
    """What the round shows and asks besides; all of it may be absent.

    `pair` and `sequel_of` (the key of another entry) are for the library alone.
    """

    premise: str | None = None
    majority_option_id: str | None = None
    majority_text: str | None = None
    counter_arguments: dict[str, str] = Field(default_factory=dict)
    outcomes: dict[str, OutcomeForm] = Field(default_factory=dict)
    pair: str | None = None
    sequel_of: str | None = None


class ScenarioForm(RequestModel):
    """What is written of a scenario, whoever wrote it; its id, theme and category are given."""

    title: str
    description: str
    constraints: list[str]
    options: list[OptionForm]
    stimuli: StimuliForm = StimuliForm()


class EntryForm(ScenarioForm):
    """An entry of the library; `key` is its name for ever."""

    key: str
    theme: CanonicalTheme
    category: Category


@dataclass(frozen=True)
class Given:
    """What is decided by code and not by the text: which scenario it is, where and for whom."""

    id: UUID
    theme: Theme
    category: Category
    owner_user_id: UUID | None = None
    sequel_of: UUID | None = None
    key: str | None = None


@dataclass(frozen=True)
class Written:
    """A scenario and what is wrong with it; None where it has not even the form of one."""

    scenario: Scenario | None
    complaints: tuple[Complaint, ...]

    @property
    def good(self) -> Scenario | None:
        """The scenario, where nothing is wrong with it."""
        return None if self.complaints else self.scenario


def written(document: object, given: Given) -> Written:
    """Read a decoded JSON value of any kind as a scenario and check it. Never raises."""
    try:
        form = ScenarioForm.model_validate(document)
    except (ValidationError, RecursionError) as error:
        return Written(None, form_complaints(error))
    scenario = scenario_of(form, given)
    found = complaints(scenario)
    if form.stimuli.sequel_of is not None and given.sequel_of is None:
        found = (*found, Complaint("links", "Leave out what it would be the sequel of."))
    return Written(scenario, found)


def form_complaints(error: Exception) -> tuple[Complaint, ...]:
    """What pydantic found, without a word of the input: fields by their names, others by a dash."""
    if not isinstance(error, ValidationError):
        return (Complaint("form", "The document is nested too deeply."),)
    found: list[Complaint] = []
    details = error.errors(include_url=False, include_context=False, include_input=False)
    for detail in details[:FORM_COMPLAINTS_MOST]:
        place = ".".join(_place(part) for part in detail["loc"]) or "the document"
        found.append(Complaint("form", f"{place}: {_said(detail['type'], detail['msg'])}."))
    return tuple(found)


_FIELDS = frozenset(
    name
    for form in (EntryForm, OptionForm, StimuliForm, OutcomeForm)
    for name in form.model_fields
)


def _place(part: int | str) -> str:
    if isinstance(part, int):
        return str(part + 1)
    return part if part in _FIELDS else "-"


def _said(kind: str, message: str) -> str:
    return "This field is unknown" if kind == "extra_forbidden" else message.rstrip(".")


def scenario_of(form: ScenarioForm, given: Given) -> Scenario:
    """The form as a scenario, not checked against any rule."""
    stimuli = form.stimuli
    return Scenario(
        id=given.id,
        theme=given.theme,
        category=given.category,
        title=form.title,
        description=form.description,
        constraints=tuple(form.constraints),
        options=tuple(Option(**o.model_dump()) for o in form.options),
        stimuli=Stimuli(
            premise=stimuli.premise,
            majority_option_id=stimuli.majority_option_id,
            majority_text=stimuli.majority_text,
            counter_arguments=stimuli.counter_arguments,
            outcomes={k: Outcome(o.text, o.good) for k, o in stimuli.outcomes.items()},
            pair=stimuli.pair,
            sequel_of=given.sequel_of,
        ),
        owner_user_id=given.owner_user_id,
        key=given.key,
    )

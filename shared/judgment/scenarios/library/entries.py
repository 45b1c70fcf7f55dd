"""One entry of the library, read strictly: what is wrong with it is said, never guessed at.

Reading a stored row is another matter (`scenario_from_row`): that was checked when it was written,
and must never fail.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from uuid import UUID, uuid5

from pydantic import Field, ValidationError

from judgment.contract.profile import Category
from judgment.contract.rounds import CanonicalTheme
from judgment.contract.wire import RequestModel
from judgment.profile.decision import Option
from judgment.profile.stimuli import Outcome, Stimuli
from judgment.scenarios.model import Scenario
from judgment.scenarios.rules import Complaint, complaints

NAMESPACE = UUID("6d0f6f0e-6a5c-5b53-9a39-0f5d3f0c8a11")
"""Of the ids of scenarios of the library; never changed."""
FORM_COMPLAINTS_MOST = 12
_KEY = re.compile(r"[a-z0-9][a-z0-9/-]{0,63}")


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
    """What the round shows and asks besides; `sequel_of` is the key of the scenario it follows."""

    premise: str | None = None
    majority_option_id: str | None = None
    majority_text: str | None = None
    counter_arguments: dict[str, str] = Field(default_factory=dict)
    outcomes: dict[str, OutcomeForm] = Field(default_factory=dict)
    pair: str | None = None
    sequel_of: str | None = None


class EntryForm(RequestModel):
    """An entry as it is written; `key` is its name for ever."""

    key: str
    theme: CanonicalTheme
    category: Category
    title: str
    description: str
    constraints: list[str]
    options: list[OptionForm]
    stimuli: StimuliForm = StimuliForm()


@dataclass(frozen=True)
class Entry:
    """A scenario and what is wrong with it; None where it has not even the form of one."""

    scenario: Scenario | None
    complaints: tuple[Complaint, ...]


def scenario_id(key: str) -> UUID:
    """The id of the library's scenario with that key, the same in every database."""
    return uuid5(NAMESPACE, key)


def read_entry(document: object) -> Entry:
    """Read a decoded JSON value of any kind as an entry and check it. Never raises."""
    try:
        form = EntryForm.model_validate(document)
    except ValidationError as error:
        return Entry(None, _form_complaints(error))
    except RecursionError:
        return Entry(None, (Complaint("form", "The document is nested too deeply."),))
    scenario = _scenario(form)
    found = complaints(scenario)
    if not _KEY.fullmatch(form.key):
        found = (Complaint("key", "A key is of lower-case letters, digits, / and -."), *found)
    return Entry(scenario, found)


_FIELDS = frozenset(
    name for form in (EntryForm, OptionForm, StimuliForm, OutcomeForm) for name in form.model_fields
)


def _form_complaints(error: ValidationError) -> tuple[Complaint, ...]:
    """What pydantic found, without a word of the input: fields by their names, others by a dash."""
    found: list[Complaint] = []
    details = error.errors(include_url=False, include_context=False, include_input=False)
    for detail in details[:FORM_COMPLAINTS_MOST]:
        place = ".".join(_place(part) for part in detail["loc"]) or "the document"
        found.append(Complaint("form", f"{place}: {_said(detail['type'], detail['msg'])}."))
    return tuple(found)


def _place(part: int | str) -> str:
    if isinstance(part, int):
        return str(part + 1)
    return part if part in _FIELDS else "-"


def _said(kind: str, message: str) -> str:
    return "This field is unknown" if kind == "extra_forbidden" else message.rstrip(".")


def _scenario(form: EntryForm) -> Scenario:
    stimuli = form.stimuli
    return Scenario(
        id=scenario_id(form.key),
        theme=form.theme,
        category=form.category,
        title=form.title,
        description=form.description,
        constraints=tuple(form.constraints),
        options=tuple(Option(**option.model_dump()) for option in form.options),
        stimuli=Stimuli(
            premise=stimuli.premise,
            majority_option_id=stimuli.majority_option_id,
            majority_text=stimuli.majority_text,
            counter_arguments=stimuli.counter_arguments,
            outcomes={k: Outcome(o.text, o.good) for k, o in stimuli.outcomes.items()},
            pair=stimuli.pair,
            sequel_of=None if stimuli.sequel_of is None else scenario_id(stimuli.sequel_of),
        ),
        key=form.key,
    )

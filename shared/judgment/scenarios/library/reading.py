"""The library's files, read strictly: one bad entry and nothing is read, with every reason."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from importlib import resources
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, cast
from uuid import UUID, uuid5

from pydantic import ValidationError

from judgment.profile import values
from judgment.scenarios.documents import EntryForm, Given, form_complaints, scenario_of
from judgment.scenarios.library.links import link_complaints
from judgment.scenarios.rules import Complaint, complaints

if TYPE_CHECKING:
    from judgment.scenarios.model import Scenario

NAMESPACE = UUID("6d0f6f0e-6a5c-5b53-9a39-0f5d3f0c8a11")
"""Of the ids of scenarios of the library; never changed."""
_KEY = re.compile(r"[a-z0-9][a-z0-9/-]{0,63}")


class LibraryError(ValueError):
    """The library cannot be used; the message names every file, key and complaint."""


def scenario_id(key: str) -> UUID:
    """The id of the library's scenario with that key, the same in every database."""
    return uuid5(NAMESPACE, key)


def read_library(folder: Traversable | None = None) -> tuple[Scenario, ...]:
    """Every scenario of the packaged library, or of another folder of JSON files, by key.

    Raises LibraryError.
    """
    place = folder if folder is not None else resources.files(__package__ or "")
    found: list[Scenario] = []
    problems: list[str] = []
    for file in sorted(place.iterdir(), key=lambda item: item.name):
        if file.name.endswith(".json"):
            scenarios, wrong = _read_file(file)
            found += scenarios
            problems += wrong
    doubled = [key for key, times in Counter(s.key for s in found).items() if times > 1]
    problems += [f"{key}: key: The key is used twice." for key in doubled]
    problems += [f"{key}: {_said(complaint)}" for key, complaint in link_complaints(found)]
    if problems:
        raise LibraryError("\n".join(problems))
    return tuple(sorted(found, key=lambda scenario: scenario.key or ""))


def _read_file(file: Traversable) -> tuple[list[Scenario], list[str]]:
    try:
        entries: object = json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        return [], [f"{file.name}: form: {error}"]
    if not isinstance(entries, list):
        return [], [f"{file.name}: form: The file is not a list of entries."]
    scenarios: list[Scenario] = []
    problems: list[str] = []
    for number, entry in enumerate(cast("list[object]", entries), 1):
        scenario, wrong = _read_entry(entry, file.name.removesuffix(".json"))
        if scenario is not None:
            scenarios.append(scenario)
        name = values.label(values.mapping(entry).get("key"), 64) or f"entry {number}"
        problems += [f"{file.name}: {name}: {_said(complaint)}" for complaint in wrong]
    return scenarios, problems


def _read_entry(entry: object, theme: str) -> tuple[Scenario | None, Sequence[Complaint]]:
    try:
        form = EntryForm.model_validate(entry)
    except (ValidationError, RecursionError) as error:
        return None, form_complaints(error)
    wrong: list[Complaint] = []
    if not _KEY.fullmatch(form.key):
        wrong.append(Complaint("key", "A key is of lower-case letters, digits, / and -."))
    if form.theme != theme:
        wrong.append(Complaint("theme", "The theme is not the file's."))
    before = form.stimuli.sequel_of
    given = Given(
        id=scenario_id(form.key),
        theme=form.theme,
        category=form.category,
        sequel_of=None if before is None else scenario_id(before),
        key=form.key,
    )
    scenario = scenario_of(form, given)
    return scenario, [*wrong, *complaints(scenario)]


def _said(complaint: Complaint) -> str:
    return f"{complaint.code}: {complaint.sentence}"


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("An object has the same name twice.")
    return found

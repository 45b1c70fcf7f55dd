"""The library's files, read strictly: one bad entry and nothing is read, with every reason."""

from __future__ import annotations

import json
from collections import Counter
from importlib import resources
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, cast

from judgment.profile import values
from judgment.scenarios.library.entries import read_entry
from judgment.scenarios.library.links import link_complaints

if TYPE_CHECKING:
    from judgment.scenarios.model import Scenario
    from judgment.scenarios.rules import Complaint


class LibraryError(ValueError):
    """The library cannot be used; the message names every file, key and complaint."""


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
        found = read_entry(entry)
        name = values.label(values.mapping(entry).get("key"), 64) or f"entry {number}"
        problems += [f"{file.name}: {name}: {_said(complaint)}" for complaint in found.complaints]
        if found.scenario is not None:
            scenarios.append(found.scenario)
            if found.scenario.theme != file.name.removesuffix(".json"):
                problems.append(f"{file.name}: {name}: theme: The theme is not the file's.")
    return scenarios, problems


def _said(complaint: Complaint) -> str:
    return f"{complaint.code}: {complaint.sentence}"


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("An object has the same name twice.")
    return found

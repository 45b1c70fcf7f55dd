"""The library is read strictly, and whoever breaks it is told where and how."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from judgment.scenarios.library.entries import scenario_id
from judgment.scenarios.library.reading import LibraryError, read_library
from judgment.scenarios.model import scenario_columns, scenario_from_row
from tests.unit.scenarios.examples import document

Entries = list[dict[str, Any]]


def entry(key: str, **stimuli: Any) -> dict[str, Any]:
    """An entry of the theme `frontier` with these stimuli and no others."""
    head = {"key": key, "theme": "frontier", "category": "governance"}
    return {**document(), **head, "stimuli": stimuli}


def pair(name: str = "Abena", other: str = "Greta") -> Entries:
    """Two entries that tell of two people in the same words."""
    found = [entry(f"frontier/{n}", pair="grain") for n in (1, 2)]
    for one, who in zip(found, (name, other), strict=True):
        one["title"] = f"{who}'s grain"
        one["description"] = f"{who} keeps the stores. You decide what {who} may do with them."
    return found


def story() -> Entries:
    """A scenario with outcomes, and the one that follows it."""
    first = entry("frontier/1", outcomes=document()["stimuli"]["outcomes"])
    return [first, entry("frontier/2", sequel_of="frontier/1")]


def folder(path: Path, entries: object, name: str = "frontier.json") -> Path:
    """A library with one file."""
    (path / name).write_text(json.dumps(entries), encoding="utf-8")
    return path


def refusal(path: Path, entries: object, name: str = "frontier.json") -> str:
    """What is said of that library."""
    with pytest.raises(LibraryError) as refused:
        read_library(folder(path, entries, name))
    return str(refused.value)


@pytest.mark.parametrize("entries", [[], pair(), story(), [*pair(), entry("frontier/3")]])
def test_good_entries_are_read_by_key(tmp_path: Path, entries: Entries) -> None:
    found = read_library(folder(tmp_path, entries))
    assert [s.key for s in found] == [e["key"] for e in entries]
    assert [s.id for s in found] == [scenario_id(e["key"]) for e in entries]


def test_the_id_of_a_key_never_changes() -> None:
    assert scenario_id("frontier/governance/1") == UUID("50e465d4-928c-5a9d-b284-3f49a952b405")


def test_a_sequel_points_at_the_id_of_what_it_follows(tmp_path: Path) -> None:
    first, second = read_library(folder(tmp_path, story()))
    assert second.stimuli.sequel_of == first.id


def change(number: int, name: str, value: object) -> Callable[[Entries], None]:
    """A change of one field of one entry."""

    def write(entries: Entries) -> None:
        entries[number][name] = value

    return write


def another(**stimuli: Any) -> Callable[[Entries], None]:
    """A third entry."""
    return lambda entries: entries.append(entry("frontier/3", **stimuli))


def other_number(entries: Entries) -> None:
    entries[1]["options"][0]["risk"] = 0.5


def third_name(entries: Entries) -> None:
    for one, names in zip(entries, (("Ada", "Ben", "Cleo"), ("Dora", "Emil", "Finn")), strict=True):
        one["constraints"] = [f"{who} is heard." for who in names]


def two_become_one(entries: Entries) -> None:
    for one, who in zip(entries, ("Greta", "Greta"), strict=True):
        one["constraints"] = [f"{who} is asked as well."]


def without_approach(entries: Entries) -> None:
    del entries[0]["options"][0]["approach"]


def other_approach(entries: Entries) -> None:
    entries[1]["options"][0]["approach"] = "burn"


@pytest.mark.parametrize(
    ("base", "spoil", "said"),
    [
        (pair, change(1, "pair", "grain"), "frontier/2: form: pair: This field"),
        (pair, change(1, "key", "frontier/1"), "frontier/1: key: The key is used twice"),
        (pair, change(1, "key", "Frontier 2"), "Frontier 2: key:"),
        (pair, change(1, "theme", "court"), "frontier/2: theme: The theme is not the file's"),
        (pair, change(1, "theme", "personal"), "frontier.json: frontier/2: form: theme"),
        (pair, change(1, "category", "war"), "frontier/2: form: category"),
        (pair, change(1, "title", ""), "frontier.json: frontier/2: text_missing: The title"),
        (pair, change(0, "stimuli", {}), "frontier/2: pair_size"),
        (pair, another(pair="grain"), "frontier/1: pair_size"),
        (pair, change(1, "category", "team-dynamics"), "frontier/1: pair_place"),
        (pair, change(1, "title", "Greta and grain"), "frontier/1: pair_differs"),
        (pair, other_number, "frontier/1: pair_differs"),
        (pair, third_name, "frontier/1: pair_differs"),
        (pair, two_become_one, "frontier/1: pair_differs"),
        (lambda: pair("Abena", "Abena"), lambda _: None, "frontier/1: pair_differs"),
        (lambda: pair("He", "She"), lambda _: None, "frontier/1: pair_differs"),
        (lambda: pair("he", "she"), lambda _: None, "frontier/1: pair_differs"),
        (story, change(0, "key", "frontier/9"), "frontier/2: sequel_of"),
        (story, change(0, "stimuli", {}), "frontier/2: sequel_of"),
        (story, change(1, "stimuli", {}), "frontier/1: outcome_unseen"),
        (story, another(sequel_of="frontier/1"), "frontier/3: sequel_twice"),
        (story, without_approach, "frontier/2: sequel_approach"),
        (story, other_approach, "frontier/2: sequel_approach"),
    ],
)
def test_a_spoilt_library_is_refused_and_says_where(
    tmp_path: Path, base: Callable[[], Entries], spoil: Callable[[Entries], None], said: str
) -> None:
    entries = base()
    spoil(entries)
    assert said in refusal(tmp_path, entries)


def test_every_fault_is_told_at_once(tmp_path: Path) -> None:
    entries = [*pair(), entry("frontier/3")]
    entries[0]["title"] = ""
    entries[2]["constraints"] = []
    told = refusal(tmp_path, [*entries, {}])
    assert "frontier/1: text_missing" in told
    assert "frontier/3: constraint_count" in told
    assert "entry 4: form: title" in told


@pytest.mark.parametrize("text", ["", "{", "{}", "7", '[{"key": 1, "key": 2}]', "[" * 100_000])
def test_a_file_that_is_no_list_of_entries_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "court.json").write_text(text)
    with pytest.raises(LibraryError, match=r"court\.json: form"):
        read_library(tmp_path)


def test_a_sequel_in_another_theme_would_not_be_met(tmp_path: Path) -> None:
    first, second = story()
    folder(tmp_path, [{**second, "theme": "court"}], "court.json")
    assert "frontier/2: sequel_theme" in refusal(tmp_path, [first])


def test_what_is_packaged_is_good_and_is_read_back_as_it_was_stored() -> None:
    library = read_library()
    assert library
    for scenario in library:
        row = {**scenario_columns(scenario), "library_key": scenario.key, "archived": False}
        assert scenario_from_row(row) == scenario, scenario.key

"""The library as it is written: how much of it there is, and that nothing in it gives itself away.

That each entry keeps the rules for every scenario is the reader's work; here is what is promised of
the library as a whole (docs/scenarios.md).
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from judgment.contract.profile import CATEGORIES
from judgment.contract.rounds import CANONICAL_THEMES
from judgment.profile.drivers import SCENARIO_DRIVERS
from judgment.scenarios.guardrails import GUARDS
from judgment.scenarios.library.reading import read_library
from tests.architecture.source import ROOT

Entry = dict[str, Any]
FOLDER = ROOT / "shared/judgment/scenarios/library"
KINDS = ("premise", "majority_option_id", "counter_arguments", "outcomes", "sequel_of", "pair")
GENDERED = re.compile(r"\b(?:he|she|him|his|her|hers|himself|herself|mr|mrs|ms)\b", re.IGNORECASE)
AMERICAN = re.compile(
    r"\b\w*(?:color|neighbor|harbor|honor|favor|labor|center|gray|program|traveler"
    r"|counselor|percent|(?:real|organ|equal|apolog|recogn|standard)iz\w+)\b"
)


def written(path: Path = FOLDER) -> list[Entry]:
    """Every entry, as it stands in the files."""
    files = sorted(path.glob("*.json"))
    return [entry for file in files for entry in json.loads(file.read_text(encoding="utf-8"))]


ENTRIES = written()
BY_KEY: dict[str, Entry] = {entry["key"]: entry for entry in ENTRIES}
ORIGINALS = [entry for entry in ENTRIES if not entry["key"].endswith("/twin")]
EACH = [pytest.param(entry, id=entry["key"]) for entry in ENTRIES]


def real(entry: Entry) -> list[Entry]:
    """The options but for none of the above."""
    return [option for option in entry["options"] if option["id"] != "none"]


def having(kind: str) -> list[Entry]:
    """The entries with that stimulus, twins left out."""
    return [entry for entry in ORIGINALS if kind in entry["stimuli"]]


def texts(value: object) -> Iterator[str]:
    """Every text that a reader may see, one by one."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        hidden = ("id", "key", "theme", "category", "approach", "pair", "sequel_of", "drivers")
        for name, part in value.items():
            if name not in hidden and name != "majority_option_id":
                yield from texts(part)
    elif isinstance(value, list):
        for part in value:
            yield from texts(part)


def words(text: str) -> int:
    return len(text.split())


def places(ids: Sequence[str]) -> dict[str, float]:
    """The share of each place."""
    return {place: times / len(ids) for place, times in Counter(ids).items()}


def extreme(entry: Entry, name: str, *, most: bool) -> str:
    """The id of the option with most, or least, of a driver or of risk."""
    found = max if most else min
    return found(real(entry), key=lambda o: o[name] if name == "risk" else o["drivers"][name])["id"]


def test_there_are_two_of_every_theme_and_category_and_eight_twins() -> None:
    cells = Counter((entry["theme"], entry["category"]) for entry in ORIGINALS)
    assert cells == {(theme, category): 2 for theme in CANONICAL_THEMES for category in CATEGORIES}
    assert len(BY_KEY) == len(ENTRIES) == 56
    assert len({entry["title"] for entry in ORIGINALS}) == 48


@pytest.mark.promise("000-14-content")
def test_every_entry_keeps_the_rules_that_a_generated_scenario_keeps() -> None:
    assert {scenario.key for scenario in read_library()} == BY_KEY.keys()


@pytest.mark.parametrize("entry", EACH)
def test_an_entry_is_as_long_as_a_minute_and_says_what_binds(entry: Entry) -> None:
    assert 70 <= words(entry["description"]) <= 140
    assert 2 <= len(entry["constraints"]) <= 4
    assert 3 <= len(real(entry)) <= 4
    assert all(8 <= words(option["description"]) <= 45 for option in real(entry))
    assert len(entry["title"]) <= 60
    assert re.search(r"\d", json.dumps([entry["description"], entry["constraints"]])) or re.search(
        r"\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b", entry["description"]
    )


@pytest.mark.parametrize("entry", EACH)
def test_an_option_offers_what_no_other_does_and_all_speak_of_the_same(entry: Entry) -> None:
    named = {tuple(option["drivers"]) for option in real(entry)}
    assert len(named) == 1
    drivers = named.pop()
    assert 3 <= len(drivers) <= 5
    for one, other in permutations(real(entry), 2):
        assert any(one["drivers"][d] > other["drivers"][d] for d in drivers)
    for driver in drivers:
        amounts = [option["drivers"][driver] for option in real(entry)]
        assert max(amounts) - min(amounts) >= 0.3
    for name in ("risk", "approach", "label"):
        assert len({option[name] for option in real(entry)}) == len(real(entry))


def test_none_of_the_above_comes_last_in_the_same_words_everywhere() -> None:
    said = {json.dumps(entry["options"][-1], sort_keys=True) for entry in ENTRIES}
    assert len(said) == 1
    assert json.loads(said.pop()).keys() == {"id", "label", "description"}
    assert all(entry["options"][-1]["id"] == "none" for entry in ENTRIES)


@pytest.mark.parametrize("driver", SCENARIO_DRIVERS)
def test_a_driver_is_offered_often_enough_to_be_weighed(driver: str) -> None:
    offered = Counter(e["category"] for e in ORIGINALS if driver in real(e)[0]["drivers"])
    assert offered.total() >= 8
    assert max(offered.values()) >= 5, "in some category, so that a pull can be told from chance"


def test_no_place_on_the_list_gives_an_option_away() -> None:
    for most in (True, False):
        risks = places([extreme(entry, "risk", most=most) for entry in ORIGINALS])
        assert max(risks.values()) <= 0.35
        for driver in SCENARIO_DRIVERS:
            offering = [e for e in ORIGINALS if driver in real(e)[0]["drivers"]]
            found = places([extreme(e, driver, most=most) for e in offering])
            assert max(found.values()) <= 0.5, driver
            assert len(found) >= 3, driver


def test_the_majority_stands_in_every_place_and_is_not_simply_the_safe_one() -> None:
    stated = having("majority_option_id")
    assert len(places([e["stimuli"]["majority_option_id"] for e in stated])) == 4
    safe = [
        e for e in stated if e["stimuli"]["majority_option_id"] == extreme(e, "risk", most=False)
    ]
    assert len(safe) <= len(stated) / 2


def test_every_stimulus_is_there_often_enough_for_its_signal() -> None:
    least = {"premise": 12, "majority_option_id": 12, "counter_arguments": 12}
    assert all(len(having(kind)) >= times for kind, times in least.items())
    assert [len(having(kind)) for kind in ("pair", "outcomes", "sequel_of")] == [8, 8, 8]
    assert all(sum(kind in e["stimuli"] for kind in KINDS) <= 2 for e in ENTRIES)


@pytest.mark.parametrize("entry", EACH)
def test_what_a_round_shows_besides_is_complete_and_short(entry: Entry) -> None:
    stimuli = entry["stimuli"]
    offered = {option["id"] for option in entry["options"]}
    against = stimuli.get("counter_arguments", {})
    assert not against or against.keys() == offered
    assert all(10 <= words(text) <= 60 for text in against.values())
    assert 1 <= len(re.findall(r"[.?!](?:\s|$)", stimuli.get("premise", "."))) <= 3
    told = stimuli.get("outcomes", {})
    assert not told or told.keys() == offered
    assert ("majority_text" in stimuli) == (stimuli.get("majority_option_id") in offered - {"none"})


@pytest.mark.promise("000-14-content")
@pytest.mark.parametrize("twin", [p for p in EACH if str(p.id).endswith("/twin")])
def test_twins_are_the_same_to_the_letter_but_for_one_name(twin: Entry) -> None:
    original = BY_KEY[twin["key"].removesuffix("/twin")]
    assert original["stimuli"]["pair"] == twin["stimuli"]["pair"]
    mine, theirs = original["description"].split(), twin["description"].split()
    at = next(i for i, (a, b) in enumerate(zip(mine, theirs, strict=True)) if a != b)
    name = " ".join(mine[at : at + 2]).rstrip(",.'")
    other = " ".join(theirs[at : at + 2]).rstrip(",.'")
    assert all(re.fullmatch(r"[A-Z][a-z]+ [A-Z][a-z]+", n) for n in (name, other))
    renamed = json.loads(json.dumps(original).replace(name, other))
    assert {**renamed, "key": twin["key"]} == twin
    assert not any(GENDERED.search(text) for text in texts(twin))


def test_bad_outcomes_come_whatever_was_chosen_and_a_few_stories_end_either_way() -> None:
    endings = [
        {told["good"] for told in e["stimuli"]["outcomes"].values()} for e in having("outcomes")
    ]
    assert sum(ending == {False} for ending in endings) >= 6
    assert sum(ending == {True, False} for ending in endings) == 2


@pytest.mark.parametrize("sequel", [p for p in EACH if "sequel_of" in p.values[0]["stimuli"]])
def test_a_sequel_offers_the_same_approaches_elsewhere_on_the_list(sequel: Entry) -> None:
    first = BY_KEY[sequel["stimuli"]["sequel_of"]]
    assert (first["theme"], first["category"]) == (sequel["theme"], sequel["category"])
    before, after = ([o["approach"] for o in real(e)] for e in (first, sequel))
    assert set(before) == set(after)
    assert sum(a == b for a, b in zip(before, after, strict=True)) <= 1


@pytest.mark.parametrize("entry", EACH)
def test_the_text_is_plain_and_easy_to_read(entry: Entry) -> None:
    for text in texts({k: v for k, v in entry.items() if k != "stimuli"} | entry["stimuli"]):
        assert text.isascii()
        assert not re.search(r'["<>{}\[\]`*#_/\\@]', text)
        assert not AMERICAN.search(text.lower())
        assert text == " ".join(text.split())
    sentences = re.split(r"(?<=[.?!])\s", entry["description"])
    assert words(entry["description"]) / len(sentences) <= 18
    assert max(map(words, sentences)) <= 35


def test_nobody_is_called_the_same_in_two_stories_of_a_theme() -> None:
    met: dict[tuple[str, str], set[str]] = defaultdict(set)
    for entry in ORIGINALS:
        for name in re.findall(r"(?<=[a-z,] )[A-Z][a-z]{2,}", entry["description"]):
            met[entry["theme"], name].add(entry["key"])
    days = {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}
    assert {name for (_, name), keys in met.items() if len(keys) > 1} <= {*days, "March"}


@pytest.mark.promise("R-34-content")
def test_our_own_texts_say_what_is_refused_and_name_every_guard() -> None:
    page = (ROOT / "docs/scenarios.md").read_text(encoding="utf-8")
    listed = re.findall(r"^\| `(\w+)` \| [A-Z]", page, re.MULTILINE)
    assert {guard.code for guard in GUARDS} <= set(listed)
    for record in ("072-content-guardrails", "073-constraint-discipline", "074-none-of-the-above"):
        assert f"(decisions/{record}.md)" in page

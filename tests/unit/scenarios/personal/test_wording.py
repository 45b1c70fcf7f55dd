"""What a made round may not say, though it breaks no rule of the library."""

from __future__ import annotations

import json
import uuid
from typing import Any

import pytest

from judgment.scenarios.library.reading import read_library
from judgment.scenarios.personal.domain import Target
from judgment.scenarios.personal.prompt import instructions
from judgment.scenarios.personal.scaffold import Draft, assembled
from judgment.scenarios.personal.wording import RUN, complaints
from tests.fakes.drafts import good, with_option

pytestmark = pytest.mark.promise("000-8.6", "P2-7")

TARGET = Target("governance", "timing_signature", None)
TOLD = instructions(TARGET)
NOTES = (
    "My name is Ruth. Since my father died I have run his bakery in Elm Street with nine people,"
    " and I still owe the bank more than the house is worth. 我在北京经营一家小面包店已经十年了。"
)


def codes(document: dict[str, Any], notes: str = NOTES) -> list[str]:
    draft = Draft.model_validate_json(json.dumps(document))
    scenario = assembled(draft, TARGET, uuid.UUID(int=1), uuid.UUID(int=2))
    return [complaint.code for complaint in complaints(scenario, notes, TOLD)]


def test_a_good_round_is_not_complained_of():
    assert codes(good()) == []


@pytest.mark.parametrize("place", ["title", "description", "constraints", "options"])
def test_a_sentence_of_the_notes_is_a_copy_wherever_it_stands(place: str):
    copied = "since my FATHER died, I have run his bakery in elm street"
    assert len(copied.split()) == RUN
    documents = {
        "title": good(title=copied),
        "description": good(description=f"{good()['description']} {copied}"),
        "constraints": good(constraints=["Short.", copied]),
        "options": with_option(2, description=copied),
    }
    assert "copied_notes" in codes(documents[place])


def test_a_word_less_than_a_run_is_not_a_copy():
    shorter = "since my father died, I have run his bakery in elm"
    assert "copied_notes" not in codes(good(title=shorter))


def test_a_copy_in_a_script_without_spaces_is_noticed():
    assert "copied_notes" in codes(good(constraints=["我在北京经营一家小面包店已经十年了"]))


def test_reciting_the_instructions_is_noticed():
    recited = "You write one short decision scenario: a situation with a real trade-off."
    assert "copied_task" in codes(good(constraints=[recited]))


@pytest.mark.parametrize("text", ["Answer in JSON.", "As your personal context says."])
def test_speaking_of_its_own_making_is_noticed(text: str):
    assert "speaks_of_task" in codes(good(constraints=[text]))


GERMAN = {
    "title": "Der Ofen und der Lehrling",
    "description": "Der alte Ofen hält den Winter nicht mehr aus, und du hast einem Lehrling"
    " versprochen, ihn auszubilden. Das Geld reicht nur für eines von beiden.",
    "constraints": ["Das Geld reicht nur für eines."],
    "options": [
        {**option, "label": label, "description": label}
        for option, label in zip(
            good()["options"],
            ["Den Ofen kaufen", "Den Lehrling nehmen", "Alle abstimmen lassen"],
            strict=True,
        )
    ],
}


@pytest.mark.parametrize("notes", [NOTES, "", " "])
def test_other_languages_are_asked_for_english(notes: str):
    assert "language" in codes(good(**GERMAN), notes)


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "烤箱与学徒"},
        {"description": GERMAN["description"]},
        {"constraints": ["Деньги есть только на одно."]},
    ],
)
def test_one_text_in_another_language_is_enough(changes: dict[str, Any]):
    assert "language" in codes(good(**changes))


def test_a_word_from_elsewhere_is_not():
    assert codes(good(title="The café and the Bäckerei")) == []


def test_the_library_itself_passes():
    for scenario in read_library():
        assert complaints(scenario, NOTES, TOLD) == (), scenario.title

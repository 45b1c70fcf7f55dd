"""The fake of the port `Models`: the port's promises, and its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from judgment.db.connection import Database
from judgment.kit.deadline import Deadline
from tests.fakes.models import CHOICE, ScriptedModels, in_turn
from tests.unit.llm.port import GOOD, PROMPT, Counted, ModelsPort

if TYPE_CHECKING:
    from judgment.llm.model import ModelChoice, Models
    from tests.databases import TestDatabase


class Scripted:
    """The fake as a subject of the port's tests."""

    choice: ModelChoice = CHOICE

    def __init__(self) -> None:
        self.fake = ScriptedModels(in_turn(GOOD))
        self.models: Models = self.fake

    def script(self, *replies: str) -> None:
        self.fake.script = in_turn(*replies)

    def prompts(self) -> list[str]:
        return [asked.told for asked in self.fake.asked]


class TestScriptedModels(ModelsPort):
    """The fake keeps what the port promises."""

    @pytest.fixture
    def subject(self) -> Scripted:
        return Scripted()


def test_asking_inside_a_transaction_fails_the_test(module_database: TestDatabase):
    database = Database(module_database.url("judgment_owner"))
    models = ScriptedModels(in_turn(GOOD), transaction_open=lambda: database.in_transaction)

    def ask() -> int:
        deadline = Deadline.after(5)
        return models.ask(CHOICE, "scenario", PROMPT, Counted, deadline=deadline).value.number

    with database.transaction(), pytest.raises(AssertionError, match="transaction"):
        ask()
    assert ask() == 3
    database.close()


def test_a_script_may_answer_with_a_value():
    models = ScriptedModels(lambda role, prompt, shape: Counted(number=len(prompt)))
    deadline = Deadline.after(5)
    assert models.ask(CHOICE, "scenario", PROMPT, Counted, deadline=deadline).value.number == 2
    assert models.asked[0].prompt == PROMPT
    assert "How many?" in models.told

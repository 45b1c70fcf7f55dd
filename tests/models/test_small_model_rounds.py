"""A real model is asked for a personal round: it keeps the rules, or the owner gets another one."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, get_args

import pytest

from judgment.llm.client import ModelClient
from judgment.llm.keys import StoredKeys
from judgment.llm.model import FailureCode
from judgment.llm.settings import ModelSettings, configured
from judgment.scenarios.model import scenario_from_row
from judgment.scenarios.rules import complaints
from tests.fakes.workshop import Workshop
from tests.models.small_model import CHOICE

if TYPE_CHECKING:
    from tests.databases import TestDatabase
    from tests.models.small_model import SmallModel


class Patient:
    """Lambda's context with more time than Lambda gives: the model has one slow thread."""

    def get_remaining_time_in_millis(self) -> int:
        return 60_000


@pytest.mark.promise("P2-accept-4", "P2-7")
def test_a_personal_round_of_a_real_model_keeps_the_rules_or_falls_back_and_says_why(
    small_model: SmallModel,
    module_database: TestDatabase,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
):
    config = configured(ModelSettings(model_scenario=CHOICE.label, ollama_base_url=small_model.url))
    client = ModelClient(config, StoredKeys(config, lambda name: name.encode))
    workshop = Workshop(module_database, client)
    request.addfinalizer(workshop.close)
    workshop.shelf()
    workshop.lambda_ = Patient()
    who = workshop.person()
    status, body = workshop.make(who)
    assert status == 201
    assert workshop.calls(who)
    if body["personalized"]:
        (row,) = workshop.stored(who)
        scenario = scenario_from_row({**row, "scenario_id": uuid.UUID(row["scenario_id"])})
        assert scenario is not None
        assert complaints(scenario) == ()
        with capsys.disabled():
            print(f"\nthe small model's round: {scenario.title}")
        return
    assert workshop.stored(who) == []
    (line,) = [x for x in capsys.readouterr().out.splitlines() if "scenario.fell_back" in x]
    code = json.loads(line)["code"]
    assert code in get_args(FailureCode)
    with capsys.disabled():
        print(f"\nthe small model's round: {code}")

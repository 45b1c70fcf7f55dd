"""What every adapter of the port `Models` does, whatever speaks: the fake is held to it too.

Not collected by itself; `test_models.py` runs it over both.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Protocol

import pytest
from pydantic import BaseModel, Field

from judgment.kit.deadline import Deadline
from judgment.llm.model import FailureCode, ModelChoice, ModelFailure, Models, Said

PROMPT = (Said("system", "You count."), Said("user", "How many?"))
SECRET = "the-owner-said-so"


class Inner(BaseModel):
    label: str = Field(max_length=8)


class Counted(BaseModel):
    number: int = Field(ge=0)
    inner: Inner | None = None


GOOD = '{"number": 3, "inner": null}'


class Subject(Protocol):
    """An adapter with scripted answers: texts, or codes of failures."""

    models: Models
    choice: ModelChoice

    def script(self, *replies: str) -> None:
        """One reply after the other."""
        ...

    def prompts(self) -> list[str]:
        """All text of each call's prompt."""
        ...


def ask(subject: Subject, check: Callable[[Counted], list[str]] | None = None, left: float = 30.0):
    return subject.models.ask(
        subject.choice, "summary", PROMPT, Counted, deadline=Deadline.after(left), check=check
    )


def failure(subject: Subject, **more: object) -> ModelFailure:
    with pytest.raises(ModelFailure) as caught:
        ask(subject, **more)  # type: ignore[arg-type]
    return caught.value


class ModelsPort:
    """The port's promises; a subclass has a fixture `subject`."""

    def test_a_good_answer_comes_back_as_its_shape_with_its_price(self, subject: Subject):
        subject.script(GOOD)
        answer = ask(subject)
        assert answer.value == Counted(number=3)
        assert answer.model_version.startswith(subject.choice.provider + ":")
        [call] = answer.calls
        assert (call.prompt_tokens, call.completion_tokens, call.outcome) == (10, 5, "ok")
        assert (call.role, call.provider) == ("summary", subject.choice.provider)
        assert call.cost_usd == pytest.approx(0.001)
        assert call.milliseconds >= 0

    @pytest.mark.parametrize(
        "wrong",
        [
            "three",
            "{",
            '{"number": -1}',
            '{"number": NaN}',
            '{"number": 1e999}',
            "[" * 100_000,
            '{"number": 1, "inner": {"label": "much too long"}}',
            '{"number": 1, "inner": {"label": "\\u0000"}}',
            '{"number": 1, "inner": {"label": "\\ud800"}}',
            '{"' + SECRET + '": 1}',
        ],
    )
    def test_a_wrong_answer_is_repaired_once(self, subject: Subject, wrong: str):
        subject.script(wrong, GOOD)
        answer = ask(subject)
        assert answer.value.number == 3
        assert [call.outcome for call in answer.calls] == ["invalid_output", "ok"]
        first, second = subject.prompts()
        assert "How many?" in first
        assert wrong in second
        assert "cannot be used" in second

    def test_a_second_wrong_answer_is_the_end(self, subject: Subject):
        subject.script('{"number": -1}', '{"' + SECRET + '": "' + SECRET + '"}', GOOD)
        failed = failure(subject)
        assert failed.code == "invalid_output"
        assert [call.outcome for call in failed.calls] == ["invalid_output"] * 2
        assert failed.complaints
        assert SECRET not in repr(failed.complaints) + repr(failed) + str(failed)

    def test_what_the_caller_complains_of_is_told_to_the_model(self, subject: Subject):
        subject.script('{"number": 4}', GOOD)
        answer = ask(subject, lambda it: ["four is not three"] if it.number == 4 else [])
        assert answer.value.number == 3
        assert "four is not three" in subject.prompts()[1]

    def test_a_caller_who_is_never_content_gets_his_complaints_back(self, subject: Subject):
        subject.script(GOOD)
        failed = failure(subject, check=lambda _: ["never-good"])
        assert (failed.code, failed.complaints) == ("invalid_output", ("never-good",))

    @pytest.mark.parametrize("code", ["unreachable", "rate_limited", "provider_error"])
    def test_a_passing_trouble_is_tried_once_more(self, subject: Subject, code: FailureCode):
        subject.script(code, GOOD)
        answer = ask(subject)
        assert [call.outcome for call in answer.calls] == [code, "ok"]

    @pytest.mark.parametrize("code", ["unreachable", "rate_limited", "provider_error"])
    def test_a_lasting_trouble_is_given_up_after_two_calls(
        self, subject: Subject, code: FailureCode
    ):
        subject.script(code)
        failed = failure(subject)
        assert failed.code == code
        assert [call.outcome for call in failed.calls] == [code, code]

    @pytest.mark.parametrize("code", ["unauthorized", "refused", "empty", "truncated", "too_large"])
    def test_what_will_not_change_is_not_asked_again(self, subject: Subject, code: FailureCode):
        subject.script(code, GOOD)
        failed = failure(subject)
        assert failed.code == code
        assert [call.outcome for call in failed.calls] == [code]

    def test_there_is_one_more_attempt_in_all_not_one_for_each_question(self, subject: Subject):
        subject.script("provider_error", '{"number": -1}', "provider_error", GOOD)
        failed = failure(subject)
        outcomes = [call.outcome for call in failed.calls]
        assert outcomes == ["provider_error", "invalid_output", "provider_error"]

    def test_a_fence_around_the_answer_does_no_harm(self, subject: Subject):
        subject.script(f"```json\n{GOOD}\n```")
        assert ask(subject).value.number == 3

    def test_without_time_nothing_is_asked(self, subject: Subject):
        subject.script(GOOD)
        failed = failure(subject, left=-1.0)
        assert (failed.code, failed.calls, subject.prompts()) == ("timeout", (), [])

    def test_the_repair_of_a_long_list_of_complaints_stays_short(self, subject: Subject):
        subject.script(GOOD)
        failure(subject, check=lambda _: ["x" * 10_000] * 1_000)
        assert len(subject.prompts()[1]) < 20_000

    def test_an_owners_choice_goes_before_the_operators(self, subject: Subject):
        own = ModelChoice("openrouter", "own")
        assert subject.models.choice("summary", own) is own
        assert subject.models.choice("summary") == subject.choice

    def test_the_schema_of_a_repair_is_the_shapes(self, subject: Subject):
        subject.script("no", GOOD)
        ask(subject)
        text = subject.prompts()[1]
        schema = json.loads(text[text.rindex("\n") :])
        assert schema["required"] == ["number", "inner"]
        assert schema["additionalProperties"] is False

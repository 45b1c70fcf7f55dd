"""A real model on the wire: tokens, streams, schemas and time; never whether it is right."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Literal, get_args

import openai
import pytest
from pydantic import BaseModel, Field

from judgment.kit.deadline import Deadline
from judgment.llm.client import ModelClient
from judgment.llm.keys import StoredKeys
from judgment.llm.model import Answer, FailureCode, ModelFailure, Said, Shape
from judgment.llm.settings import ModelSettings, configured
from tests.models.small_model import CHOICE

if TYPE_CHECKING:
    from tests.models.small_model import SmallModel

PROMPT = [
    Said("system", "You judge one decision. Answer in JSON."),
    Said("user", "An owner waited for a cheaper flight and it sold out. Was waiting risky?"),
]


class Judged(BaseModel):
    """No free text: whatever the weights say, the grammar leads to an end."""

    risk: Literal["low", "medium", "high"]
    again: bool
    factors: list[Literal["price", "time", "comfort"]] = Field(max_length=3)


class Told(BaseModel):
    reason: str = Field(max_length=120)


def client(small_model: SmallModel, **settings: object) -> ModelClient:
    config = configured(
        ModelSettings(model_summary=CHOICE.label, ollama_base_url=small_model.url, **settings)  # type: ignore[arg-type]
    )
    return ModelClient(config, StoredKeys(config, lambda name: name.encode))


def ask(models: ModelClient, shape: type[Shape], seconds: float = 60.0) -> Answer[Shape]:
    choice = models.choice("summary")
    assert choice == CHOICE
    return models.ask(choice, "summary", PROMPT, shape, deadline=Deadline.after(seconds))


@pytest.fixture
def sdk(small_model: SmallModel) -> openai.OpenAI:
    return openai.OpenAI(base_url=small_model.url, api_key="none", max_retries=0)


@pytest.mark.promise("P2-1-real")
def test_an_answer_over_the_wire_fits_its_schema_and_is_accounted_for(small_model: SmallModel):
    models = client(small_model, model_prices='{"ollama:smollm2": [1, 2]}')
    answer = ask(models, Judged)
    assert isinstance(answer.value, Judged)
    assert answer.model_version == "ollama:smollm2"
    [call] = answer.calls
    assert call.outcome == "ok"
    assert call.prompt_tokens > 20
    assert 5 < call.completion_tokens < 100
    assert call.cost_usd == pytest.approx(
        (call.prompt_tokens + 2 * call.completion_tokens) / 1_000_000
    )
    assert call.milliseconds > 0


@pytest.mark.promise("P2-1-real", "P2-1-accounts")
def test_free_text_ends_in_an_answer_or_a_typed_failure_with_every_call(small_model: SmallModel):
    came: Answer[Told] | ModelFailure
    try:
        came = ask(client(small_model), Told, seconds=25.0)
    except ModelFailure as failed:
        came = failed
    assert isinstance(came, Answer) or came.code in get_args(FailureCode)
    assert 1 <= len(came.calls) <= 3


@pytest.mark.promise("P2-1-real")
def test_a_checker_who_is_never_content_has_it_asked_twice(small_model: SmallModel):
    models = client(small_model)
    with pytest.raises(ModelFailure) as caught:
        models.ask(
            CHOICE,
            "summary",
            PROMPT,
            Judged,
            deadline=Deadline.after(60),
            check=lambda _: ["Say it otherwise."],
        )
    first, repair = caught.value.calls
    assert {first.outcome, repair.outcome} == {"invalid_output"}
    assert repair.prompt_tokens > first.prompt_tokens


@pytest.mark.promise("P2-1-real")
def test_a_stream_is_many_pieces_and_ends_with_its_usage(sdk: openai.OpenAI):
    stream = sdk.chat.completions.create(
        model="smollm2",
        messages=[{"role": "user", "content": "Count to five."}],
        max_tokens=40,
        stream=True,
        stream_options={"include_usage": True},
    )
    chunks = list(stream)
    pieces = [c.choices[0].delta.content for c in chunks if c.choices]
    assert len([piece for piece in pieces if piece]) > 1
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] in ("stop", "length")
    usage = chunks[-1].usage
    assert usage is not None
    assert 0 < usage.completion_tokens <= 40


@pytest.mark.promise("P2-1-real")
def test_a_stream_of_a_schema_is_json_at_its_end(sdk: openai.OpenAI):
    schema = Judged.model_json_schema()
    stream = sdk.chat.completions.create(
        model="smollm2",
        messages=[{"role": "user", "content": "Judge in JSON."}],
        response_format={
            "type": "json_schema",
            "json_schema": {"name": "Judged", "schema": schema, "strict": True},
        },
        stream=True,
    )
    text = "".join(c.choices[0].delta.content or "" for c in stream if c.choices)
    assert Judged.model_validate_json(text)


@pytest.mark.promise("P2-1-real")
def test_what_is_cut_at_its_length_says_so(sdk: openai.OpenAI):
    whole = sdk.chat.completions.create(
        model="smollm2",
        messages=[{"role": "user", "content": "Tell a long story."}],
        max_tokens=5,
    )
    assert whole.choices[0].finish_reason == "length"
    assert whole.usage is not None
    assert whole.usage.completion_tokens == 5


@pytest.mark.promise("P2-1-real")
def test_a_model_that_is_too_slow_is_left_and_answers_the_next(small_model: SmallModel):
    class Essay(BaseModel):
        sentences: list[str] = Field(min_length=200)

    begun = time.monotonic()
    with pytest.raises(ModelFailure) as caught:
        ask(client(small_model, model_timeout_seconds=0.5), Essay, seconds=10.0)
    assert time.monotonic() - begun < 8
    assert caught.value.code == "timeout"
    assert ask(client(small_model), Judged).value

"""Embeddings of an endpoint: unit vectors or a typed failure, and every call on the record."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from judgment.kit.deadline import Deadline
from judgment.llm.calling import Patience
from judgment.llm.embeddings import Embedded, EndpointEmbedder, cosine, embedder
from judgment.llm.model import FailureCode, ModelChoice, ModelFailure
from judgment.llm.settings import ModelSettings, configured
from tests.fakes.model_trouble import Flood, HangUp, Late, Raw, Trouble
from tests.fakes.model_wire import Embed, Fail, Reply, Turn
from tests.unit.llm.wired import FixedKey, Wired, wired


@pytest.fixture
def subject() -> Iterator[Wired]:
    with wired() as client:
        yield client


def endpoint(subject: Wired, timeout_seconds: float = 20.0) -> EndpointEmbedder:
    config = configured(replace(subject.settings, model_timeout_seconds=timeout_seconds))
    patience = Patience(timeout_seconds, sleep=subject.slept)
    return EndpointEmbedder(config, FixedKey(), subject.choice, patience)


def embed(subject: Wired, *texts: str, left: float = 20.0) -> Embedded:
    return endpoint(subject).embed(texts, deadline=Deadline.after(left))


def by_length(turn: Turn) -> Embed:
    """A vector that tells its text's length."""
    return Embed(tuple((float(len(text)), 1.0) for text in turn.body["input"]))


@pytest.mark.promise("P2-1-embeddings")
def test_every_text_has_its_unit_vector_in_order_however_many_calls_it_takes(subject: Wired):
    subject.server.script = by_length
    texts = ["x" * n for n in range(1, 21)]
    came = embed(subject, *texts)
    assert [round(v[0] / v[1]) for v in came.vectors] == list(range(1, 21))
    assert all(math.hypot(*v) == pytest.approx(1) for v in came.vectors)
    assert [len(turn.body["input"]) for turn in subject.server.turns] == [8, 8, 4]
    assert [call.outcome for call in came.calls] == ["ok"] * 3
    assert {(c.role, c.prompt_tokens, c.completion_tokens) for c in came.calls} == {
        ("embedding", 10, 0)
    }
    assert came.model_version == "openai-compatible:fake-model"
    assert str(came.vectors[0][0]) not in repr(came)


def test_no_text_is_no_call(subject: Wired):
    assert embed(subject).vectors == ()
    assert subject.server.turns == []


def given(*items: Any) -> Raw:
    return Raw(json.dumps({"data": list(items)}).encode())


def item(vector: Any, index: Any = 0) -> dict[str, Any]:
    return {"index": index, "embedding": vector}


@pytest.mark.promise("P2-1-embeddings")
@pytest.mark.parametrize(
    ("reply", "code", "calls"),
    [
        (Raw(b"{}"), "invalid_output", 1),
        (given(), "invalid_output", 1),
        (given("x"), "invalid_output", 1),
        (given(item([1.0], 1)), "invalid_output", 1),
        (given(item([])), "invalid_output", 1),
        (given(item([0, 0])), "invalid_output", 1),
        (given(item(["1"])), "invalid_output", 1),
        (given(item([True])), "invalid_output", 1),
        (given(item([math.nan])), "invalid_output", 1),
        (given(item([math.inf])), "invalid_output", 1),
        (given(item([1e308] * 4)), "invalid_output", 1),
        (given(item([10**400])), "invalid_output", 1),
        (given(item([1.0] * 9_000)), "invalid_output", 1),
        (given(item([1.0]), item([1.0], 1)), "invalid_output", 1),
        (Raw(b"["), "provider_error", 1),
        (HangUp(), "unreachable", 2),
        (Flood(10_485_760), "too_large", 1),
        (Fail(401), "unauthorized", 1),
        (Fail(429), "rate_limited", 2),
        (Fail(500), "provider_error", 2),
    ],
)
def test_what_is_no_vector_is_a_typed_failure(
    subject: Wired, reply: Reply | Trouble, code: FailureCode, calls: int
):
    subject.script(reply)
    with pytest.raises(ModelFailure) as caught:
        embed(subject, "text")
    assert caught.value.code == code
    assert [call.outcome for call in caught.value.calls] == [code] * calls


def test_vectors_of_two_lengths_do_not_belong_together(subject: Wired):
    subject.script(Embed(((1.0,),) * 8), Embed(((1.0, 2.0),)))
    with pytest.raises(ModelFailure, match="invalid_output"):
        embed(subject, *["x"] * 9)


def test_a_slow_endpoint_is_left_in_time(subject: Wired):
    subject.script(Late(60))
    with pytest.raises(ModelFailure) as caught:
        endpoint(subject, 0.6).embed(["x"], deadline=Deadline.after(9))
    assert [call.outcome for call in caught.value.calls] == ["timeout"] * 2
    with pytest.raises(ModelFailure, match="timeout"):
        embed(subject, "x", left=0.9)


@pytest.mark.promise("P2-1-embeddings", "R-31")
def test_whoever_plays_the_role_embeds_and_else_the_offline_model(subject: Wired):
    class Offline:
        def embed(self, texts: Any, *, deadline: Deadline) -> Embedded:
            return Embedded((), "offline")

    offline = Offline()
    unset = configured(ModelSettings())
    assert embedder(unset, FixedKey(), lambda: offline) is offline
    own = ModelChoice("ollama", "nomic-embed-text")
    assert isinstance(embedder(unset, FixedKey(), lambda: offline, own), EndpointEmbedder)
    told = configured(replace(subject.settings, model_embedding="ollama:nomic-embed-text"))
    assert isinstance(embedder(told, FixedKey(), lambda: offline), EndpointEmbedder)


def test_alike_is_one_and_opposite_minus_one():
    assert cosine((0.6, 0.8), (0.6, 0.8)) == pytest.approx(1)
    assert cosine((0.6, 0.8), (-0.6, -0.8)) == pytest.approx(-1)

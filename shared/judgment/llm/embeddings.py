"""Texts as unit vectors: by the endpoint that plays the role, else by a small model offline."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

from judgment.llm.calling import Patience, Switchboard, sendable
from judgment.llm.completion import Usage, model_of, usage_of
from judgment.llm.model import ModelCall, ModelChoice, ModelFailure

if TYPE_CHECKING:
    from judgment.kit.deadline import Deadline
    from judgment.llm.calling import Caller
    from judgment.llm.keys import ModelKeys
    from judgment.llm.settings import ModelsConfigured

TEXTS_PER_CALL = 8
"""Eight vectors of 3,072 numbers are about half of the largest answer that is read."""
MOST_DIMENSIONS = 8_192

Vector = tuple[float, ...]


@dataclass(frozen=True)
class Embedded:
    """One vector of length 1 per text, in order. Vectors of different models do not compare."""

    vectors: tuple[Vector, ...] = field(repr=False)
    model_version: str
    calls: tuple[ModelCall, ...] = ()


class Embedder(Protocol):
    """What a use case needs of embeddings."""

    def embed(self, texts: Sequence[str], *, deadline: Deadline) -> Embedded:
        """The texts' vectors. Raises ModelFailure."""
        ...


def cosine(one: Vector, other: Vector) -> float:
    """How alike two unit vectors are, -1 to 1."""
    return sum(a * b for a, b in zip(one, other, strict=True))


def embedder(
    config: ModelsConfigured,
    keys: ModelKeys,
    offline: Callable[[], Embedder],
    own: ModelChoice | None = None,
) -> Embedder:
    """Whoever plays the role `embedding`: the owner's choice, the operator's, else `offline`."""
    choice = own or config.roles.get("embedding")
    return EndpointEmbedder(config, keys, choice) if choice else offline()


class EndpointEmbedder:
    """Embeddings of an OpenAI-compatible endpoint, a few texts to a call."""

    def __init__(
        self,
        config: ModelsConfigured,
        keys: ModelKeys,
        choice: ModelChoice,
        patience: Patience | None = None,
    ):
        self._patience = patience or Patience(config.timeout_seconds)
        self._switchboard = Switchboard(config, keys, self._patience)
        self._choice = choice

    def embed(self, texts: Sequence[str], *, deadline: Deadline) -> Embedded:
        """As the port; one more attempt in all after a transient failure."""
        with self._switchboard.connected("embedding", self._choice) as caller:
            work = _Work(caller, self._patience, deadline)
            for start in range(0, len(texts), TEXTS_PER_CALL):
                work.vectors += work.batch(texts[start : start + TEXTS_PER_CALL])
            if len({len(vector) for vector in work.vectors}) > 1:
                raise ModelFailure("invalid_output", work.calls)
        version = self._choice.version(work.model)
        return Embedded(tuple(work.vectors), version, tuple(work.calls))


@dataclass
class _Work:
    """One `embed` on its way."""

    caller: Caller
    patience: Patience
    deadline: Deadline
    attempts_left: int = 2
    model: str | None = None
    calls: list[ModelCall] = field(default_factory=list[ModelCall])
    vectors: list[Vector] = field(default_factory=list[Vector])

    def batch(self, texts: Sequence[str]) -> list[Vector]:
        """The vectors of one call's texts. Raises ModelFailure with all calls so far."""
        told = [sendable(text) for text in texts]
        body = self._body({"input": told, "encoding_format": "float"})
        self.model = model_of(body)
        counted = usage_of(body)
        usage = counted and Usage(counted.prompt_tokens)
        vectors = _vectors(body, len(texts))
        if vectors is None:
            self.calls.append(self.caller.call("invalid_output", usage))
            raise ModelFailure("invalid_output", self.calls)
        self.calls.append(self.caller.call("ok", usage))
        return vectors

    def _body(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        from judgment.llm.line import Received

        while True:
            seconds = self.patience.seconds(self.deadline)
            if seconds == 0:
                raise ModelFailure("timeout", self.calls)
            received = self.caller.post("embeddings", request, seconds)
            if isinstance(received, Received):
                return received.body
            self.calls.append(self.caller.call(received.code))
            self.attempts_left -= 1
            wait = received.retry_after_seconds
            again = received.again and self.attempts_left > 0
            if not (again and self.patience.pause(self.deadline, wait)):
                raise ModelFailure(received.code, self.calls, retry_after_seconds=wait)


def _vectors(body: Mapping[str, Any], wanted: int) -> list[Vector] | None:
    """The answer's vectors by index, of length 1; None unless there is a usable one per text."""
    found: dict[int, Vector] = {}
    data = body.get("data")
    for item in cast("list[Any]", data) if isinstance(data, list) else []:
        match item:
            case {"index": int(index), "embedding": [*numbers]}:
                if unit := unit_vector(numbers):
                    found[index] = unit
            case _:
                return None
    if found.keys() != set(range(wanted)):
        return None
    return [found[index] for index in range(wanted)]


def unit_vector(numbers: Sequence[Any]) -> Vector | None:
    """The numbers scaled to length 1; None for what has no direction or is no vector."""
    if len(numbers) > MOST_DIMENSIONS:
        return None
    if not all(isinstance(n, int | float) and not isinstance(n, bool) for n in numbers):
        return None
    try:
        length = math.hypot(*numbers)
    except OverflowError:
        return None
    if not math.isfinite(length) or length == 0:
        return None
    return tuple(n / length for n in numbers)

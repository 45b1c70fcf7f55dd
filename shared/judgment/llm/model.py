"""The port to language models and the plain values that cross it.

What a use case sees of a model: it asks in a role, for an answer of one shape, before a deadline,
and gets the answer or a `ModelFailure` that says what went wrong in one word. Each HTTP call that
was made, good or not, comes back as a `ModelCall`, so that tokens and money are accounted for by
whoever asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, Literal, Protocol, TypeVar

from pydantic import BaseModel

if TYPE_CHECKING:
    from judgment.contract.models import ModelRole, ProviderId
    from judgment.kit.deadline import Deadline

FailureCode = Literal[
    "not_configured",
    "unreachable",
    "timeout",
    "rate_limited",
    "provider_error",
    "unauthorized",
    "refused",
    "empty",
    "truncated",
    "too_large",
    "invalid_output",
]
TRANSIENT: frozenset[FailureCode] = frozenset(
    {"unreachable", "timeout", "rate_limited", "provider_error"}
)
"""Failures after which the same question may fare better later."""
Outcome = Literal["ok", "stopped"] | FailureCode
Speaker = Literal["system", "user", "assistant"]

Shape = TypeVar("Shape", bound=BaseModel)
Check = Callable[[Shape], Sequence[str]]


@dataclass(frozen=True)
class ModelChoice:
    """A model at a provider. `key_secret` names an owner's own key; None is the operator's."""

    provider: ProviderId
    model: str
    key_secret: str | None = field(default=None, repr=False)

    @property
    def label(self) -> str:
        """`provider:model`, as settings write it and `summary_model_version` shows it."""
        return f"{self.provider}:{self.model}"

    def version(self, named: str | None) -> str:
        """The same with the name that the provider gives the model, where it gives one."""
        return f"{self.provider}:{named or self.model}"


@dataclass(frozen=True)
class Said:
    """One message of a prompt."""

    speaker: Speaker
    text: str = field(repr=False)


@dataclass(frozen=True)
class ModelCall:
    """One HTTP call as it is accounted: tokens as the provider counted them, 0 where it did not.

    `cost_usd` is None where no price is known; that is not the same as free.
    """

    role: ModelRole
    provider: ProviderId
    model: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    milliseconds: int
    outcome: Outcome


@dataclass(frozen=True)
class Answer(Generic[Shape]):
    """A validated answer; `model_version` is `provider:model` as the provider names the model."""

    value: Shape = field(repr=False)
    model_version: str
    calls: tuple[ModelCall, ...]


class ModelFailure(Exception):
    """No usable answer. `code` says why, `calls` what it cost; neither holds prompt nor answer."""

    def __init__(
        self,
        code: FailureCode,
        calls: Sequence[ModelCall] = (),
        *,
        retry_after_seconds: float | None = None,
        complaints: Sequence[str] = (),
    ):
        self.code: FailureCode = code
        self.calls = tuple(calls)
        self.retry_after_seconds = retry_after_seconds
        self.complaints = tuple(complaints)
        super().__init__(code)


class Models(Protocol):
    """What a use case needs of `judgment.llm`."""

    def choice(self, role: ModelRole, own: ModelChoice | None = None) -> ModelChoice | None:
        """Which model plays the role: the owner's own choice, else the operator's, else None."""
        ...

    def ready(self, choice: ModelChoice) -> bool:
        """Whether it can be asked at all: its provider's address and a readable key are there.

        Costs no call of a model.
        """
        ...

    def ask(
        self,
        choice: ModelChoice,
        role: ModelRole,
        prompt: Sequence[Said],
        shape: type[Shape],
        *,
        deadline: Deadline,
        check: Check[Shape] | None = None,
    ) -> Answer[Shape]:
        """An answer that is valid JSON of `shape` and of which `check` has no complaint.

        A wrong answer is repaired once: the model is told the complaints and asked again. A
        transient failure is tried once more where time allows. Raises ModelFailure.
        """
        ...

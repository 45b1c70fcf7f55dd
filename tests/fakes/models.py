"""A model whose every answer a test writes, behind the port `judgment.llm.model.Models`.

It reads, checks, repairs and gives up by the same code as the client, remembers what it was asked,
and will not be asked while a transaction is open.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias, cast, get_args

from pydantic import BaseModel

from judgment.llm.answering import Asking, Heard, Unheard
from judgment.llm.model import (
    TRANSIENT,
    Answer,
    Check,
    FailureCode,
    ModelCall,
    ModelChoice,
    ModelFailure,
    Outcome,
    Said,
    Shape,
)

if TYPE_CHECKING:
    from judgment.contract.models import ModelRole
    from judgment.kit.deadline import Deadline

Reply: TypeAlias = "BaseModel | str"
Script: TypeAlias = "Callable[[ModelRole, Sequence[Said], type[BaseModel]], Reply]"

CHOICE = ModelChoice("openai-compatible", "scripted")
PROMPT_TOKENS, COMPLETION_TOKENS, COST_USD, MILLISECONDS = 10, 5, 0.001, 7


@dataclass(frozen=True)
class Asked:
    """One call: what was asked in which role, of which model, for which shape."""

    choice: ModelChoice
    role: ModelRole
    prompt: tuple[Said, ...]
    shape: type[BaseModel]

    @property
    def told(self) -> str:
        """All the model was told, system and repair included."""
        return "\n".join(said.text for said in self.prompt)


class ScriptedModels:
    """A script says per call: a value of the shape, the answer's text, or a failure's code.

    `operator` plays every role an owner has not chosen for; None: nothing is configured.
    `transaction_open` is `Database.in_transaction` as a function: asking inside one is an
    AssertionError. Each call costs 10 + 5 tokens, 0.001 dollars and 7 milliseconds.
    """

    def __init__(
        self,
        script: Script,
        *,
        operator: ModelChoice | None = CHOICE,
        transaction_open: Callable[[], bool] | None = None,
        is_ready: bool = True,
    ):
        self.script = script
        self.operator = operator
        self.transaction_open = transaction_open
        self.is_ready = is_ready
        self.asked: list[Asked] = []

    @property
    def told(self) -> str:
        """All text of all calls."""
        return "\n".join(asked.told for asked in self.asked)

    def choice(self, role: ModelRole, own: ModelChoice | None = None) -> ModelChoice | None:
        """The owner's own choice, else `operator`."""
        return own or self.operator

    def ready(self, choice: ModelChoice) -> bool:
        """Whether a test says so."""
        return self.is_ready

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
        """What the script makes of it. Raises ModelFailure, AssertionError."""
        if self.transaction_open is not None and self.transaction_open():
            raise AssertionError("a model was asked while a transaction was open")
        if deadline.remaining() <= 0:
            raise ModelFailure("timeout")

        def attempt(told: Sequence[Said]) -> Heard | Unheard:
            self.asked.append(Asked(choice, role, tuple(told), shape))
            reply = self.script(role, told, shape)
            text = reply.model_dump_json() if isinstance(reply, BaseModel) else reply
            if text in get_args(FailureCode):
                code = cast("FailureCode", text)
                return Unheard(code, _call(choice, role, code), again=code in TRANSIENT)
            if not text.strip():
                return Unheard("empty", _call(choice, role, "empty"))
            return Heard(text, choice.label, _call(choice, role, "ok"))

        return Asking(attempt, lambda _: True, shape, check).answer(prompt)


def in_turn(*replies: Reply) -> Script:
    """A script that gives one reply after the other, the last one for ever."""
    left = list(replies)
    return lambda role, prompt, shape: left.pop(0) if len(left) > 1 else left[0]


def _call(choice: ModelChoice, role: ModelRole, outcome: Outcome) -> ModelCall:
    good = outcome in ("ok", "empty")
    return ModelCall(
        role,
        choice.provider,
        choice.model,
        PROMPT_TOKENS if good else 0,
        COMPLETION_TOKENS if good else 0,
        COST_USD if good else None,
        MILLISECONDS,
        outcome,
    )

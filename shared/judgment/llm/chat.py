"""The port to a model that converses and calls tools, piece by piece.

Unlike `Models.ask` it wants no shape of an answer: text comes as it is made, calls come whole at
the end. Who stops iterating (`close`) ends the generation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from judgment.contract.models import ModelRole
    from judgment.kit.deadline import Deadline
    from judgment.llm.model import ModelCall, ModelChoice

ChatRole = Literal["system", "user", "assistant", "tool"]
ChatTrouble = Literal["provider_error", "context_overflow"]


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool that the model may call. `parameters` is a JSON Schema of an object."""

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call as the model made it. `arguments` is None where they were no JSON object, and
    `problem` then says what they were."""

    id: str
    name: str
    arguments: Mapping[str, Any] | None = field(repr=False)
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a prompt. `calls` only of an assistant, `call_id` only of a tool's answer."""

    role: ChatRole
    text: str = field(repr=False)
    calls: tuple[ToolUse, ...] = ()
    call_id: str | None = None


@dataclass(frozen=True, slots=True)
class TextPiece:
    """Some of the text, as it came; never empty."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Completed:
    """The end: the whole text, the calls in their order, and what it cost.

    `text` is what the pieces were, joined. `finish_reason` is the provider's word, else
    `completed`.
    """

    text: str = field(repr=False)
    calls: tuple[ToolUse, ...]
    finish_reason: str
    call: ModelCall
    model_version: str


class ChatFailure(Exception):
    """No answer. `trouble` and `message` are for the owner; neither holds a provider's words."""

    def __init__(self, trouble: ChatTrouble, message: str, call: ModelCall | None = None):
        self.trouble: ChatTrouble = trouble
        self.message = message
        self.call = call
        super().__init__(trouble)


class ChatModels(Protocol):
    """What a conversation needs of `judgment.llm`."""

    def choice(self, role: ModelRole, own: ModelChoice | None = None) -> ModelChoice | None:
        """Which model plays the role: the owner's own choice, else the operator's, else None."""
        ...

    def ready(self, choice: ModelChoice) -> bool:
        """Whether it can be asked at all; costs no call."""
        ...

    def window(self, choice: ModelChoice) -> int:
        """Tokens that prompt and answer share."""
        ...

    def converse(
        self,
        choice: ModelChoice,
        role: ModelRole,
        messages: Sequence[ChatMessage],
        tools: Sequence[ToolOffer],
        *,
        deadline: Deadline,
        stopped: Callable[[], bool] = lambda: False,
    ) -> Iterator[TextPiece | Completed]:
        """Pieces of text, then one Completed. Raises ChatFailure, also between two pieces.

        `stopped` is asked at least every two seconds; when it says so the iteration ends without a
        Completed.
        """
        ...

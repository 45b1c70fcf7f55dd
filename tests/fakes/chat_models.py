"""A conversing model whose every round a test writes, behind `judgment.llm.chat.ChatModels`.

It proves mechanics: what a model would be told, and what becomes of what it says. It will not be
asked while a transaction is open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from judgment.llm.chat import ChatFailure, ChatMessage, Completed, TextPiece, ToolOffer, ToolUse
from judgment.llm.model import ModelCall, ModelChoice

if TYPE_CHECKING:
    from judgment.contract.models import ModelRole
    from judgment.kit.deadline import Deadline

CHOICE = ModelChoice("openai-compatible", "scripted")


@dataclass(frozen=True)
class Round:
    """What one call of the model told it."""

    messages: tuple[ChatMessage, ...]
    tools: tuple[ToolOffer, ...]
    deadline: Deadline

    @property
    def told(self) -> str:
        """All text of it."""
        return "\n".join(message.text for message in self.messages)

    @property
    def answers(self) -> list[str]:
        """What tools gave, in order."""
        return [message.text for message in self.messages if message.role == "tool"]


Piece: TypeAlias = "str | ToolUse | ChatFailure | Callable[[], object]"
"""A piece of text, a call, a failure at that point, or something that happens between pieces."""
Script: TypeAlias = "Callable[[Round], Sequence[Piece]]"


def call(name: str, identifier: str = "c1", **arguments: Any) -> ToolUse:
    """A call of a tool."""
    return ToolUse(identifier, name, arguments)


def spent(outcome: Any = "ok") -> ModelCall:
    """What every round costs."""
    return ModelCall("message", "openai-compatible", "scripted", 10, 5, 0.001, 7, outcome)


class ScriptedChat:
    """`rounds` is what it was told, `closed` how many rounds were ended by who listened."""

    def __init__(
        self,
        script: Script,
        *,
        operator: ModelChoice | None = CHOICE,
        window: int = 128_000,
        transaction_open: Callable[[], bool] = lambda: False,
    ):
        self.script = script
        self.operator = operator
        self.rounds: list[Round] = []
        self.closed = 0
        self._window = window
        self._transaction_open = transaction_open

    def choice(self, role: ModelRole, own: ModelChoice | None = None) -> ModelChoice | None:
        """As the port."""
        return own or self.operator

    def ready(self, choice: ModelChoice) -> bool:
        """As the port."""
        return True

    def window(self, choice: ModelChoice) -> int:
        """As the port."""
        return self._window

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
        """The script's pieces, then the end."""
        assert role == "message"
        told = Round(tuple(messages), tuple(tools), deadline)
        self.rounds.append(told)
        text, calls = "", []
        try:
            for piece in self.script(told):
                if stopped():
                    return
                assert not self._transaction_open(), "a model was asked in a transaction"
                if isinstance(piece, ChatFailure):
                    raise piece
                if isinstance(piece, ToolUse):
                    calls.append(piece)
                elif isinstance(piece, str):
                    text += piece
                    yield TextPiece(piece)
                else:
                    piece()
        except GeneratorExit:
            self.closed += 1
            raise
        reason = "tool_calls" if calls else "stop"
        yield Completed(text, tuple(calls), reason, spent(), "openai-compatible:scripted")


def in_order(*rounds: Sequence[Piece]) -> Script:
    """A script that says one of these after the other, and the last for ever."""
    left = list(rounds)
    return lambda told: left.pop(0) if len(left) > 1 else left[0]

"""The agent loop: the model speaks, its calls are carried out, it hears of them and speaks again.

What is told has been written down before. Each round fits the prompt to the model's window anew;
what the model calls is between it and `calling`. The loop ends when the model calls nothing, when
it says nothing twice, when an approval outlasts the stream, or when the turn must end.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from judgment.contract.messages import AnyEvent, Done, Failed, TextDelta
from judgment.conversation.calling import AwaitingApproval, ToolBroke
from judgment.conversation.guards import is_repetition
from judgment.conversation.replay import Unit, answer_text
from judgment.conversation.tools import OFFERS
from judgment.conversation.window import ContextOverflow, Window, fit
from judgment.kit.errors import Unavailable
from judgment.llm.chat import ChatFailure, ChatMessage, Completed, TextPiece

if TYPE_CHECKING:
    from judgment.conversation.calling import Calls
    from judgment.conversation.recording import Record
    from judgment.kit.deadline import Deadline
    from judgment.llm.chat import ChatModels, ToolUse
    from judgment.llm.model import ModelChoice

NOTHING_SAID = "The model returned no usable response, also when asked again."
TOO_LONG = "This conversation no longer fits into the model's context."
TOOL_FAILED = "Tool execution failed"
NOT_STORED = (
    "Storage cannot be reached. Your message is kept, and so is all that was confirmed before this."
)


REPETITIONS = 3
"""Rounds of nothing but calls that were made before, after which the turn is over: a model that
does not hear the guard would go on until its window is full."""
REPEATED = "The model kept repeating the same step, so the turn was ended."


class _Silent(Exception):
    """The model said nothing twice."""


class _Repeating(Exception):
    """The model makes the same calls over and over."""


@dataclass(frozen=True)
class Prompt:
    """What the model is asked with: the system prompt, earlier turns, and the owner's message."""

    system: ChatMessage
    history: Sequence[Unit]
    message: ChatMessage

    def unit(self, record: Record) -> Unit:
        """The turn as it begins."""
        return Unit((self.message,), record.turn_id)


class AgentLoop:
    """One turn's loop; `events` is run once."""

    def __init__(
        self,
        models: ChatModels,
        choice: ModelChoice,
        prompt: Prompt,
        calls: Calls,
        deadline: Deadline,
    ):
        self._models = models
        self._choice = choice
        self._prompt = prompt
        self._calls = calls
        self._deadline = deadline
        self._said: list[ChatMessage] = [prompt.message]
        self._window = Window(models.window(choice), OFFERS)
        self._used: set[str] = set()
        self._repetitions = 0

    def events(self) -> Generator[AnyEvent]:
        """The turn's events, the last of which is one Done or one Failed."""
        try:
            reason = yield from self._rounds()
        except ChatFailure as failure:
            yield Failed(code=failure.trouble, message=failure.message)
        except ContextOverflow:
            yield Failed(code="context_overflow", message=TOO_LONG)
        except ToolBroke:
            yield Failed(code="tool_error", message=TOOL_FAILED)
        except Unavailable:
            yield Failed(code="tool_error", message=NOT_STORED)
        except _Silent:
            yield Failed(code="provider_error", message=NOTHING_SAID)
        except _Repeating:
            yield Failed(code="provider_error", message=REPEATED)
        else:
            yield Done(
                conversation_id=self._record.conversation_id,
                message_id=self._record.last_id,
                finish_reason=reason,
            )

    def _rounds(self) -> Generator[AnyEvent, None, str]:
        silent = False
        while True:
            completed = yield from self._spoken()
            if completed is None:
                return "stopped"
            if not completed.calls and not completed.text.strip():
                if silent:
                    raise _Silent
                silent = True
                continue
            silent = False
            if not completed.calls:
                return completed.finish_reason
            try:
                yield from self._called(completed)
            except AwaitingApproval:
                return "awaiting_approval"
            if self._calls.ended():
                return "stopped"

    def _spoken(self) -> Generator[AnyEvent, None, Completed | None]:
        """One call of the model; None where the turn ended within it. Its text is stored."""
        fitted = fit(self._prompt.system, self._prompt.history, self._current, self._window)
        heard: list[str] = []
        completed: Completed | None = None
        try:
            with closing(self._answer(fitted.messages)) as pieces:
                for piece in pieces:
                    if isinstance(piece, TextPiece):
                        heard.append(piece.text)
                        yield TextDelta(delta=piece.text)
                    else:
                        completed = piece
        except ChatFailure as failure:
            self._record.assistant("".join(heard), failure.call)
            raise
        except GeneratorExit:  # nobody listens any more: keep what they have heard
            with suppress(Unavailable):
                self._record.assistant("".join(heard), None)
            raise
        self._record.assistant("".join(heard), completed.call if completed else None)
        return completed

    def _answer(self, messages: Sequence[ChatMessage]) -> Generator[TextPiece | Completed]:
        yield from self._models.converse(
            self._choice,
            "message",
            messages,
            OFFERS,
            deadline=self._deadline,
            stopped=self._calls.ended,
        )

    def _called(self, completed: Completed) -> Generator[AnyEvent]:
        calls = tuple(self._named_apart(call) for call in completed.calls)
        self._said.append(ChatMessage("assistant", completed.text, calls))
        repeated = True
        for call in calls:
            outcome = yield from self._calls.carry_out(call)
            heard = answer_text(outcome.status, outcome.output)
            self._said.append(ChatMessage("tool", heard, call_id=call.id))
            repeated = repeated and is_repetition(outcome.output)
        self._count(repeated=repeated)

    def _count(self, *, repeated: bool) -> None:
        self._repetitions = self._repetitions + 1 if repeated else 0
        if self._repetitions == REPETITIONS:
            raise _Repeating

    def _named_apart(self, call: ToolUse) -> ToolUse:
        """The call under an id that no other of this turn has: providers count from nought."""
        name, count = call.id, 1
        while name in self._used:
            count += 1
            name = f"{call.id}-{count}"
        self._used.add(name)
        return replace(call, id=name)

    @property
    def _current(self) -> Unit:
        return Unit(tuple(self._said), self._record.turn_id)

    @property
    def _record(self) -> Record:
        return self._calls.record

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
from judgment.conversation.replay import Unit, answer_text
from judgment.conversation.tools import OFFERS
from judgment.conversation.window import ContextOverflow, Window, fit
from judgment.kit.errors import Unavailable
from judgment.llm.chat import ChatFailure, ChatMessage, Completed, TextPiece
from judgment.llm.model import ModelCall

if TYPE_CHECKING:
    from datetime import datetime

    from judgment.conversation.calling import Calls
    from judgment.conversation.recording import Record
    from judgment.kit.deadline import Deadline
    from judgment.llm.chat import ChatModels, ToolUse
    from judgment.llm.model import ModelChoice

NOTHING_SAID = "The model returned no usable response, also when asked again."
TOO_LONG = "This conversation no longer fits into the model's context."
TOOL_FAILED = "Tool execution failed"
LATE_SECONDS = 2.0
"""A call of a model ends about a second before the turn: what times out then is the turn's time."""
REPETITIONS = 3
"""Rounds of nothing but calls that were made before, after which the turn is over: a model that
does not hear the guard would go on until its window is full."""
REPEATED = "The model kept repeating the same step, so the turn was ended."


class _Silent(Exception):
    """The model said nothing twice."""


class _Stopped(Exception):
    """The turn must end between two steps."""


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
        earlier = (message for unit in prompt.history for message in unit.messages)
        self._used = {call.id for message in earlier for call in message.calls}
        self._repetitions = 0

    def events(self) -> Generator[AnyEvent]:
        """The turn's events, the last of which is one Done or one Failed.

        Raises Unavailable when storage is, and then there is neither.
        """
        try:
            reason = yield from self._rounds()
        except ChatFailure as failure:
            yield Failed(code=failure.trouble, message=failure.message)
        except ContextOverflow:
            yield Failed(code="context_overflow", message=TOO_LONG)
        except ToolBroke:
            yield Failed(code="tool_error", message=TOOL_FAILED)
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
            except _Stopped:
                return "stopped"

    def _spoken(self) -> Generator[AnyEvent, None, Completed | None]:
        """One call of the model; None where the turn ended within it. Its text is stored."""
        fitted = fit(self._prompt.system, self._prompt.history, self._current, self._window)
        heard: list[str] = []
        completed: Completed | None = None
        begun = self._record.ledger.clock()
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
            if self._out_of_time(failure):
                return None
            raise
        except BaseException:  # nobody listens any more, or a defect: keep what they have heard
            with suppress(Unavailable):
                self._record.assistant("".join(heard), self._left(begun))
            raise
        call = completed.call if completed else self._left(begun)
        self._record.assistant("".join(heard), call)
        return completed

    def _out_of_time(self, failure: ChatFailure) -> bool:
        """Whether it was the turn's time that cut the call off, not the provider's slowness."""
        late = failure.call is not None and failure.call.outcome == "timeout"
        return late and self._deadline.remaining() <= LATE_SECONDS

    def _left(self, begun: datetime) -> ModelCall:
        """A call that was left before its end, as it is accounted: nobody counted its tokens."""
        passed = (self._record.ledger.clock() - begun).total_seconds()
        return ModelCall(
            role="message",
            provider=self._choice.provider,
            model=self._choice.model,
            prompt_tokens=0,
            completion_tokens=0,
            cost_usd=None,
            milliseconds=max(0, round(1000 * passed)),
            outcome="stopped",
        )

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
        """Its calls, one after the other. Raises _Stopped between two when the turn must end."""
        calls = tuple(self._named_apart(call) for call in completed.calls)
        self._said.append(ChatMessage("assistant", completed.text, calls))
        repeated = True
        for call in calls:
            if self._calls.ended():
                raise _Stopped
            outcome = yield from self._calls.carry_out(call)
            heard = answer_text(outcome.status, outcome.output)
            self._said.append(ChatMessage("tool", heard, call_id=call.id))
            repeated = repeated and self._calls.guards.repeats(call)
        self._count(repeated=repeated)
        if self._calls.ended():
            raise _Stopped

    def _count(self, *, repeated: bool) -> None:
        self._repetitions = self._repetitions + 1 if repeated else 0
        if self._repetitions == REPETITIONS:
            raise _Repeating

    def _named_apart(self, call: ToolUse) -> ToolUse:
        """The call under an id that no other of the prompt has: providers count from nought."""
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

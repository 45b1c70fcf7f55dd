"""One turn at the terminal: words as they come, approvals while the stream is open, Ctrl-C."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from judgment.cli.chat import answering
from judgment.cli.chat.client import Answer
from judgment.cli.chat.hearing import INTERRUPTION, Hearing, Interrupts
from judgment.cli.chat.screen import short
from judgment.kit.errors import Refusal

if TYPE_CHECKING:
    from collections.abc import Callable

    from judgment.cli.chat.answering import Approve
    from judgment.cli.chat.client import Gateway
    from judgment.cli.chat.events import Received
    from judgment.cli.chat.screen import Screen
    from judgment.contract.messages import ApprovalRequest


class Turn:
    """`conversation_id` is known from the first byte of the answer on, `finish_reason` from its
    end where that is `done`. `asked` holds what each call was given that approval was asked for.
    """

    def __init__(self, gateway: Gateway, screen: Screen, approve: Approve):
        self.conversation_id: str | None = None
        self.finish_reason: str | None = None
        self.asked: dict[str, Mapping[str, Any]] = {}
        self._gateway = gateway
        self._screen = screen
        self._approve: Approve = approve
        self._is_stop_wanted = False
        self._given: Mapping[str, Any] = {}

    def run(self, begin: Callable[[], AbstractContextManager[Answer]]) -> None:
        """Take the turn to its end.

        Raises the refusal it is answered with, ShapeViolation, Unavailable, and KeyboardInterrupt
        at the second Ctrl-C; the first asks the server to end it.
        """
        with Hearing(begin) as hearing, Interrupts(hearing.interrupt) as interrupts:
            while (item := hearing.take()) is not None:
                if isinstance(item, Answer):
                    self._begun(item)
                elif item == INTERRUPTION:
                    self._stop()
                else:
                    self._event(item, interrupts)

    def _begun(self, answer: Answer) -> None:
        self.conversation_id = answer.conversation_id
        if answer.notice:
            self._screen.say(f"Note: {short(answer.notice)}")
        if self._is_stop_wanted:
            self._stop()

    def _stop(self) -> None:
        """Once the server has begun: what is asked before would end no turn."""
        if self.conversation_id is None:
            self._is_stop_wanted = True
            return
        self._screen.say("Asking it to stop; Ctrl-C again leaves.")
        self._told(lambda: self._gateway.stop(self.conversation_id or ""))

    def _event(self, received: Received, interrupts: Interrupts) -> None:
        event = received.event
        self._screen.show(received)
        if event.type == "tool-call":
            self._given = event.input
        elif event.type == "approval-request":
            self.asked[event.request_id] = self._given
            self._answer(event, interrupts)
        elif event.type == "done":
            self.finish_reason = event.finish_reason

    def _answer(self, asked: ApprovalRequest, interrupts: Interrupts) -> None:
        """The stream stays open meanwhile, and goes on with what was decided."""
        question = self._screen.question(asked)
        decision = answering.fixed(self._approve)
        if decision is None and answering.is_somebody_there():
            with interrupts.at_a_question():
                decision = answering.ask(question, self._given)
        else:
            self._screen.say(question)
        if decision is None:
            self._screen.say("It waits for your answer.")
        else:
            self._told(lambda: self._gateway.decide(asked.request_id, decision))

    def _told(self, act: Callable[[], None]) -> None:
        """A call beside the stream, which goes on whatever becomes of it."""
        try:
            act()
        except Refusal as refusal:
            self._screen.say(f"Error: {short(refusal.message)}")

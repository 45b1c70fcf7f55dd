"""What one run of the command talks about: a conversation, and what is open in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judgment.cli.chat import answering
from judgment.cli.chat.order import AWAITING
from judgment.cli.chat.screen import short
from judgment.cli.chat.turns import Turn

if TYPE_CHECKING:
    from judgment.cli.chat.answering import Approve
    from judgment.cli.chat.client import Gateway
    from judgment.cli.chat.screen import Screen
    from judgment.contract.conversations import OpenApproval


class Session:
    """`conversation_id` is None until a first message was answered. `project`: from which page."""

    def __init__(
        self,
        gateway: Gateway,
        screen: Screen,
        approve: Approve,
        conversation_id: str | None,
        project: str | None,
    ):
        self.conversation_id = conversation_id
        self._gateway = gateway
        self._screen = screen
        self._approve: Approve = approve
        self._project = project
        self._asked: dict[str, Mapping[str, Any]] = {}

    def say(self, content: str) -> bool:
        """One turn, shown as it happens; whether it was done.

        Raises as `Turn.run` does; the conversation is known then too, if the server had begun.
        """
        turn = Turn(self._gateway, self._screen, self._approve)
        try:
            turn.run(lambda: self._gateway.say(content, self.conversation_id, self._project))
        finally:
            self._screen.end_turn()
            self.conversation_id = turn.conversation_id or self.conversation_id
            self._asked |= turn.asked
        if turn.finish_reason == AWAITING:
            self.answer_open(self.conversation_id)
        return turn.finish_reason is not None

    def stop(self) -> None:
        """Ask that the turn of this conversation end, whoever began it."""
        if self.conversation_id is None:
            self._screen.say("There is no conversation yet.")
        else:
            self._gateway.stop(self.conversation_id)
            self._screen.say("Asked it to stop.")

    def pages(self) -> None:
        """Show the owner's pages."""
        for page in self._gateway.pages():
            mark = "*" if page.id == self._project else " "
            where = f", conversation {short(page.conversation_id)}" if page.conversation_id else ""
            self._screen.say(f"{mark} {short(page.id)}: {short(page.name)}{where}")

    def answer_open(self, conversation_id: str | None = None) -> None:
        """Show what is not settled, of one conversation or all; let the owner answer what they
        have not. The next message in its conversation settles it."""
        found = [
            one
            for one in self._gateway.approvals()
            if conversation_id in (None, one.conversation_id)
        ]
        if not found:
            self._screen.say("Nothing waits for you.")
        for one in found:
            self._answer(one)

    def _answer(self, one: OpenApproval) -> None:
        what = f"{short(one.summary)} in conversation {short(one.conversation_id)}"
        decision = one.decision
        if decision == "pending":
            self._screen.say(f"* {what} waits for your answer.")
            answer = answering.ask("? Approve?", self._asked.get(one.request_id))
            if answer is None:
                return
            self._gateway.decide(one.request_id, answer)
            decision = answer
        self._screen.say(f"* {what}: {decision}; the next message there settles it.")

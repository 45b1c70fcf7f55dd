"""What is raised when a server does not speak as agreed."""

from __future__ import annotations

from judgment.kit.errors import Unavailable


class ShapeViolation(Unavailable):
    """The stream breaks the contract. `event` names the event at fault, "stream" where it is none.

    `reason` repeats no value of the stream but names of events and fields.
    """

    def __init__(self, event: str, reason: str):
        self.event = event
        self.reason = reason
        super().__init__(f"The server does not speak as agreed: {event}: {reason}")

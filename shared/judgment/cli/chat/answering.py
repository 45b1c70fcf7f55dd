"""Who answers when the model asks for approval: a person at a terminal, or the command's option."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from judgment.cli.chat.screen import inputs

if TYPE_CHECKING:
    from judgment.contract.messages import Decision

Approve = Literal["ask", "yes", "no"]
_FIXED: dict[str, Decision] = {"yes": "approved", "no": "denied"}


def ask(question: str, given: Mapping[str, Any] | None = None) -> Decision | None:
    """The person's decision; None where they leave it open or nobody is at a terminal.

    `given` is what the call was given; they may look at it first.
    """
    if not is_somebody_there():
        return None
    choices = "[y]es, [n]o, [s]how, [l]ater" if given else "[y]es, [n]o, [l]ater"
    while True:
        sys.stderr.write(f"{question} {choices}: ")
        sys.stderr.flush()
        line = sys.stdin.readline()
        word = line.strip().lower()
        if word in ("y", "yes"):
            return "approved"
        if word in ("n", "no"):
            return "denied"
        if not line or word in ("l", "later"):
            return None
        if given and word in ("s", "show"):
            print(inputs(given), file=sys.stderr)


def fixed(approve: Approve) -> Decision | None:
    """What the option says to every request; None for `ask`."""
    return _FIXED.get(approve)


def is_somebody_there() -> bool:
    """Whether stdin is a terminal."""
    return sys.stdin is not None and sys.stdin.isatty()

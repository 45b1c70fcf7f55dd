"""What every scenario must be, whoever wrote it; the same for the library and for a model's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgment.scenarios.model import Scenario


@dataclass(frozen=True)
class Complaint:
    """One rule that is broken: a stable code, and a plain sentence that says what to repair.

    The sentence never quotes the scenario's text, so that it may be sent to a model or logged.
    """

    code: str
    sentence: str


def complaints(scenario: Scenario) -> tuple[Complaint, ...]:
    """Every rule that the scenario breaks, in a fixed order; none for a good one. Never raises."""
    del scenario
    return ()

"""A store elsewhere that signals are sent to and read back from, as a port.

The local files are the store a session stands on; a remote one carries signals between hosts.
What it does not answer is not known: an error is raised, and never read as an empty answer.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from datetime import datetime

    from judgment.kit.deadline import Deadline
    from judgment.preferences.model import Signal
    from judgment.preferences.signals import Quarantined


@dataclass(frozen=True, slots=True)
class Onboarded:
    """Where signals are kept from now on; `created` when nothing of the name was there before.

    `others` are further places of the same name, made by hosts that set up at the same moment:
    they are read as well.
    """

    definition_id: str
    created: bool
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pushed:
    """What became of signals that were sent, by id. What is in neither is still to be sent.

    `rejected` says why; a rejected signal would be rejected again. `trouble` says why sending
    ended early, or is None.
    """

    accepted: frozenset[str] = frozenset()
    rejected: Mapping[str, str] = field(default_factory=dict[str, str])
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class Pulled:
    """Preferences and facts, each once, and records that are none.

    `left_out` counts consent of another system: here it is granted at this house only.
    """

    signals: tuple[Signal, ...]
    quarantined: tuple[Quarantined, ...]
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class Published:
    """Paths that were written, that said the same already, and that are no more."""

    written: tuple[str, ...]
    unchanged: tuple[str, ...]
    removed: tuple[str, ...] = ()


class Remote(Protocol):
    """Every method raises Unavailable when the store is out of reach or does not let us in."""

    @property
    def name(self) -> str:
        """What messages call it."""
        ...

    def onboard(self) -> Onboarded:
        """Find the place for signals, or make it. Calling it again changes nothing."""
        ...

    def push(self, signals: Sequence[Signal], deadline: Deadline | None = None) -> Pushed:
        """Send signals; one that is there already stays as it is.

        Raises Unavailable when nothing could be learnt about any of them.
        """
        ...

    def pull(self) -> Pulled:
        """Everything that can be read there."""
        ...

    def publish(self, files: Mapping[str, str]) -> Published:
        """Keep the whole set of texts by relative path; one that is the same is not written."""
        ...

    def withdraw(self, key: str, *, before: datetime, ids: Collection[str] = ()) -> int:
        """Have statements about a key, observed up to `before`, suppressed on read; how many.

        `ids` are known to be there. It is no erasure: the store keeps what it was sent.
        """
        ...

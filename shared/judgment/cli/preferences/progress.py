"""A progress bar on stderr, where a person watches and there is something to wait for."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, TypeVar

from judgment.kit.errors import Unavailable
from judgment.preferences.remote import Pushed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime
    from types import TracebackType

    from judgment.kit.deadline import Deadline
    from judgment.preferences.model import Signal
    from judgment.preferences.remote import Onboarded, Published, Pulled, Remote

T = TypeVar("T")

LONG = 500
"""Fewer items are done before a bar could be read."""
PART = 100
"""Signals after which a bar moves."""


def is_shown(count: int) -> bool:
    """Whether a bar over so many items helps anybody."""
    return count >= LONG and sys.stderr.isatty()


def watched(items: Sequence[T], label: str) -> Iterator[T]:
    """The items, with a bar on a terminal while they are taken."""
    if not is_shown(len(items)):
        yield from items
        return
    import click

    with click.progressbar(items, label=label, file=sys.stderr) as bar:
        yield from bar


class Told:
    """A remote that moves a bar with every signal it has answered for."""

    def __init__(self, remote: Remote, count: int, label: str):
        self._remote = remote
        self._count = count
        self._label = label
        self._bar: Any = None
        self._open = ExitStack()

    def __enter__(self) -> Told:
        if is_shown(self._count):
            import click

            made = click.progressbar(length=self._count, label=self._label, file=sys.stderr)
            self._bar = self._open.enter_context(made)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._open.close()

    @property
    def name(self) -> str:
        """Of the remote."""
        return self._remote.name

    def onboard(self) -> Onboarded:
        """Of the remote."""
        return self._remote.onboard()

    def push(self, signals: Sequence[Signal], deadline: Deadline | None = None) -> Pushed:
        """Of the remote, in parts where a bar is shown, which moves with each."""
        if self._bar is None:
            return self._remote.push(signals, deadline)
        accepted: frozenset[str] = frozenset()
        rejected: dict[str, str] = {}
        for start in range(0, len(signals), PART):
            try:
                pushed = self._remote.push(signals[start : start + PART], deadline)
            except Unavailable as trouble:
                if not start:
                    raise
                return Pushed(accepted, rejected, trouble.message)
            accepted |= pushed.accepted
            rejected |= pushed.rejected
            self._bar.update(len(pushed.accepted) + len(pushed.rejected))
            if pushed.trouble:
                return Pushed(accepted, rejected, pushed.trouble)
        return Pushed(accepted, rejected)

    def pull(self) -> Pulled:
        """Of the remote."""
        return self._remote.pull()

    def publish(self, files: Mapping[str, str]) -> Published:
        """Of the remote."""
        return self._remote.publish(files)

    def withdraw(self, key: str, *, before: datetime, ids: Collection[str] = ()) -> int:
        """Of the remote."""
        return self._remote.withdraw(key, before=before, ids=ids)

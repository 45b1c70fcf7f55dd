"""A remote store for signals in this process, or in a file that outlives its senders."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from judgment.kit.errors import Unavailable
from judgment.preferences.remote import Onboarded, Published, Pulled, Pushed
from judgment.preferences.signals import from_stored, stored

if TYPE_CHECKING:
    from judgment.kit.deadline import Deadline
    from judgment.preferences.model import Signal


class FakeRemote:
    """Takes each id once and notes every arrival. `down` is an outage, `refuses` ids it declines.

    With `limit`, an outage begins after so many signals of a push.
    """

    name = "fake"

    def __init__(self) -> None:
        self.down = False
        self.refuses: Collection[str] = ()
        self.limit: int | None = None
        self.kept: dict[str, Signal] = {}
        self.arrivals: list[str] = []
        self.pushes: list[list[str]] = []
        self.withdrawals: list[tuple[str, datetime, tuple[str, ...]]] = []
        self.deadlines: list[Deadline | None] = []
        self.during: Callable[[], None] = lambda: None

    def onboard(self) -> Onboarded:
        """A place that is there."""
        return Onboarded("Event/fake", created=False)

    def push(self, signals: Sequence[Signal], deadline: Deadline | None = None) -> Pushed:
        """See `Remote.push`."""
        if self.down:
            raise Unavailable("The fake is down.")
        self.deadlines.append(deadline)
        self.pushes.append([signal.id for signal in signals])
        self.during()
        served = signals if self.limit is None else signals[: self.limit]
        rejected = {s.id: "declined by the fake" for s in served if s.id in self.refuses}
        accepted = [s for s in served if s.id not in rejected]
        self.arrivals += [s.id for s in accepted]
        self.kept.update({s.id: s for s in accepted})
        self.save()
        trouble = "The fake went down." if len(served) < len(signals) else None
        return Pushed(frozenset(s.id for s in accepted), rejected, trouble)

    def pull(self) -> Pulled:
        """See `Remote.pull`."""
        return Pulled(tuple(self.kept.values()), ())

    def publish(self, files: Mapping[str, str]) -> Published:
        """See `Remote.publish`; nothing is kept."""
        return Published(tuple(files), ())

    def withdraw(self, key: str, *, before: datetime, ids: Collection[str] = ()) -> int:
        """See `Remote.withdraw`."""
        if self.down:
            raise Unavailable("The fake is down.")
        self.withdrawals.append((key, before, tuple(ids)))
        gone = [s.id for s in self.kept.values() if s.key == key and s.observed_at <= before]
        for name in gone:
            del self.kept[name]
        self.save()
        return len(gone)

    def save(self) -> None:
        """Nothing: this one lives in the process."""


class FileRemote(FakeRemote):
    """The same, in a file, which only the one who sends writes."""

    def __init__(self, path: Path):
        super().__init__()
        self._path = path
        self.load()

    def load(self) -> None:
        """See what senders before this one have left."""
        if self._path.exists():
            content = json.loads(self._path.read_text())
            self.arrivals = content["arrivals"]
            self.kept = {entry["id"]: from_stored(entry) for entry in content["kept"]}

    def push(self, signals: Sequence[Signal], deadline: Deadline | None = None) -> Pushed:
        """See `Remote.push`."""
        self.load()
        return super().push(signals, deadline)

    def withdraw(self, key: str, *, before: datetime, ids: Collection[str] = ()) -> int:
        """See `Remote.withdraw`."""
        self.load()
        return super().withdraw(key, before=before, ids=ids)

    def save(self) -> None:
        """Write all of it down, whole or not at all."""
        kept = [stored(signal) for signal in self.kept.values()]
        beside = self._path.with_suffix(f".{os.getpid()}")
        beside.write_text(json.dumps({"arrivals": self.arrivals, "kept": kept}))
        beside.replace(self._path)

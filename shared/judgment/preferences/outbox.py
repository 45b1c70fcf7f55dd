"""Signals that wait to be sent to a remote store, as files; nothing is lost and nothing blocks.

One file a batch, written whole under `<root>/outbox`, sent in the order in which they came. A file
goes only after the remote has answered for all that is in it: accepted signals are done, rejected
ones lie in `dead/` with the reason, the rest waits. Dying between the answer and the removal sends
a batch twice, which a remote takes as once, because a signal's id is its content. A file that
cannot be read is moved to `damaged/` and told of. Adding never waits for sending.

One process sends at a time; another that tries meanwhile leaves it to that one. The kill points
`prefs_outbox.*` let a test die at each place.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from judgment.kit.clock import isoformat
from judgment.kit.errors import Unavailable
from judgment.kit.files import locked, make_folder, sweep, write_private
from judgment.kit.hashing import canonical_json, sha256_hex
from judgment.kit.killpoints import reach
from judgment.preferences.batches import (
    Batch,
    DeadLetter,
    batch_of,
    encoded,
    grouped,
    key_of,
    letter_of,
)
from judgment.preferences.keys import checked_key
from judgment.preferences.model import InvalidSignal
from judgment.preferences.remote import Pushed
from judgment.preferences.signals import from_stored, stored
from judgment.preferences.times import written

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from judgment.kit.deadline import Deadline
    from judgment.preferences.model import Signal
    from judgment.preferences.remote import Remote

PUSH_SIGNALS = 100
"""How many signals are sent together; files are joined up to this."""


@dataclass(frozen=True, slots=True)
class Flushed:
    """What a flush did. `rejected` gives the reason by id, `damaged` the names of files set aside.

    `trouble` says why signals still wait; `busy` that another process is sending them.
    """

    sent: int = 0
    rejected: dict[str, str] = field(default_factory=dict[str, str])
    withdrawn: int = 0
    damaged: tuple[str, ...] = ()
    waiting: int = 0
    trouble: str | None = None
    busy: bool = False


class Outbox:
    """The waiting signals below `root`. `now` is the clock that dead letters are dated by."""

    def __init__(self, root: Path, now: Callable[[], datetime]):
        self.folder = root / "outbox"
        self.dead_folder = self.folder / "dead"
        self.damaged_folder = self.folder / "damaged"
        self._now = now

    def add(self, signals: Sequence[Signal]) -> None:
        """Keep signals until they are sent; one that waits already is sent once all the same.

        Durable when it returns. Raises Unavailable when it cannot be written, InvalidSignal for
        consent, which stays in this house.
        """
        if any(signal.kind == "consent" for signal in signals):
            raise InvalidSignal("consent is not sent to another store")
        if signals:
            make_folder(self.folder)
            with locked(self.folder / ".adding"):
                self._write_next({"signals": [stored(signal) for signal in signals]})

    def forget(self, key: str, before: datetime, ids: Collection[str] = ()) -> None:
        """Never send statements about a key up to `before`, and ask the remote to suppress them.

        What waits or lies dead of them is removed; the request waits like a signal does. Raises
        InvalidSignal for a key that is none.
        """
        make_folder(self.folder)
        name, _ = checked_key(key)
        asked = {"key": name, "before": written(before), "ids": sorted(ids)}
        with locked(self.folder / ".adding"):
            self._write_next({"withdraw": asked})
            self._without_forgotten()
            self._drop_letters(name)

    def waiting(self) -> int:
        """How many signals wait, without those already known to be unreadable."""
        return len({signal.id for batch in self._read() for signal in batch.signals})

    def damaged(self) -> list[str]:
        """The names of files that were set aside."""
        return sorted(path.name for path in self.damaged_folder.glob("*.json"))

    def dead(self) -> list[DeadLetter]:
        """What the remote would not have, oldest first."""
        return sorted((letter for _, letter in self._letters()), key=lambda d: (d.at, d.id))

    def revive(self, ids: Collection[str] | None = None) -> int:
        """Let dead signals wait again (all of them, or those of these ids); how many."""
        chosen = [(p, d) for p, d in self._letters() if d.id and (ids is None or d.id in ids)]
        if chosen:
            self.add([from_stored(letter.entry) for _, letter in chosen])
            for path, _ in chosen:
                path.unlink(missing_ok=True)
        return len(chosen)

    def flush(self, remote: Remote, deadline: Deadline) -> Flushed:
        """Send what waits, in order, until it is done, in trouble or out of time. Never raises
        for the remote's sake.

        A request that is under way is given what is left of the time.
        """
        if not self.folder.is_dir():
            return Flushed()
        with ExitStack() as held:
            try:
                held.enter_context(locked(self.folder / ".sending", seconds=0))
            except Unavailable as busy:
                return Flushed(waiting=self.waiting(), trouble=busy.message, busy=True)
            return self._flush(remote, deadline)

    def _flush(self, remote: Remote, deadline: Deadline) -> Flushed:
        with locked(self.folder / ".adding"):
            sweep(self.folder)
            aside = self._set_damaged_aside()
            batches = self._without_forgotten()
        done = Flushed(damaged=tuple(aside))
        for group in grouped(batches, PUSH_SIGNALS):
            if deadline.remaining() <= 0:
                done = replace(done, trouble=done.trouble or "Out of time.")
                break
            try:
                step = self._send(group, remote, deadline)
            except Unavailable as trouble:
                step = Flushed(trouble=trouble.message)
            done = replace(
                done,
                sent=done.sent + step.sent,
                rejected={**done.rejected, **step.rejected},
                withdrawn=done.withdrawn + step.withdrawn,
                trouble=step.trouble,
            )
            if step.trouble is not None:
                break
        return replace(done, waiting=self.waiting())

    def _send(self, group: list[Batch], remote: Remote, deadline: Deadline) -> Flushed:
        asked = group[0].withdrawal
        if asked is not None:
            count = remote.withdraw(asked.key, before=asked.before, ids=asked.ids)
            reach("prefs_outbox.withdrawn")
            self._drop_letters(asked.key)  # one may have died while it was being forgotten
            group[0].path.unlink(missing_ok=True)
            return Flushed(withdrawn=count)
        signals = {signal.id: signal for batch in group for signal in batch.signals}
        pushed = remote.push(list(signals.values()), deadline) if signals else Pushed()
        reach("prefs_outbox.sent")
        rejected = {name: why for name, why in pushed.rejected.items() if name in signals}
        for name, why in rejected.items():
            self._bury(name, why, stored(signals[name]))
        for batch in group:
            for entry in batch.unreadable:
                self._bury("", "it is no signal", entry)
        reach("prefs_outbox.buried")
        settled = pushed.accepted | rejected.keys()
        for batch in group:
            self._settle(batch, settled)
        left = signals.keys() - settled
        trouble = pushed.trouble or ("Not every signal was answered for." if left else None)
        return Flushed(len(pushed.accepted & signals.keys()), rejected, trouble=trouble)

    def _settle(self, batch: Batch, settled: Collection[str]) -> None:
        left = [signal for signal in batch.signals if signal.id not in settled]
        if not left:
            batch.path.unlink(missing_ok=True)
        elif len(left) < len(batch.signals) or batch.unreadable:
            self._write(batch.path, {"signals": [stored(signal) for signal in left]})

    def _without_forgotten(self) -> list[Batch]:
        """The batches; what was forgotten since is taken out of them and out of their files."""
        kept: list[Batch] = []
        forgotten: set[str] = set()
        for batch in reversed(list(self._read())):
            if batch.withdrawal is not None:
                forgotten.add(batch.withdrawal.key)
                kept.append(batch)
                continue
            batch = self._stripped(batch, forgotten)
            if batch.signals or batch.unreadable:
                kept.append(batch)
        return kept[::-1]

    def _stripped(self, batch: Batch, forgotten: Collection[str]) -> Batch:
        """A batch and its file without what is about a forgotten key, readable or not."""
        left = tuple(signal for signal in batch.signals if signal.key not in forgotten)
        odd = tuple(entry for entry in batch.unreadable if key_of(entry) not in forgotten)
        if len(left) == len(batch.signals) and len(odd) == len(batch.unreadable):
            return batch
        if left or odd:
            self._write(batch.path, {"signals": [*map(stored, left), *odd]})
        else:
            batch.path.unlink(missing_ok=True)
        return replace(batch, signals=left, unreadable=odd)

    def _set_damaged_aside(self) -> list[str]:
        aside = [path for path in self._paths() if batch_of(path) is None]
        for path in aside:
            make_folder(self.damaged_folder)
            with suppress(FileNotFoundError):
                path.replace(self._free_place(path))
        return [path.name for path in aside]

    def _free_place(self, path: Path) -> Path:
        """Where to put a damaged file: numbers are given again once the outbox has been empty."""
        place, number = self.damaged_folder / path.name, 1
        while place.exists():
            number += 1
            place = self.damaged_folder / f"{path.stem}-{number}.json"
        return place

    def _bury(self, name: str, reason: str, entry: dict[str, Any]) -> None:
        make_folder(self.dead_folder)
        letter = {"id": name, "reason": reason, "at": isoformat(self._now()), "entry": entry}
        path = self.dead_folder / f"{sha256_hex(name or canonical_json(entry))[:32]}.json"
        write_private(path, encoded(letter))

    def _drop_letters(self, key: str) -> None:
        for path, letter in self._letters():
            if key_of(letter.entry) == key:
                path.unlink(missing_ok=True)

    def _letters(self) -> Iterator[tuple[Path, DeadLetter]]:
        for path in sorted(self.dead_folder.glob("*.json")):
            letter = letter_of(path)
            if letter is not None:
                yield path, letter

    def _read(self) -> Iterator[Batch]:
        for path in self._paths():
            batch = batch_of(path)
            if batch is not None:
                yield batch

    def _paths(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        names = [n for n in os.listdir(self.folder) if n.endswith(".json") and n[0] != "."]
        return [self.folder / name for name in sorted(names)]

    def _write_next(self, content: dict[str, Any]) -> None:
        names = (name.partition(".")[0] for name in os.listdir(self.folder))
        number = max((int(name) for name in names if name.isdecimal()), default=0) + 1
        self._write(self.folder / f"{number:012}.json", content)

    def _write(self, path: Path, content: dict[str, Any]) -> None:
        write_private(path, encoded(content))

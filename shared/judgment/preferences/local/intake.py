"""Taking signals into the stream: each once, at the next position, all of them or none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from judgment.kit.errors import Conflict
from judgment.kit.hashing import canonical_json
from judgment.preferences.signals import LARGEST_POSITION, payload_of, read_lines, stored

if TYPE_CHECKING:
    from judgment.preferences.local.stream import Lines, Stream
    from judgment.preferences.model import Signal

SEARCHED = 32
"""Up to so many names are searched for in the text; for more the stream is read once."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A signal as it is kept; `is_new` is false for one that was there already."""

    signal: Signal
    is_new: bool


def keep(stream: Stream, signals: Sequence[Signal], now: datetime, floor: int) -> tuple[Kept, ...]:
    """Put behind the stream what is not in it yet; positions go on above its last and `floor`.

    The largest position is given again where somebody wrote it by hand: nothing is lost by that.
    Raises Conflict, with nothing kept, where a name is taken by another signal, and Unavailable.
    """
    lines = stream.read()
    position = max(floor, last_position(lines))
    known = _Known(lines, len(signals))
    found: list[Kept] = []
    for signal in signals:
        before = known.get(signal.id)
        if before is None:
            position = min(position + 1, LARGEST_POSITION)
            heard = signal.recorded_at or now
            before = replace(signal, position=position, recorded_at=min(heard, now))
            known.new[signal.id] = before
            found.append(Kept(before, True))
        elif canonical_json(payload_of(before)) == canonical_json(payload_of(signal)):
            found.append(Kept(before, False))
        else:
            raise Conflict("That id is the name of another signal.")
    if known.new:
        stream.append([stored(signal) for signal in known.new.values()], lines)
    return tuple(found)


def last_position(lines: Lines) -> int:
    """The position of the last signal that can be read; 0 where there is none."""
    for line in lines.backwards():
        signals, _ = read_lines([line])
        if signals:
            return signals[0].position
    return 0


class _Known:
    """The signals of a stream by name, and those that are being added."""

    def __init__(self, lines: Lines, asked: int) -> None:
        self.new: dict[str, Signal] = {}
        self._lines = lines
        self._all: dict[str, Signal] | None = None
        if asked > SEARCHED:
            self._all = {signal.id: signal for signal in reversed(read_lines(lines)[0])}

    def get(self, name: str) -> Signal | None:
        """The first signal of that name, or None."""
        if name in self.new:
            return self.new[name]
        return self._searched(name) if self._all is None else self._all.get(name)

    def _searched(self, name: str) -> Signal | None:
        text = self._lines.whole
        needle = f'"id":{json.dumps(name, ensure_ascii=False)}'.encode()
        place = text.find(needle)
        while place >= 0:
            end = text.find(b"\n", place)
            end = len(text) if end < 0 else end
            signals, _ = read_lines([text[text.rfind(b"\n", 0, place) + 1 : end]])
            if signals and signals[0].id == name:
                return signals[0]
            place = text.find(needle, end)
        return None

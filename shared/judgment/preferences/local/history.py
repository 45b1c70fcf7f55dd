"""The steps of consent in a file, and their sum beside it in `consent.json`.

The stream is what counts. The sum is for people and other programs, written anew with each step.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from judgment.kit.clock import isoformat
from judgment.kit.files import read_private, write_private
from judgment.kit.hashing import canonical_json, digest
from judgment.kit.killpoints import reach
from judgment.preferences.consent import Event, stored
from judgment.preferences.grants import Grants, fold
from judgment.preferences.local.places import CONSENT, CONSENT_EVENTS
from judgment.preferences.local.stream import Stream, loaded


@dataclass(frozen=True, slots=True)
class Step:
    """A step that was taken, and the earlier ones that it narrows or ends."""

    event: Event
    touched: tuple[Event, ...]


class History:
    """The consent of the store in a folder. Its callers hold the store's lock where they write."""

    def __init__(self, root: Path) -> None:
        self._path = root / CONSENT
        self._stream = Stream(root / CONSENT_EVENTS)

    def grants(self) -> Grants:
        """What the history comes to. Raises Unavailable where it cannot be read at all."""
        return fold(loaded(line) for line in self._stream.read())

    def append(self, event: Event, now: datetime) -> Step:
        """Take a step, and say what it touches. Raises Unavailable, having taken none."""
        lines = self._stream.read()
        kept = [loaded(line) for line in lines]
        grants = fold(kept)
        named = replace(event, position=len(kept) + 1, recorded_at=now)
        record = stored(named)
        record["id"] = digest(record)[:32]
        self._stream.append([record], lines)
        reach("consent.appended")
        self.write_sum(now)
        return Step(replace(named, id=record["id"]), grants.touched(event, now))

    def write_sum(self, now: datetime) -> None:
        """Write `consent.json` anew where it does not say what the stream says."""
        if not self.is_summed(now):
            write_private(self._path, (canonical_json(self._sum(now)) + "\n").encode())

    def is_summed(self, now: datetime) -> bool:
        """Whether `consent.json` says what the stream says at `now`."""
        kept = loaded(read_private(self._path) or b"")
        return kept is not None and kept == {**self._sum(now), "as_of": kept.get("as_of")}

    def _sum(self, now: datetime) -> dict[str, Any]:
        grants = self.grants()
        return {"v": 1, "as_of": isoformat(now), "steps": len(grants.events), **grants.view(now)}

"""`meta.json`: what a store knows of itself beside its streams.

`v`, `last_compile` (when a document last changed), `ledger` (its head), `forgetting` (a key whose
forgetting has begun), `position` (below it no position is given again), and what another store
asks to be remembered, such as `definition_id`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from judgment.kit.errors import Unavailable
from judgment.kit.files import read_private, shown, write_private
from judgment.kit.hashing import canonical_json
from judgment.preferences.local.places import META
from judgment.preferences.local.stream import loaded
from judgment.preferences.signals import LARGEST_POSITION

VERSION = 1


def read_meta(root: Path) -> dict[str, Any]:
    """What is known; only the version where there is no file. Raises Unavailable."""
    path = root / META
    data = read_private(path)
    if data is None:
        return {"v": VERSION}
    found = loaded(data)
    if found is None or found.get("v") != VERSION or not _is_writable(found):
        raise Unavailable(f"{shown(path)} cannot be read: mend it or move it away.")
    return found


def floor_of(meta: dict[str, Any]) -> int:
    """The position below which none is given again; 0 where what is noted is none."""
    position = meta.get("position")
    return position if type(position) is int and 0 <= position <= LARGEST_POSITION else 0


def _is_writable(meta: dict[str, Any]) -> bool:
    try:
        return bool(canonical_json(meta).encode())
    except (ValueError, RecursionError):  # NaN, half a surrogate pair, too deep
        return False


def write_meta(root: Path, meta: dict[str, Any]) -> None:
    """Keep it, without what is None. Raises Unavailable."""
    known = {name: value for name, value in meta.items() if value is not None}
    write_private(root / META, (canonical_json(known) + "\n").encode())

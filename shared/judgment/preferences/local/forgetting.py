"""Forgetting a key: its signals, what was compiled of them, and every kept version of that.

What has begun is finished: the key stands in `meta.json` until nothing is left, and the next write
after a process died goes on. Forgetting here cannot reach what left this folder: what was pushed
to another store, shown to somebody, or copied by a backup.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from unicodedata import normalize

from judgment.kit.files import read_private, write_private
from judgment.kit.killpoints import reach
from judgment.preferences.compiling import encoded
from judgment.preferences.documents import InvalidDocument, digest_of, read_document
from judgment.preferences.keys import checked_key
from judgment.preferences.local.intake import last_position
from judgment.preferences.local.journal import Journal
from judgment.preferences.local.meta import floor_of, read_meta, write_meta
from judgment.preferences.local.places import CANDIDATES, OUTBOX, SIGNALS
from judgment.preferences.local.publishing import publish
from judgment.preferences.local.stream import Stream, loaded
from judgment.preferences.local.versions import document_versions
from judgment.preferences.signals import read_lines

_ESCAPED = re.compile(r"\\u([0-9a-fA-F]{4})")


@dataclass(frozen=True, slots=True)
class Forgotten:
    """What went and what stays.

    `signals` and `versions` are numbers of records and of kept documents that held the key.
    `ledger` is the number of ledger entries that name the key, never a value: the chain keeps
    them. `waiting` are files of the outbox and of the candidates that still speak of it.
    """

    key: str
    signals: int
    versions: int
    ledger: int
    waiting: tuple[str, ...]


def forget(root: Path, key: str, now: datetime) -> Forgotten:
    """Forget a key. The lock is held. Raises InvalidSignal for a key that is none, Unavailable."""
    name, _ = checked_key(key)
    write_meta(root, {**read_meta(root), "forgetting": name})
    reach("forget.announced")
    signals = _without_signals(root, name)
    reach("forget.rewritten")
    publish(root, now)
    reach("forget.published")
    versions = sum([_without_entry(path, name) for path in document_versions(root)])
    reach("forget.scrubbed")
    write_meta(root, {**read_meta(root), "forgetting": None})
    named = sum(_names(link.entry, name) for link in Journal(root).links())
    return Forgotten(name, signals, versions, named, tuple(_waiting(root, name)))


def go_on(root: Path, now: datetime) -> None:
    """Finish a forgetting that a dying process left. The lock is held."""
    key = read_meta(root).get("forgetting")
    if isinstance(key, str):
        forget(root, key, now)


def _without_signals(root: Path, key: str) -> int:
    """Write the stream without the signals of a key, and without unreadable lines that name it."""
    stream = Stream(root / SIGNALS)
    lines = stream.read()
    left: list[bytes] = []
    gone = 0
    for line in lines:
        signals, _ = read_lines([line])
        if signals[0].key == key if signals else _is_about(line, key):
            gone += 1
        else:
            left.append(line)
    if gone or lines.torn:
        meta = read_meta(root)
        floor = max(floor_of(meta), last_position(lines))
        write_meta(root, {**meta, "position": floor})
        write_private(stream.path, b"".join(line + b"\n" for line in left))
    return gone


def _without_entry(path: Path, key: str) -> bool:
    """Take a key out of a kept document; whether it was in it."""
    data = read_private(path) or b""
    if not _mentions(data, key):
        return False
    try:
        document = read_document(data)
        held = document["keys"].pop(key, None) is not None
        document["digest"] = digest_of(document)
        text = encoded(document).encode()
    except (InvalidDocument, KeyError, TypeError, AttributeError, ValueError, RecursionError):
        path.unlink()
        return True
    if held:
        write_private(path, text)
    return held


def _waiting(root: Path, key: str) -> Iterator[str]:
    for folder in (OUTBOX, CANDIDATES):
        for path in sorted((root / folder).rglob("*")):
            if path.is_symlink() or not path.is_file():
                continue
            if _mentions(read_private(path) or b"", key):
                yield path.relative_to(root).as_posix()


def _names(entry: str, key: str) -> bool:
    """Whether a ledger entry names a key; one that was tampered with may be anything."""
    keys = (loaded(entry.encode("utf-8", "replace")) or {}).get("keys")
    return isinstance(keys, list) and key in keys


def _is_about(line: bytes, key: str) -> bool:
    """Whether a line that is no signal is about a key: by its own word, else where it is quoted.

    A line of a later version of this program names its key as ours do, and stays if it is another.
    """
    record = loaded(line)
    stated = record.get("key") if record is not None else None
    if isinstance(stated, str):
        return normalize("NFC", stated) == key
    return _mentions(line, key)


def _mentions(data: bytes, key: str) -> bool:
    """Whether a text, JSON or the rest of it, quotes a key, however it is spelt or escaped."""
    text = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), data.decode("utf-8", "replace"))
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # pairs made whole
    quoted = json.dumps(key, ensure_ascii=False)
    return quoted in normalize("NFC", text)

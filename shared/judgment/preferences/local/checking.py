"""Looking a store over: what is well, what to know, what is broken and how to mend it.

Nothing is changed by looking.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from judgment.kit.errors import Refusal
from judgment.kit.files import read_private, shown
from judgment.preferences.compiling import compile_signals
from judgment.preferences.documents import InvalidDocument, digest_of, read_document
from judgment.preferences.local.history import History
from judgment.preferences.local.journal import Journal
from judgment.preferences.local.meta import read_meta
from judgment.preferences.local.places import LEDGER, PLATFORMS, SIGNALS, document_path
from judgment.preferences.local.stream import Stream
from judgment.preferences.signals import read_lines

State = Literal["well", "note", "broken"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing looked at; `text` says what was found and, where it is broken, what to do."""

    name: str
    state: State
    text: str


def examine(root: Path, now: datetime) -> list[Finding]:
    """What there is to say of the store in a folder, in the order in which to mend it."""
    if not root.is_dir():
        return [Finding("folder", "note", f"{shown(root)} is not there yet: capture something.")]
    found = [Finding("folder", "well", shown(root)), *_privacy(root)]
    for look in (_meta, _signals, _documents, _consent, _ledger):
        try:
            found += look(root, now)
        except Refusal as refused:
            found.append(Finding(look.__name__.lstrip("_"), "broken", refused.message))
    return found


def _privacy(root: Path) -> Iterator[Finding]:
    mode = root.stat().st_mode
    if mode & (stat.S_IWGRP | stat.S_IWOTH):
        yield Finding("privacy", "broken", f"Others may write here: chmod 700 {shown(root)}")
    elif mode & 0o077:
        yield Finding("privacy", "note", f"Others may look in: chmod 700 {shown(root)}")
    open_files = sorted(
        path.relative_to(root).as_posix()
        for path in root.rglob("*")
        if not path.is_symlink() and path.is_file() and path.stat().st_mode & 0o077
    )
    if open_files:
        yield Finding("privacy", "broken", f"Others may read {', '.join(open_files)}: chmod 600.")
    if (owner := root.stat().st_uid) != os.geteuid():
        yield Finding("privacy", "broken", f"The folder belongs to user {owner}.")


def _meta(root: Path, now: datetime) -> Iterator[Finding]:
    meta = read_meta(root)
    if "forgetting" in meta:
        yield Finding("forget", "broken", "A forgetting was cut short: compile finishes it.")
    last = meta.get("last_compile", "never")
    yield Finding("compile", "well", f"Documents last changed: {last}.")


def _signals(root: Path, now: datetime) -> Iterator[Finding]:
    lines = Stream(root / SIGNALS).read()
    signals, bad = read_lines(lines)
    yield Finding("signals", "well", f"{len(signals)} signals.")
    for one in bad[:5]:
        yield Finding("signals", "note", f"Line {one.position} is set aside: {one.reason}.")
    if len(bad) > 5:
        yield Finding("signals", "note", f"And {len(bad) - 5} more lines are set aside.")
    if lines.torn:
        yield Finding("signals", "note", "A write that died left a piece; the next one removes it.")


def _documents(root: Path, now: datetime) -> Iterator[Finding]:
    signals, bad = read_lines(Stream(root / SIGNALS).read())
    compiled = compile_signals(signals, now, len(bad)).documents
    wanted = {document_path(root, name): doc["digest"] for name, doc in compiled.items()}
    late = [path for path, digest in wanted.items() if signals and _digest(path) != digest]
    late += [path for path in (root / PLATFORMS).glob("*.json") if path not in wanted]
    names = ", ".join(sorted(path.relative_to(root).as_posix() for path in late))
    if late:
        yield Finding("documents", "broken", f"Not what the signals say: {names}. Compile.")
    else:
        yield Finding("documents", "well", f"{len(wanted)} documents say what the signals say.")


def _digest(path: Path) -> str | None:
    data = read_private(path)
    try:
        return None if data is None else digest_of(read_document(data))
    except (InvalidDocument, KeyError, TypeError, AttributeError):
        return None


def _consent(root: Path, now: datetime) -> Iterator[Finding]:
    history = History(root)
    grants = history.grants()
    yield Finding("consent", "well", f"{len(grants.events)} steps, {len(grants.live(now))} live.")
    if grants.events and not history.is_summed(now):
        yield Finding("consent", "note", "consent.json is not the sum of its steps: compile.")


def _ledger(root: Path, now: datetime) -> Iterator[Finding]:
    found = Journal(root).verify()
    if found.intact:
        yield Finding("ledger", "well", f"{found.length} entries, whole.")
    for problem in found.problems:
        yield Finding("ledger", "broken", f"{problem} See {LEDGER}; nothing is shown until then.")

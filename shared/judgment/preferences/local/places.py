"""Where the files lie, and that nobody else may change them.

Source: reference §1.4 (names), issue part 3 item 5.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from judgment.kit.errors import Unavailable
from judgment.kit.files import make_folder, shown
from judgment.preferences.keys import checked_platform

META = "meta.json"
SIGNALS = "signals.jsonl"
COMPILED = "compiled.json"
PLATFORMS = "platforms"
CONSENT = "consent.json"
CONSENT_EVENTS = "consent.jsonl"
LEDGER = "ledger.jsonl"
VERSIONS = "versions"
OUTBOX = "outbox"
CANDIDATES = "candidates"
LOCK = ".lock"


def root_of(environment: Mapping[str, str]) -> Path:
    """The folder that an environment asks for.

    `JUDGMENT_PREFS_DIR`, else `judgment/prefs` in `XDG_DATA_HOME`, else in `~/.local/share`. A
    relative `XDG_DATA_HOME` is ignored, as its specification wants.
    """
    if chosen := environment.get("JUDGMENT_PREFS_DIR"):
        return Path(chosen).expanduser()
    data = environment.get("XDG_DATA_HOME", "")
    above = Path(data) if os.path.isabs(data) else Path("~/.local/share").expanduser()
    return above / "judgment" / "prefs"


def document_path(root: Path, platform: str | None) -> Path:
    """Where the document of a platform is kept; None: the global one. Raises InvalidSignal."""
    if platform is None:
        return root / COMPILED
    return root / PLATFORMS / f"{checked_platform(platform)}.json"


def prepared(root: Path) -> Path:
    """The folder, made private if it was missing, fit to be written to.

    A link to a folder is followed. Raises Unavailable for one that belongs to somebody else or in
    which others may write; one that others may only read is used, as its files are private.
    """
    make_folder(root)
    found = root.stat()
    if found.st_uid != os.geteuid() and os.geteuid() != 0:
        raise Unavailable(f"{shown(root)} belongs to another user.")
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise Unavailable(f"{shown(root)} may be written by others: chmod go-w {shown(root)}")
    return root

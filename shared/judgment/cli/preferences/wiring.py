"""Where this person's preferences are kept, by the environment. Standard library and kit only."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from judgment.kit.settings import SettingError
from judgment.preferences.local.places import root_of

if TYPE_CHECKING:
    from collections.abc import Mapping

StoreName = Literal["local", "hosted", "fulcra"]
STORES: tuple[StoreName, ...] = ("local", "hosted", "fulcra")


class Place(NamedTuple):
    """`store` keeps the signals; `root` is the folder of this machine's files."""

    store: StoreName
    root: Path


def place() -> Place:
    """What JUDGMENT_PREFS_STORE and JUDGMENT_PREFS_DIR say.

    A hosted store's copy has a folder of its own, so that it is never mixed with local signals.
    Raises SettingError.
    """
    named = os.environ.get("JUDGMENT_PREFS_STORE") or "local"
    if named not in STORES:
        raise SettingError(f"JUDGMENT_PREFS_STORE is one of {', '.join(STORES)}")
    try:
        root = root_of(os.environ).absolute()
    except RuntimeError:
        raise SettingError("HOME is not set: set JUDGMENT_PREFS_DIR") from None
    return Place(named, root / "hosted" if named == "hosted" else root)


def environment() -> Mapping[str, str]:
    """The environment as it is."""
    return os.environ


def program() -> tuple[str, ...]:
    """How this program is called again from anywhere: its absolute path, and `prefs` where it is
    `judgment`. Raises SettingError where there is no such file."""
    called = Path(sys.argv[0]).absolute()
    for path in (called, *(Path(sys.executable).with_name(name) for name in ("prefs", "judgment"))):
        if path.stem in ("prefs", "judgment") and path.is_file():
            return (str(path), "prefs") if path.stem == "judgment" else (str(path),)
    raise SettingError("The commands prefs and judgment are not installed beside this Python")

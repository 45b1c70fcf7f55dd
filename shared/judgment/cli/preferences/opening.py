"""Which store stands behind the commands here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgment.cli.preferences.wiring import place
from judgment.kit.clock import utc_now

if TYPE_CHECKING:
    from judgment.cli.preferences.stores import Store


def opened() -> Store:
    """The store that the environment names. Raises SettingError."""
    found = place()
    if found.store == "hosted":
        from judgment.cli.preferences.hosted import HostedStore
        from judgment.cli.wiring import access

        return HostedStore(found.root, access(), utc_now)
    from judgment.cli.preferences.files import FileStore

    if found.store == "fulcra":
        from judgment.cli.preferences.fulcra import FulcraFiles

        return FulcraFiles(found.root, utc_now)
    return FileStore(found.root, utc_now)

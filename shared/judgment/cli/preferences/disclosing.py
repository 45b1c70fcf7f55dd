"""`get --for`: handing preferences on, by consent and with a line in the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judgment.cli.output import emit, say
from judgment.cli.preferences.opening import opened
from judgment.kit.clock import isoformat, utc_now
from judgment.preferences.documents import view
from judgment.preferences.keys import EVERYTHING, glob_matches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from judgment.cli.preferences.stores import Store

REFUSED = 1


def disclose(audience: str, purpose: str, platform: str | None, globs: Sequence[str]) -> int | None:
    """Print what the audience may see of the keys that `globs` cover; 1 where it may see none.

    What is printed stands in the ledger before it is.
    """
    store = opened()
    keys = _asked(store, platform, globs) if globs else None
    entries, denied = store.disclose(audience, purpose, platform, keys)
    emit(
        {
            "v": 1,
            "audience": audience,
            "purpose": purpose,
            "platform": platform,
            "as_of": isoformat(utc_now()),
            "keys": entries,
        }
    )
    if denied:
        say(f"Not open to {audience}: {len(denied)} of the keys that were asked for.")
    elif not entries:
        say(f"Nothing is open to {audience} for this purpose; the ledger says that it was asked.")
    return None if entries else REFUSED


def _asked(store: Store, platform: str | None, globs: Sequence[str]) -> tuple[str, ...]:
    """The keys of the document that the globs cover, and those that are named outright."""
    document = store.document(platform)
    known = [entry.key for entry in view(document, utc_now())] if document is not None else []
    covered = [key for key in known if any(glob_matches(glob, key) for glob in globs)]
    named = [glob for glob in globs if EVERYTHING not in glob.split(".")]
    return tuple(dict.fromkeys((*named, *covered)))

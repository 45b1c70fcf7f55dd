"""`get` and `inject`: what every session start pays for.

Both read one compiled document of this machine, whatever the store: a session start waits for no
network. Standard library, kit and the pure modules of preferences only.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from judgment.cli.output import emit, say, write
from judgment.cli.preferences.wiring import place
from judgment.kit.clock import isoformat, utc_now
from judgment.kit.errors import InvalidRequest
from judgment.preferences.documents import view
from judgment.preferences.keys import checked_glob, checked_platform, glob_matches
from judgment.preferences.local.reading import read_document

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from judgment.preferences.documents import Entry

REFUSED = 1
UNCOMPILED = "Nothing has been compiled yet: capture a preference, or run `prefs compile`."


def get(
    keys: Sequence[str], platform: str | None, audience: str | None, purpose: str
) -> int | None:
    """Print the document, or the part of it that `keys` cover, weighed now.

    With an audience, what consent opens to it; 1 where that is nothing.
    """
    globs = tuple(checked_glob(key) for key in keys)
    if platform is not None:
        checked_platform(platform)
    if audience is not None:
        from judgment.cli.preferences.disclosing import disclose

        return disclose(audience, purpose, platform, globs)
    if purpose != "read":
        raise InvalidRequest("--purpose says what an audience is shown them for: give --for too.")
    now = utc_now()
    document = read_document(place().root, platform)
    if document is None:
        say(UNCOMPILED)
    emit(shown(document, globs, platform, now))
    return None


def inject(platform: str, form: str) -> None:
    """Print the block for a platform, in the asked form; nothing where there is none.

    Nothing that goes wrong may stop a session from starting: `doctor` says what it was.
    """
    try:
        if text := _spoken(platform, form):
            write(text.removesuffix("\n"))
    except Exception:  # noqa: BLE001  (a hook must not fail its session, whatever is broken)
        return


def shown(
    document: dict[str, Any] | None, globs: Sequence[str], platform: str | None, now: datetime
) -> dict[str, Any]:
    """The document as it reads at `now`: entries that `globs` cover, all of them without any."""
    entries = view(document, now) if document is not None else ()
    return {
        "v": 1,
        "platform": platform,
        "as_of": isoformat(now),
        "compiled_at": None if document is None else document.get("compiled_at"),
        "quarantined": 0 if document is None else document.get("quarantined", 0),
        "keys": {
            entry.key: facts(entry)
            for entry in entries
            if not globs or any(glob_matches(glob, entry.key) for glob in globs)
        },
    }


def facts(entry: Entry) -> dict[str, Any]:
    """An entry as JSON; what is false or empty is left out."""
    found: dict[str, Any] = {
        "value": entry.value,
        "weight": entry.weight,
        "confidence": entry.confidence,
        "observed_at": entry.observed_at.isoformat(),
        "n_signals": entry.n_signals,
        "sources": list(entry.sources),
        "kind": entry.kind,
        "scope": entry.scope,
        "strength": entry.strength,
        "half_life_days": entry.half_life_days,
    }
    if entry.stale:
        found["stale"] = True
    if entry.flags:
        found["flags"] = list(entry.flags)
    if entry.spelling is not None:
        found["spelling"] = entry.spelling
    return found


def _spoken(platform: str, form: str) -> str:
    """What `inject` prints; raises whatever is wrong."""
    from judgment.preferences.block import block

    document = read_document(place().root, checked_platform(platform))
    if document is None:
        return ""
    made = block(document, utc_now(), platform)
    if form == "hook":
        from judgment.preferences.adapters.hooks import heard, spoken

        return spoken(platform, made.text, heard(_event(platform)))
    if form == "text" or not made.text:
        return made.text
    import json

    return json.dumps(
        {
            "platform": platform,
            "text": made.text,
            "characters": made.characters,
            "shown": made.shown,
            "omitted": made.omitted,
            "faded": made.faded,
        }
    )


def _event(platform: str) -> str:
    """What the host wrote to the hook. Only Hermes' is looked at, so only Hermes is waited for."""
    return sys.stdin.read() if platform == "hermes" else ""

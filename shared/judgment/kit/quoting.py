"""Untrusted text as one line of inert data: it ends no fence, opens no tag, moves no cursor."""

from __future__ import annotations

import json
import re
from typing import Any

# Printable by their category, and yet nothing is seen of them: joiners, fillers, variation
# selectors, a blank braille cell. Then what opens or ends a tag or a code fence.
_UNSEEN = (
    "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
    "\U000e0100-\U000e01ef"
)
_HAZARD = re.compile(f"[<>`{_UNSEEN}]")


def quote(value: Any) -> str:
    """A finite JSON value as one line of JSON that reads back as the same value.

    Keys are sorted. Whatever is invisible, breaks a line, turns the direction of writing, or could
    end a fence (`<`, `>`, a backtick) stands as a `\\uXXXX` escape; other letters stand as they
    are. Raises ValueError for NaN and infinity, TypeError for what JSON does not know.
    """
    text = json.dumps(
        value, ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":")
    )
    return escape(text)


def escape(text: str) -> str:
    """`text` with every hazardous character as a `\\uXXXX` escape; safe text comes back as it is.

    Backslashes are left alone, so only text in which they are already escaped, as in JSON, can be
    read back.
    """
    if text.isprintable() and not _HAZARD.search(text):
        return text
    return "".join(c if c.isprintable() and not _HAZARD.match(c) else _escaped(c) for c in text)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i : i + 2].hex()}" for i in range(0, len(units), 2))

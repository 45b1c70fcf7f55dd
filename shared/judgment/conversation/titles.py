"""A conversation's title, taken from what opens it."""

from __future__ import annotations

import unicodedata

TITLE_LIMIT = 80
"""Characters of a title that is made from a message."""
UNTITLED = "New conversation"
_CUT = "..."

_TURNING = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_UNSEEN = frozenset("\u00ad\u034f\u115f\u1160\u17b4\u17b5\u200b\u2060\u2800\u3164\ufeff\uffa0")
_JOINING = ("Mn", "Me", "Cf")
"""Categories of what is nothing to see alone."""


def title_of(text: str) -> str:
    """One line of at most 80 characters from a first message, never empty.

    Runs of white space become one space. Controls, marks that turn the direction of writing, what
    nobody sees, and halves of characters go. A cut ends with `...`.
    """
    line = " ".join("".join(_kept(character) for character in text).split())
    if len(line) > TITLE_LIMIT:
        line = line[: TITLE_LIMIT - len(_CUT)].rstrip() + _CUT
    seen = any(c != " " and unicodedata.category(c) not in _JOINING for c in line)
    return line if seen else UNTITLED


def _kept(character: str) -> str:
    if character.isspace():
        return " "
    if unicodedata.category(character) in ("Cc", "Cs") or character in _TURNING | _UNSEEN:
        return ""
    return character

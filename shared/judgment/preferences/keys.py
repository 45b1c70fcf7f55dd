"""Keys, platforms and globs as an owner writes them: what is one, and what matches.

A key is dot-separated segments; a segment is anything printable, in NFC and case-exact, with single
spaces allowed inside. A glob is a key in which a whole segment may be `*`.
"""

from __future__ import annotations

import re
import unicodedata

from judgment.preferences.model import InvalidSignal

KEY_CHARACTERS = 200
SPELLING_CHARACTERS = 600
PLATFORM_CHARACTERS = 40
EVERYTHING = "*"

_PLAIN = r"[!-)+,\-/-~]+(?: +[!-)+,\-/-~]+)*"
_PLAIN_KEY = re.compile(rf"{_PLAIN}(?:\.{_PLAIN})*")
_PLATFORM = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_GLOB_SYNTAX = frozenset("*?[")


def checked_key(text: object) -> tuple[str, str | None]:
    """The key in NFC, and the spelling it was written in where that differs, else None.

    1 to 200 characters after normalisation; no empty segment, `*`, control, format, surrogate,
    private or unassigned character, and no space but U+0020 inside a segment. Raises InvalidSignal.
    """
    if not isinstance(text, str):
        raise InvalidSignal("key must be a text")
    if len(text) <= KEY_CHARACTERS and _PLAIN_KEY.fullmatch(text):
        return text, None
    if len(text) > SPELLING_CHARACTERS:
        raise InvalidSignal(f"key is longer than {KEY_CHARACTERS} characters")
    key = unicodedata.normalize("NFC", text)
    if len(key) > KEY_CHARACTERS:
        raise InvalidSignal(f"key is longer than {KEY_CHARACTERS} characters")
    for segment in key.split("."):
        _check_segment(segment)
    return key, None if key == text else text


def _check_segment(segment: str) -> None:
    if not segment:
        raise InvalidSignal("key has an empty segment")
    if "*" in segment:
        raise InvalidSignal("key must not hold `*`: that is for globs")
    if segment[0] == " " or segment[-1] == " ":
        raise InvalidSignal("key has a space beside a dot or at its end")
    for character in segment:
        if character != " " and unicodedata.category(character)[0] in "CZ":
            raise InvalidSignal("key holds a character that cannot be printed, or a foreign space")


def checked_platform(name: object) -> str:
    """A platform's name: 1 to 40 of `a-z 0-9 _ -`, not beginning with `_` or `-`, so never a path.

    Raises InvalidSignal.
    """
    if not isinstance(name, str) or not is_platform(name):
        raise InvalidSignal(
            "platform must be 1 to 40 of a-z, 0-9, _ and -, beginning with a letter or digit"
        )
    return name


def is_platform(name: str) -> bool:
    """Whether `checked_platform` would take it."""
    return _PLATFORM.fullmatch(name) is not None


def checked_glob(text: object) -> str:
    """The glob in NFC: segments are literal or exactly `*`. Raises InvalidSignal.

    `*` alone is everything, a last `*` is everything beneath, an inner `*` is one segment.
    """
    if not isinstance(text, str) or len(text) > SPELLING_CHARACTERS:
        raise InvalidSignal(f"glob must be a text of at most {KEY_CHARACTERS} characters")
    glob = unicodedata.normalize("NFC", text)
    if len(glob) > KEY_CHARACTERS:
        raise InvalidSignal(f"glob is longer than {KEY_CHARACTERS} characters")
    for segment in glob.split("."):
        if segment == EVERYTHING:
            continue
        if _GLOB_SYNTAX.intersection(segment):
            raise InvalidSignal("a glob's segment is literal or exactly `*`")
        _check_segment(segment)
    return glob


def glob_matches(glob: str, key: str) -> bool:
    """Whether a checked glob covers a checked key; `dining.*` covers what is beneath, not `dining`.

    >>> glob_matches("dining.*", "dining.cuisine.thai"), glob_matches("dining.*", "diningsecret.x")
    (True, False)
    >>> glob_matches("*.cuisine", "dining.cuisine"), glob_matches("*.cuisine", "a.b.cuisine")
    (True, False)
    """
    if glob == EVERYTHING:
        return True
    wanted = glob.split(".")
    given = key.split(".")
    if wanted[-1] == EVERYTHING:
        if len(given) < len(wanted):
            return False
    elif len(given) != len(wanted):
        return False
    return all(w in (EVERYTHING, g) for w, g in zip(wanted, given, strict=False))

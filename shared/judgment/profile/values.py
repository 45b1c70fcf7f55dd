"""Reading what an older app may have written: every function answers, none raises.

A stored profile is a document of unknown age. Text may be a megabyte, a number may be "NaN", a
list may be an object. Each reader gives the value where it is usable, bounded, and else the
neutral one, so that the rest of the package only ever meets clean values.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import cast

LABEL_LIMIT = 160
NAME_LIMIT = 48
COUNT_LIMIT = 1_000_000_000

_CONTROL = r"\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"
_INVISIBLE = r"\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
# Tags and variation selectors spell whole sentences that a model reads and a person never sees.
_HIDDEN_WRITING = r"\U000e0000-\U000e0fff"
_UNPRINTABLE = re.compile(f"[{_CONTROL}{_INVISIBLE}{_HIDDEN_WRITING}]")
_SPACE = re.compile(r"\s+")
_NOT_NAME = re.compile(r"[^a-z0-9]+")


def number(value: object, low: float = -math.inf, high: float = math.inf) -> float | None:
    """A finite number clamped into [low, high]; numerals in text count, NaN and booleans do not."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        return None
    if isinstance(value, str) and len(value) > 40:
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    if not math.isfinite(found):
        return None
    return min(max(found, low), high)


def count(value: object) -> int:
    """A non-negative whole number, rounded down, at most a milliard; 0 for anything else."""
    found = number(value, 0, COUNT_LIMIT)
    return 0 if found is None else int(found)


def text(value: object, limit: int) -> str | None:
    """Text without control, invisible or surrogate characters, cut to `limit` with an ellipsis.

    None for anything that is not text or has nothing printable. Line breaks stay.
    """
    if not isinstance(value, str):
        return None
    clean = _UNPRINTABLE.sub("", value[: limit * 4 + 64]).strip()
    if len(clean) > limit or len(value) > limit * 4 + 64:
        clean = clean[: limit - 1].rstrip() + "…"
    return clean or None


def label(value: object, limit: int = LABEL_LIMIT) -> str | None:
    """One line of text: as `text`, with every run of white space made one space."""
    if not isinstance(value, str):
        return None
    return text(_SPACE.sub(" ", value[: limit * 4 + 64]), limit)


def name(value: object) -> str | None:
    """A lower-case identifier of letters, digits and underscores, at most 48 long.

    Names of drivers and triggers reach an agent's prompt; nothing that could read as a sentence
    gets through.
    """
    if not isinstance(value, str):
        return None
    found = _NOT_NAME.sub("_", value[:400].lower()).strip("_")[:NAME_LIMIT].strip("_")
    return found or None


def mapping(value: object) -> Mapping[str, object]:
    """The JSON object, or an empty one."""
    return cast("Mapping[str, object]", value) if isinstance(value, dict) else {}


def sequence(value: object) -> Sequence[object]:
    """The list, or an empty one; text is not a list."""
    return cast("Sequence[object]", value) if isinstance(value, list | tuple) else ()


def first(source: Mapping[str, object], *keys: str) -> object:
    """The value of the first key that is present and not null, else None."""
    for key in keys:
        if source.get(key) is not None:
            return source[key]
    return None

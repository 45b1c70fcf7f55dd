"""What a model wrote, as UTF-8 and a database can hold it.

JSON lets a model write NUL, half of a pair of surrogates, and numbers that are none; PostgreSQL
takes none of them. Texts are mended, since a reader loses one character; numbers are refused, since
a tool would be called with another one.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn, cast

DEEPEST = 32
"""Levels of an object: no tool of ours takes more than two, and writing JSON recurses."""


def clean(text: str) -> str:
    """The text with pairs of halves joined; a half alone, and NUL, become U+FFFD."""
    joined = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return joined.replace("\0", "\ufffd")


def read_object(text: str) -> dict[str, Any] | None:
    """The one JSON object that the text is, its texts clean; None where it is none.

    None too where a number is not finite, or the object has more than DEEPEST levels.
    """
    try:
        found: Any = json.loads(text, parse_float=_number, parse_constant=_refuse)
        return _kept(found, DEEPEST) if isinstance(found, dict) else None
    except (ValueError, RecursionError):
        return None


def json_text(value: object) -> str | None:
    """A value that came as JSON as its text again; None where it is too deep to be written."""
    try:
        return json.dumps(value)
    except RecursionError:
        return None


def _kept(value: Any, levels: int) -> Any:
    if isinstance(value, str):
        return clean(value)
    if not isinstance(value, dict | list):
        return value
    if levels == 0:
        raise ValueError("too deep")
    if isinstance(value, dict):
        named = cast("Mapping[str, Any]", value)
        return {clean(name): _kept(inner, levels - 1) for name, inner in named.items()}
    return [_kept(inner, levels - 1) for inner in cast("Sequence[Any]", value)]


def _number(written: str) -> float:
    value = float(written)
    if not math.isfinite(value):
        raise ValueError("a number out of range")
    return value


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)

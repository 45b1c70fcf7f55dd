"""What an owner wants, as data: any finite JSON value of bounded size, never altered."""

from __future__ import annotations

import re
from typing import Any, cast

from judgment.kit.hashing import canonical_json
from judgment.preferences.model import InvalidSignal

VALUE_BYTES = 8 * 1024
VALUE_DEPTH = 32

_UNSAFE = re.compile("[\x00\ud800-\udfff]")
_LONGEST_ESCAPE = 6
_SCALAR_TEXT = 32
"""No number of fewer digits than its type allows takes more characters than this."""
_SAFE_INTEGER = 10**30
_NOT_FINITE = (float("inf"), float("-inf"))


def checked_value(value: Any) -> Any:
    """The same value, if it is JSON: text without NUL and lone surrogates, finite numbers, lists
    and string-keyed objects, at most 32 deep and 8 KiB of UTF-8 in canonical form.

    Raises InvalidSignal.
    """
    most = _longest(value, VALUE_DEPTH)
    if most > VALUE_BYTES:
        try:
            size = len(canonical_json(value).encode())
        except ValueError:  # an integer of more digits than Python will print
            size = VALUE_BYTES + 1
        if size > VALUE_BYTES:
            raise InvalidSignal(f"value is larger than {VALUE_BYTES} bytes")
    return value


def has_unsafe(text: str) -> bool:
    """Whether a text holds what no store can keep: NUL or half of a surrogate pair."""
    if text.isascii():
        return "\0" in text
    return _UNSAFE.search(text) is not None


def _longest(value: object, depth: int) -> int:
    """The most bytes that the value's canonical form can take; refuses what is not JSON."""
    kind = type(value)
    if kind is str:
        text = cast(str, value)
        if has_unsafe(text):
            raise InvalidSignal("value holds a NUL or a lone surrogate")
        return _LONGEST_ESCAPE * len(text) + 2
    if value is None or kind is bool:
        return 5
    if kind is int:
        return (
            _SCALAR_TEXT if -_SAFE_INTEGER < cast(int, value) < _SAFE_INTEGER else VALUE_BYTES + 1
        )
    if kind is float:
        if value != value or value in _NOT_FINITE:
            raise InvalidSignal("value holds a number that is not finite")
        return _SCALAR_TEXT
    if not depth:
        raise InvalidSignal(f"value is deeper than {VALUE_DEPTH}")
    if kind is list:
        return 2 + sum(1 + _longest(item, depth - 1) for item in cast("list[object]", value))
    if kind is dict:
        return 2 + sum(
            2 + _longest(_name(name), 0) + _longest(item, depth - 1)
            for name, item in cast("dict[object, object]", value).items()
        )
    raise InvalidSignal("value must be JSON")


def _name(name: object) -> str:
    if type(name) is not str:
        raise InvalidSignal("value must be JSON: the names in an object are texts")
    return name

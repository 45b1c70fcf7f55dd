"""Whether a value has a shape, exactly: no field missing, none extra, none of another kind."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any
from uuid import UUID


class Matching:
    """A text of this pattern."""

    def __init__(self, pattern: str):
        self._pattern = re.compile(pattern, re.DOTALL)

    def __repr__(self) -> str:
        return self._pattern.pattern

    def fits(self, value: Any) -> bool:
        """Whether a value is such a text."""
        return isinstance(value, str) and self._pattern.fullmatch(value) is not None


class OneOf:
    """One of these shapes."""

    def __init__(self, *shapes: Any):
        self.shapes = shapes

    def __repr__(self) -> str:
        return " | ".join(map(repr, self.shapes))


ANYTHING = Matching("")
"""Whatever is there."""
TIME = Matching(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
SHA256 = Matching("[0-9a-f]{64}")
COMMIT = Matching("[0-9a-f]{40}")
PATH = Matching(r"(?!/)(?!.*\\)(?!(.*/)?\.\.(/|$)).+")
"""Relative to the memory's root."""


def exactly(value: Any, shape: Any, where: str = "it") -> None:
    """Raises AssertionError that says where `value` is not of `shape`.

    A shape is a type, a dict of shapes by key, a list of the one shape of every item, Matching,
    OneOf, or a plain value that must be equal.
    """
    if isinstance(shape, dict):
        assert isinstance(value, dict), f"{where} is no object: {value!r}"
        assert value.keys() == shape.keys(), f"{where} has {sorted(value)}, not {sorted(shape)}"
        for name, inner in shape.items():
            exactly(value[name], inner, f"{where}.{name}")
    elif isinstance(shape, list):
        assert isinstance(value, list), f"{where} is no list: {value!r}"
        for at, item in enumerate(value):
            exactly(item, shape[0], f"{where}[{at}]")
    else:
        assert fits(value, shape), f"{where} is {value!r}, not {shape!r}"


def fits(value: Any, shape: Any) -> bool:
    """The same as a yes or no."""
    if shape is ANYTHING:
        return True
    if isinstance(shape, Matching):
        return shape.fits(value)
    if isinstance(shape, OneOf):
        return any(fits(value, one) for one in shape.shapes)
    if isinstance(shape, type):
        return type(value) is shape
    if isinstance(shape, dict | list):
        try:
            exactly(value, shape)
        except AssertionError:
            return False
        return True
    return type(value) is type(shape) and value == shape


def is_recent(text: str, now: datetime, seconds: float = 120.0) -> bool:
    """Whether a time on the wire is of just now."""
    return abs((now - datetime.fromisoformat(text)).total_seconds()) < seconds


def is_uuid(text: str) -> bool:
    """Whether it is a UUID in its usual form."""
    return str(UUID(text)) == text

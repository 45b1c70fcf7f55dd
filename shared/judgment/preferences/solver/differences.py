"""Where a given JSON value is not the one that follows, in lines that no text in it can forge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

from judgment.preferences.solver.text import shown

MOST = 100
"""Differences named; of more, their number is not worth the reading."""


def named(right: Any, given: Any) -> list[str]:
    """At most MOST differences of a trace, and a word when there are more."""
    found: list[str] = []
    for difference in differences("trace", right, given):
        if len(found) == MOST:
            return [*found, "and more"]
        found.append(difference)
    return found


def is_object(value: Any) -> bool:
    """Whether it is what JSON calls an object."""
    return isinstance(value, dict)


def differences(where: str, right: Any, given: Any) -> Iterator[str]:
    """Each place in which `given` is not `right`; `right` is of JSON values."""
    if isinstance(right, dict):
        expected = cast("dict[str, Any]", right)
        if not is_object(given):
            yield f"{where} is {_kind(given)}, not an object"
            return
        for name in sorted(str(name) for name in given.keys() - expected.keys()):
            yield f"{where}.{shown(name)} does not belong there"
        for name, value in expected.items():
            if name in given:
                yield from differences(f"{where}.{shown(name)}", value, given[name])
            else:
                yield f"{where}.{shown(name)} is missing"
    elif isinstance(right, list):
        items = cast("list[Any]", right)
        if not isinstance(given, list) or len(cast("list[Any]", given)) != len(items):
            yield f"{where} is {_kind(given)}, not a list of {len(items)}"
            return
        for place, (value, other) in enumerate(zip(items, cast("list[Any]", given), strict=True)):
            yield from differences(f"{where}[{place}]", value, other)
    elif not _same(right, given):
        yield f"{where} is {_kind(given)}, and follows as {_kind(right)}"


def _same(right: Any, given: Any) -> bool:
    """Equal and of one kind; 1 and 1.0 are one number, and true is none."""
    if isinstance(right, bool) or isinstance(given, bool):
        return right is given
    if isinstance(right, int | float) and isinstance(given, int | float):
        return right == given
    return type(right) is type(given) and right == given


def _kind(value: Any) -> str:
    """A value as it may stand in a line: a number, a short text, or what it is."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "null"}[value]
    if isinstance(value, int) and value.bit_length() > 64:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return shown(value[:80])
    return f"a list of {len(cast('list[Any]', value))}" if isinstance(value, list) else "an object"

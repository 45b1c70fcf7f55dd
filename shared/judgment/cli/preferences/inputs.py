"""What a caller hands in, read strictly: JSON, files, stdin, and one statement's options."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from judgment.kit.errors import InvalidRequest

STDIN = "-"
_NEVER = ("null", "none")


def parsed(text: str, what: str) -> Any:
    """The JSON value that `text` is. Raises InvalidRequest, naming `what`, for anything else,
    NaN and Infinity included."""
    try:
        return json.loads(text, parse_constant=_refused)
    except (ValueError, RecursionError) as error:
        where = f": line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InvalidRequest(f"{what} is not JSON{where}. A text needs its quotes.") from error


def read_text(name: str, what: str) -> str:
    """The content of a file, or of stdin for `-`, in UTF-8. Raises InvalidRequest."""
    try:
        raw = sys.stdin.buffer.read() if name == STDIN else Path(name).read_bytes()
        return raw.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        raise InvalidRequest(f"{what} cannot be read: {_reason(error)}") from error


def read_json(name: str, what: str) -> Any:
    """The JSON value in a file, or on stdin for `-`. Raises InvalidRequest."""
    return parsed(read_text(name, what), what)


def items(text: str, what: str) -> Iterator[tuple[str, Any]]:
    """The items of a JSON array, or of lines of JSON, each with where it stands.

    Raises InvalidRequest where an item is not JSON. Blank lines are passed over.
    """
    if text.lstrip().startswith("["):
        values = cast("list[Any]", parsed(text, what))
        yield from ((f"item {number}", value) for number, value in enumerate(values, 1))
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield f"line {number}", parsed(line, f"{what}, line {number},")


def half_life(text: str | None) -> dict[str, float | None]:
    """The `half_life_days` of a payload: empty where not given, so that the kind's default stands.

    Raises InvalidRequest unless it is a number or null.
    """
    if text is None:
        return {}
    if text.lower() in _NEVER:
        return {"half_life_days": None}
    try:
        return {"half_life_days": float(text)}
    except ValueError:
        raise InvalidRequest("--half-life is a number of days, or null for never.") from None


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not UTF-8"
    return (error.strerror if isinstance(error, OSError) else None) or "its name is no file name"

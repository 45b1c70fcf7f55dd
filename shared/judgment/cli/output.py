"""What is written: JSON on stdout, everything said to a person on stderr.

Text of others (values, keys, names, answers of an API) is never written so that it could steer a
terminal or end a fence that it is pasted into. Standard library and the kit only.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from judgment.kit.quoting import escape


def emit(value: Any) -> None:
    """Write `value` to stdout as indented JSON; what is invisible or hazardous as `\\uXXXX`."""
    text = json.dumps(value, ensure_ascii=_poor(), indent=2, allow_nan=False)
    write("\n".join(map(escape, text.split("\n"))))


def write(text: str) -> None:
    """Write a line to stdout, and find out now whether anybody reads it."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def say(text: str) -> None:
    """Write a line of status to stderr."""
    print(printable(text), file=sys.stderr)


def printable(text: str) -> str:
    """Text without what could steer a terminal."""
    return "".join(c if c == "\n" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _poor() -> bool:
    """Whether stdout cannot write every letter."""
    return (sys.stdout.encoding or "").lower().replace("-", "") != "utf8"

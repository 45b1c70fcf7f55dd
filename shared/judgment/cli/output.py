"""What is written: JSON on stdout, everything said to a person on stderr.

Text of others (values, keys, names, answers of an API) is never written so that it could steer a
terminal: control, bidirectional and other invisible characters are escaped. Standard library only.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import Any, TextIO


def emit(value: Any) -> None:
    """Write `value` to stdout as indented JSON; what a terminal would obey as `\\uXXXX`."""
    text = json.dumps(value, ensure_ascii=_poor(), indent=2, allow_nan=False)
    write("\n".join(map(_escaped, text.split("\n"))))


def write(text: str, end: str = "\n") -> None:
    """Write a line to stdout, or with another `end` a piece of one, and find out now whether it
    arrives. Raises OSError where not."""
    out = sys.stdout
    if out is None:  # started with stdout closed: nobody is there to read
        return
    try:
        try:
            out.write(text + end)
        except UnicodeEncodeError:
            poor = out.encoding or "ascii"
            out.write(text.encode(poor, "backslashreplace").decode(poor) + end)
        out.flush()
    except OSError:
        _let_go(out)
        raise


def say(text: str) -> None:
    """Write a line of status to stderr."""
    print(printable(text), file=sys.stderr)


def printable(text: str) -> str:
    """Text without what could steer a terminal."""
    return "".join(c if c == "\n" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def _escaped(line: str) -> str:
    """A line of JSON with each character that cannot be printed as JSON escapes it."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def _let_go(out: TextIO) -> None:
    """Write what is left nowhere, so that Python does not fail over it once more at its end."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())


def _poor() -> bool:
    """Whether stdout cannot write every letter."""
    encoding = getattr(sys.stdout, "encoding", None) or ""
    return encoding.lower().replace("-", "") != "utf8"

"""How an id, a key or a title stands in a line, so that no text can pass for another line."""

from __future__ import annotations

import re

_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@/+-]*")
_NAMED = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def shown(text: str) -> str:
    """`text` bare where it is one plain word, else quoted."""
    return text if _PLAIN.fullmatch(text) else quoted(text)


def quoted(text: str) -> str:
    """`text` in double quotes, escaped.

    Between them nothing is left that breaks a line, moves the cursor or turns the direction of
    writing; what a reader sees there is one name.
    """
    return '"' + "".join(_NAMED.get(one) or _visible(one) for one in text) + '"'


def listed(texts: list[str] | tuple[str, ...], most: int = 10) -> str:
    """The first `most` of them, shown, and how many more there are."""
    more = f" and {len(texts) - most} more" if len(texts) > most else ""
    return ", ".join(shown(text) for text in texts[:most]) + more


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    point = ord(character)
    return f"\\u{point:04x}" if point < 0x10000 else f"\\U{point:08x}"

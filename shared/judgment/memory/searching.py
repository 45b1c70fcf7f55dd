"""Finding lines in a memory, within bounds that a model's window can take.

A line matches that holds the query, whatever the case of its letters; nothing is a pattern.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

MOST_MATCHES = 50
LINE_CHARACTERS = 500
TOTAL_CHARACTERS = 20_000
"""The reference's bounds of its in-process search (§2)."""


def matches(query: str, texts: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """`{"matches": [{path, line, content}]}` of path and text pairs, in their order.

    Where bounds left some out, `omitted_matches` counts them and `limits` says why.
    """
    wanted = query.casefold()
    kept: list[dict[str, Any]] = []
    size = omitted = 0
    for path, text in texts:
        if wanted not in text.casefold():
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if wanted not in line.casefold():
                continue
            shown = line.strip()[:LINE_CHARACTERS]
            if len(kept) == MOST_MATCHES or size + len(shown) > TOTAL_CHARACTERS:
                omitted += 1
                continue
            size += len(shown)
            kept.append({"path": path, "line": number, "content": shown})
    if not omitted:
        return {"matches": kept}
    limits = {
        "matches": MOST_MATCHES,
        "line_characters": LINE_CHARACTERS,
        "total_characters": TOTAL_CHARACTERS,
    }
    return {"matches": kept, "omitted_matches": omitted, "limits": limits}

"""Finding lines in a memory, within bounds that a model's window can take.

A line matches that holds the query, whatever the case of its letters; nothing is a pattern. It is
told as it stands, so that it can be handed to an edit.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

MOST_MATCHES = 50
LINE_CHARACTERS = 500
TOTAL_CHARACTERS = 20_000
"""The reference's bounds of its in-process search (§2)."""
CUT = "[...]"


def matches(query: str, texts: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """`{"matches": [{path, line, content}]}` of path and text pairs, in their order.

    `line` counts from 1. Of a long line the part around the match is told, CUT where it was cut.
    Where bounds left matches out, `omitted_matches` counts them and `limits` says why.
    """
    wanted = query.casefold()
    kept: list[dict[str, Any]] = []
    size = omitted = 0
    for path, text in texts:
        if wanted not in text.casefold():
            continue
        for number, line in enumerate(text.split("\n"), 1):
            at = line.casefold().find(wanted)
            if at < 0:
                continue
            shown = _shown(line.removesuffix("\r"), at, len(query))
            if omitted or len(kept) == MOST_MATCHES or size + len(shown) > TOTAL_CHARACTERS:
                omitted += 1
                continue
            size += len(shown)
            kept.append({"path": path, "line": number, "content": shown})
    if not omitted:
        return {"matches": kept}
    limits = {
        "max_matches": MOST_MATCHES,
        "max_match_content_chars": LINE_CHARACTERS,
        "max_total_content_chars": TOTAL_CHARACTERS,
    }
    return {"matches": kept, "omitted_matches": omitted, "limits": limits}


def _shown(line: str, at: int, length: int) -> str:
    if len(line) <= LINE_CHARACTERS:
        return line
    room = LINE_CHARACTERS - 2 * len(CUT)
    start = max(0, min(at - max(0, room - length) // 2, len(line) - room))
    end = start + room
    return (CUT if start else "") + line[start:end] + (CUT if end < len(line) else "")

"""What an owner's own words show, by word lists and no model.

Names leave this module, never text: a rationale can name a style or a driver and nothing else.
English only; what is written in another language matches nothing and is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable

STYLE_WORDS = {
    "principled": "principle",
    "consequence": "consequences",
    "people": "concern for people",
    "evidence": "evidence",
    "precedent": "precedent",
    "intuition": "intuition",
}
"""Each style as a sentence names it: "argues from …"."""
STYLES: tuple[str, ...] = tuple(STYLE_WORDS)
"""The styles of reasoning that `style_of` can name."""


def style_of(rationale: str) -> str | None:
    """The style with most cues in the rationale, or None where none matches or two tie."""
    del rationale
    return None


def drivers_in(rationale: str, names: Iterable[str]) -> frozenset[str]:
    """Those of the named drivers that the rationale speaks of, on either side of them."""
    del rationale, names
    return frozenset()

"""How much one result may hold, and what goes first when there is more.

Clients cut or drop long results without a word to the model, the strictest after about 10,000
tokens; one shows text and structure both. A result of at most `RESULT_LIMIT` bytes stays below
that, and whatever it leaves out it says.
"""

from __future__ import annotations

import re

from pydantic import BaseModel

from judgment.contract.preferences import Preferences, Solved, Why
from judgment.kit.errors import TooLarge

RESULT_LIMIT = 24_000
"""Bytes of a result's text. One entry with the largest value there may be is below it."""

# What does not show, or changes how its neighbours show: a reader must see what a model sees.
_UNSEEN = re.compile(
    "[\x7f-\x9f\xad\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u180e\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def as_text(result: BaseModel) -> str:
    """The result as compact JSON whose invisible and direction-changing characters are escaped."""
    return _UNSEEN.sub(_escaped, result.model_dump_json())


def fits(result: BaseModel) -> bool:
    """Whether the result may be passed on whole."""
    return _size(result) <= RESULT_LIMIT


def fitting_entries(page: Preferences) -> int:
    """How many of the page's leading entries fit, at least 1."""
    room = RESULT_LIMIT - _size(page.model_copy(update={"entries": [], "next_cursor": "c" * 512}))
    count = 0
    for entry in page.entries:
        room -= _size(entry) + 1
        if room < 0:
            break
        count += 1
    return max(count, 1)


def shortened(result: BaseModel) -> BaseModel:
    """The result with less in it where it does not fit. Raises TooLarge where that cannot be."""
    if fits(result):
        return result
    if isinstance(result, Why):
        result = _with_fewer_candidates(result)
    if isinstance(result, Solved):
        result = _without_trace(result)
    if not fits(result):
        raise TooLarge(
            f"The answer is over {RESULT_LIMIT} bytes. Ask for less: a smaller limit, "
            "a narrower key, fewer options."
        )
    return result


def _with_fewer_candidates(why: Why) -> Why:
    """The last ones go; `omitted` counts them."""
    room = RESULT_LIMIT - _size(why.model_copy(update={"candidates": [], "omitted": 10**9}))
    kept = 0
    for candidate in why.candidates:
        room -= _size(candidate) + 1
        if room < 0:
            break
        kept += 1
    omitted = why.omitted + len(why.candidates) - kept
    return why.model_copy(update={"candidates": why.candidates[:kept], "omitted": omitted})


def _without_trace(solved: Solved) -> Solved:
    note = (
        f"The trace is left out here, because the answer would be {_size(solved)} bytes. "
        "POST /api/agent/v1/preferences/solve with the same arguments gives it whole."
    )
    return solved.model_copy(update={"trace": {}, "words": [note]})


def _size(result: BaseModel) -> int:
    return len(as_text(result).encode("utf-8", "surrogatepass"))


def _escaped(found: re.Match[str]) -> str:
    code = ord(found.group())
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"

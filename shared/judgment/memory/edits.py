"""Changes of a text that a model asks for: an edit that has one place, a file that is whole.

An edit's `find` stands exactly once and its `replace` is taken as it is: no pattern, no `$&`
(reference §2, of whose servers one edits the first of several places and both expand `$`).
"""

from __future__ import annotations

import re

from judgment.memory.model import MemoryFailure

FILE_BYTES = 1024 * 1024
"""The largest file that a tool or an owner writes."""
COUNTED = 100
"""How many places of an edit's `find` are counted: of a long one, each costs a look."""
_LINE = 200
"""A line that stands for others is short."""

_REST = r"(?:rest|remaining|remainder|existing|previous|original|earlier)"
_LEFT_OUT = rf"(?:{_REST}|everything\ else|all\ other|other|same)"
_TEXT = (
    r"(?:contents?|text|code|file|document|sections?|lines?|entries|paragraphs?|plan|list|page|spec"
    r"|journal|profile)"
)
_KEPT = (
    r"(?:unchanged|unmodified|untouched|intact|omitted|the\ same|same\ as\ (?:before|above)"
    r"|as\ (?:it\ )?(?:before|above|is|was)|as-is|stays?|remains?|continues?|here|not\ shown)"
)
_ELIDED = re.compile(
    rf"""[\W_]*                                        # a bracket, an ellipsis, a comment's begin
        (?:(?:keep|keeping|leave|with)\ )?(?:the\ )?
        (?: {_LEFT_OUT}\b[^.!?]{{0,60}}?\b{_KEPT}
          | {_REST}\ (?:of\ )?(?:(?:the|your|this)\ )?{_TEXT}
          | (?:{_TEXT}\ )?(?:unchanged|omitted) )
        (?:\ for\ (?:brevity|clarity|now))?
        [\W_]*""",
    re.IGNORECASE | re.VERBOSE,
)
_DECORATED = re.compile(r"(?:[>*_-]+\s*)*")
_MARKED = re.compile(r"\[(?![ x]\])|[({<]|\.{3}|…|//|/\*|(?:#+|--)\s*(?:\.{3}|…|\[)", re.IGNORECASE)
"""How a placeholder begins, after marks of Markdown; `[ ]` and `[x]` begin a task."""


def edited(text: str, find: str, replace: str) -> str:
    """`text` with its one `find` replaced. Raises MemoryFailure `invalid_input`."""
    if not find:
        raise MemoryFailure("invalid_input", "find is empty.")
    count = occurrences(text, find)
    if count == 0:
        raise MemoryFailure("invalid_input", "find: not found in the file; read it again.")
    if count > 1:
        times = f"{count} times" if count < COUNTED else f"at least {COUNTED} times"
        raise MemoryFailure("invalid_input", f"find appears {times}; add surrounding context")
    before, _, after = text.partition(find)
    return before + replace + after


def occurrences(text: str, find: str) -> int:
    """How often `find` stands in `text`, one that overlaps another included; at most COUNTED."""
    count, at = 0, text.find(find)
    while at >= 0 and count < COUNTED:
        count += 1
        at = text.find(find, at + 1)
    return count


def elided(text: str, before: str = "") -> str | None:
    """The line that stands for text that was left out, as in `[rest unchanged]`; None without.

    A line that was in the file `before` is the owner's own.
    """
    known: set[str] | None = None
    for line in text.split("\n"):
        said = line.strip()
        if len(said) > _LINE or not _stands_for_others(said):
            continue
        if known is None:
            known = {one.strip() for one in before.split("\n")}
        if said not in known:
            return said
    return None


def _stands_for_others(line: str) -> bool:
    begin = _DECORATED.match(line)
    bare = line[begin.end() :] if begin else line
    return bool(_MARKED.match(bare) and _ELIDED.fullmatch(bare))


def encoded(text: str) -> bytes:
    """The bytes of a file with that text. Raises MemoryFailure for what no text file holds."""
    if not is_storable(text):
        raise MemoryFailure("invalid_input", "A text file holds no NUL and no half characters.")
    content = text.encode()
    if len(content) > FILE_BYTES:
        raise MemoryFailure("invalid_input", f"A file has at most {FILE_BYTES} bytes.")
    return content


def decoded(content: bytes) -> str:
    """The text of a file. Raises MemoryFailure where it is none."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise MemoryFailure("invalid_input", "The file is not text.")
    return text


def is_storable(text: str) -> bool:
    """Whether a text column and a text file can hold it: no NUL, no lone surrogate."""
    return not _UNSTORABLE.search(text)


_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

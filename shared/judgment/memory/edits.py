"""Changes of a text that a model asks for: an edit that has one place, a file that is whole.

An edit's `find` stands exactly once and its `replace` is taken as it is: no pattern, no `$&`
(reference §2, of whose servers one edits the first of several places and both expand `$`).
"""

from __future__ import annotations

import re

from judgment.memory.model import MemoryFailure

FILE_BYTES = 1024 * 1024
"""The largest file that a tool or an owner writes."""

_WORDS = r"(?:rest|remaining|remainder|everything else|other sections?|existing|previous|original)"
_KEPT = r"(?:unchanged|the same|same as before|as before|omitted|stays|remains|here|not shown)"
_ELIDED = re.compile(
    rf"""^\W*                                   # a bracket, an ellipsis, a comment's beginning
        (?:\.{{3}}|…)?\W*
        (?:(?:the\ )?{_WORDS}\b[^.!?\n]{{0,60}}?\b{_KEPT}|{_WORDS}\ (?:content|text|file|sections?))
        \W*(?:\.{{3}}|…)?\W*$""",
    re.IGNORECASE | re.VERBOSE,
)
_MARKED = re.compile(r"^\s*(?:[\[({<]|\.{3}|…|//|#\s*\.{3}|#\s*…|--\s*\.{3}|\*\s*\.{3})")


def edited(text: str, find: str, replace: str) -> str:
    """`text` with its one `find` replaced. Raises MemoryFailure `invalid_input`."""
    if not find:
        raise MemoryFailure("invalid_input", "find is empty.")
    count = occurrences(text, find)
    if count == 0:
        raise MemoryFailure("invalid_input", "find is not in the file; read it again.")
    if count > 1:
        raise MemoryFailure("invalid_input", f"find appears {count} times; add surrounding context")
    before, _, after = text.partition(find)
    return before + replace + after


def occurrences(text: str, find: str) -> int:
    """How often `find` stands in `text`, one that overlaps another included."""
    count, at = 0, text.find(find)
    while at >= 0:
        count += 1
        at = text.find(find, at + 1)
    return count


def elided(text: str) -> str | None:
    """The line that stands for text that was left out, as in `[rest unchanged]`; None without."""
    for line in text.splitlines():
        if len(line) <= 200 and _MARKED.match(line) and _ELIDED.match(line):
            return line.strip()
    return None


def encoded(text: str) -> bytes:
    """The bytes of a file with that text. Raises MemoryFailure for what no text file holds."""
    if "\0" in text:
        raise MemoryFailure("invalid_input", "A text file holds no NUL.")
    try:
        content = text.encode("utf-8")
    except UnicodeEncodeError:
        raise MemoryFailure("invalid_input", "The text holds half a character.") from None
    if len(content) > FILE_BYTES:
        raise MemoryFailure("invalid_input", f"A file has at most {FILE_BYTES} bytes.")
    return content


def decoded(content: bytes) -> str:
    """The text of a file. Raises MemoryFailure where it is none."""
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise MemoryFailure("invalid_input", "The file is not text.") from None

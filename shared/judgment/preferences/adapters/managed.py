"""A block of ours in a Markdown file that belongs to somebody: put in, replaced, taken out.

Pure functions of the file's text. The block stands between two marks, each alone on its line; what
is outside them is never touched. Marks inside a code fence are somebody's example and no marks.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from judgment.kit.errors import Conflict

_NAME = "judgment-preferences"
BEGIN = f"<!-- {_NAME}:begin (managed: what is written between the marks is lost) -->"
BEGIN_OWN_FILE = f"<!-- {_NAME}:begin (managed, as is this file: it goes with the block) -->"
END = f"<!-- {_NAME}:end -->"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


@dataclass(frozen=True, slots=True)
class _Found:
    """Lines of a text, the places of the two marks among them, and whether a fence never ends."""

    lines: list[str]
    marks: tuple[int, int] | None
    in_fence: bool


def with_block(text: str | None, block: str) -> str:
    """The text with the block in it: where it stands, else at the end. None is a new file.

    `block` must not hold a mark. Line ends are those of the text. Raises Conflict where marks are
    missing, doubled or nested, and where a code fence that never ends would swallow the block.
    """
    body = block.rstrip().split("\n")
    if not text:
        return "\n".join([BEGIN_OWN_FILE if text is None else BEGIN, *body, END, ""])
    found = _find(text)
    if found.marks:
        begin, end = found.marks
        body = [line + _return(found.lines[begin]) for line in body]
        return "\n".join([*found.lines[: begin + 1], *body, *found.lines[end:]])
    if found.in_fence:
        raise Conflict("A code fence in it never ends. It was left as it is.")
    newline = "\r\n" if "\r\n" in text else "\n"
    return text + newline.join(["", BEGIN, *body, END, ""])


def without_block(text: str | None) -> str | None:
    """The text as it was before; None where the file was made for the block and holds no more.

    Raises Conflict where marks are missing, doubled or nested.
    """
    found = _find(text or "")
    if text is None or not found.marks:
        return text
    begin, end = found.marks
    before = "".join(line + "\n" for line in found.lines[:begin])
    after = "\n".join(found.lines[end + 1 :])
    if not after:
        before = before.removesuffix(_return(found.lines[begin]) + "\n")
    made_by_us = found.lines[begin].rstrip("\r") == BEGIN_OWN_FILE
    return None if made_by_us and not (before + after).strip() else before + after


def _return(line: str) -> str:
    """The carriage return at the end of a line, if it has one."""
    return "\r" if line.endswith("\r") else ""


def _find(text: str) -> _Found:
    """Raises Conflict unless there is one begin before one end, or neither."""
    lines = text.split("\n")
    begins: list[int] = []
    ends: list[int] = []
    fence = ""
    for place, line in enumerate(lines):
        bare = line.rstrip("\r")
        opened = _FENCE.fullmatch(bare)
        if fence:
            if opened and not opened[2].strip() and opened[1].startswith(fence):
                fence = ""
        elif opened and not (opened[1][0] == "`" and "`" in opened[2]):
            fence = opened[1]
        elif bare in (BEGIN, BEGIN_OWN_FILE):
            begins.append(place)
        elif bare == END:
            ends.append(place)
    if not begins and not ends:
        return _Found(lines, None, bool(fence))
    if len(begins) != 1 or len(ends) != 1 or begins[0] > ends[0]:
        raise Conflict(
            f"Its marks do not pair up ({len(begins)} begin, {len(ends)} end). "
            "It was left as it is."
        )
    return _Found(lines, (begins[0], ends[0]), bool(fence))

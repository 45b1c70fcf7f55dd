"""What a conversation has seen of files: path to digest, drawn from its own record.

A later turn writes over a file only as this conversation last saw it, so that an owner's edit
between two turns is not lost to what the model remembers. Of a file that it never saw, or whose
digest cannot be drawn from the record any more, nothing is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from judgment.conversation.model import ToolRecord
from judgment.kit.hashing import sha256_hex
from judgment.memory.edits import edited
from judgment.memory.model import MemoryFailure

if TYPE_CHECKING:
    from judgment.conversation.model import Message

_NAMES = ("memory_read", "memory_write", "memory_edit", "memory_delete")


def known(messages: Sequence[Message]) -> dict[str, str | None]:
    """Digests by path; None for a file that the conversation deleted."""
    texts: dict[str, str | None] = {}
    for message in messages:
        record = ToolRecord.from_content(message.id, message.content)
        if message.role == "tool" and record and record.status == "ok" and record.name in _NAMES:
            _learn(texts, record)
    return {path: None if text is None else sha256_hex(text) for path, text in texts.items()}


def _learn(texts: dict[str, str | None], record: ToolRecord) -> None:
    output: dict[str, Any] = {}
    if isinstance(record.output, dict):
        output = cast("dict[str, Any]", record.output)
    path, given = output.get("path"), record.input
    if not isinstance(path, str):
        return
    if record.name == "memory_delete":
        below = path + "/"
        for one in [one for one in texts if one == path or one.startswith(below)]:
            texts[one] = None
    elif record.name == "memory_edit":
        _edit(texts, path, given.get("find"), given.get("replace"))
    else:
        text = output.get("content") if record.name == "memory_read" else given.get("content")
        if isinstance(text, str):
            texts[path] = text


def _edit(texts: dict[str, str | None], path: str, find: object, replace: object) -> None:
    """The text as the edit left it; forgotten where that cannot be told."""
    text = texts.pop(path, None)
    if text is None or not isinstance(find, str) or not isinstance(replace, str):
        return
    try:
        texts[path] = edited(text, find, replace)
    except MemoryFailure:
        return

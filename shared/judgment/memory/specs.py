"""What a model is told of the memory's tools: the reference's names and inputs (§2), our words."""

from __future__ import annotations

from typing import Any

from judgment.memory.model import ToolSpec

_TEXT: dict[str, Any] = {"type": "string"}
_FLAG: dict[str, Any] = {"type": "boolean"}


def _spec(
    name: str, about: str, *, needs: tuple[str, ...] = (), writes: bool = False, **takes: Any
) -> ToolSpec:
    schema: dict[str, Any] = {"type": "object", "properties": takes}
    if needs:
        schema["required"] = list(needs)
    return ToolSpec(name, about, schema | {"additionalProperties": False}, writes)


MEMORY_TOOLS: tuple[ToolSpec, ...] = (
    _spec("memory_read", "Read a file of the owner's memory.", needs=("path",), path=_TEXT),
    _spec(
        "memory_write",
        "Write a whole file. To change part of one, use memory_edit.",
        needs=("path", "content"),
        writes=True,
        path=_TEXT,
        content=_TEXT,
    ),
    _spec(
        "memory_edit",
        "Replace a passage that stands in the file exactly once; give enough of it.",
        needs=("path", "find", "replace"),
        writes=True,
        path=_TEXT,
        find=_TEXT,
        replace=_TEXT,
    ),
    _spec(
        "memory_delete",
        "Delete a file, or a folder with all in it.",
        needs=("path",),
        writes=True,
        path=_TEXT,
    ),
    _spec("memory_list", "List a folder; without path, the root.", path=_TEXT),
    _spec(
        "memory_search",
        "Find lines that hold a text, in all files or below path.",
        needs=("query",),
        query=_TEXT,
        path=_TEXT,
        include_conversations=_FLAG,
    ),
    _spec(
        "memory_history",
        "List the versions of a file; with commit, what it was before that one.",
        needs=("path",),
        path=_TEXT,
        commit=_TEXT,
    ),
    _spec("memory_export", "Say where the owner can fetch the whole memory."),
)
"""The eight, in the reference's order. All paths are relative to the memory's root."""

"""What a model is told of the memory's tools, and whether what it calls one with fits.

Names and inputs are the reference's (§2), the words are ours and few: they count in every window.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from judgment.memory.edits import is_storable
from judgment.memory.model import MemoryFailure, ToolSpec
from judgment.memory.paths import OWNER_PROFILE_FILE

QUERY_CHARACTERS = 500
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_KINDS = {"string": str, "boolean": bool}
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
    _spec(
        "memory_read",
        f"Read a file of the owner's memory. Paths are like {OWNER_PROFILE_FILE}.",
        needs=("path",),
        path=_TEXT,
    ),
    _spec(
        "memory_write",
        "Write a whole file, nothing left out. To change a part, use memory_edit.",
        needs=("path", "content"),
        writes=True,
        path=_TEXT,
        content=_TEXT,
    ),
    _spec(
        "memory_edit",
        "Replace one passage. find: copied exactly, with enough around it to be there only once.",
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
        "List the changes of a file; with commit, also the file as that change left it.",
        needs=("path",),
        path=_TEXT,
        commit=_TEXT,
    ),
    _spec("memory_export", "Say where the owner can fetch the whole memory."),
)
"""The eight, in the reference's order. All paths are relative to the memory's root."""


def spec(name: str) -> ToolSpec:
    """The tool of that name. Raises MemoryFailure `invalid_input`."""
    for one in MEMORY_TOOLS:
        if one.name == name:
            return one
    raise MemoryFailure("invalid_input", f"There is no tool {name[:50]!r}.")


def checked(tool: ToolSpec, given: Mapping[str, Any]) -> dict[str, Any]:
    """The input as the tool's schema has it; null counts as absent.

    Raises MemoryFailure `invalid_input` that names the key.
    """
    takes = tool.parameters["properties"]
    for name in given:
        if name not in takes:
            raise _invalid(f"{tool.name} has no {name[:50]!r}; it takes {_listed(takes)}.")
    kept = {name: value for name, value in given.items() if value is not None}
    for name in tool.parameters.get("required", ()):
        if name not in kept:
            raise _invalid(f"{tool.name} needs {name}.")
    for name, value in kept.items():
        kind = takes[name]["type"]
        if not isinstance(value, _KINDS[kind]):
            raise _invalid(f"{name} must be a {kind}.")
        if name != "path" and isinstance(value, str) and not is_storable(value):
            raise _invalid(f"{name} holds a NUL or half a character.")
    _check_query(kept.get("query"))
    if not _COMMIT.fullmatch(kept.get("commit", "0" * 40)):
        raise _invalid("commit must be an id from the history: 40 digits, or the first 7 or more.")
    return kept


def _check_query(query: str | None) -> None:
    if query is None:
        return
    if not query.strip():
        raise _invalid("query is empty.")
    if len(query) > QUERY_CHARACTERS or "\n" in query:
        raise _invalid(f"query must be one line of at most {QUERY_CHARACTERS} characters.")


def _listed(names: Mapping[str, Any]) -> str:
    return ", ".join(names) or "nothing"


def _invalid(message: str) -> MemoryFailure:
    return MemoryFailure("invalid_input", message)

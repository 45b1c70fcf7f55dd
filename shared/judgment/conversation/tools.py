"""The tools of a turn: those of the memory, and the list of pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from judgment.conversation import store
from judgment.conversation.formats import manifest_entry
from judgment.llm.chat import ToolOffer
from judgment.memory.edits import FILE_BYTES
from judgment.memory.model import MemoryFailure, ToolSpec
from judgment.memory.tools import MEMORY_TOOLS, MemoryTools, Prepared, Ran

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

PROJECT_LIST = ToolSpec(
    "project_list",
    "List the owner's pages with their ids and names.",
    {"type": "object", "properties": {}, "additionalProperties": False},
    writes=False,
)
TOOLS: tuple[ToolSpec, ...] = (*MEMORY_TOOLS, PROJECT_LIST)
OFFERS: tuple[ToolOffer, ...] = tuple(
    ToolOffer(tool.name, tool.description, tool.parameters) for tool in TOOLS
)
MOST_CHARACTERS = FILE_BYTES + 64 * 1024
"""Of what a tool gives. An import may hold larger files than a tool writes, and a conversation's
file holds what was read in it: each read would be stored, and read with it the next time."""

Digests = Mapping[str, str | None]


class TurnTools:
    """`prepare` says what a call would touch, `run` carries it out; both in a transaction."""

    def __init__(self, memory: MemoryTools):
        self._memory = memory

    def prepare(
        self, tx: Transaction, user_id: UUID, name: str, given: Mapping[str, Any], seen: Digests
    ) -> Prepared:
        """The call, checked, with the digests that it rests on. Raises MemoryFailure."""
        if name != PROJECT_LIST.name:
            return self._memory.prepare(tx, user_id, name, given, seen)
        if given:
            raise MemoryFailure("invalid_input", "project_list takes no input.")
        return Prepared(name=name, arguments={}, path="", expected={}, writes=False)

    def run(
        self, tx: Transaction, user_id: UUID, prepared: Prepared, expected: Digests | None = None
    ) -> Ran:
        """Carry it out, where `expected` (else what was prepared) still holds.

        Raises MemoryFailure, and then nothing has changed.
        """
        if prepared.name != PROJECT_LIST.name:
            ran = self._memory.run(tx, user_id, prepared, expected)
            if not prepared.writes and _characters(ran.output) > MOST_CHARACTERS:
                raise MemoryFailure("invalid_input", "That is too long to be given. Search in it.")
            return ran
        pages = [manifest_entry(page) for page in store.projects(tx, user_id)]
        return Ran(output={"projects": pages}, seen={})


def _characters(value: Any) -> int:
    """How many characters its texts have, whatever holds them."""
    if isinstance(value, str):
        return len(value)
    held = cast("Mapping[str, Any]", value).values() if isinstance(value, dict) else value
    return sum(map(_characters, cast("list[Any]", held))) if isinstance(value, dict | list) else 0

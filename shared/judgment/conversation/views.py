"""Conversations and pages as files of the memory: readable there, written by nobody."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.conversation import store
from judgment.conversation.formats import render_conversation, render_index, render_projects

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

FOLDER = "conversations/"
INDEX = "conversations/index.json"
MANIFEST = "documents/projects.json"
_SUFFIX = ".md"


class ConversationViews:
    """`judgment.memory.model.View` over the rows of conversations and pages (reference §7)."""

    def paths(self, tx: Transaction, user_id: UUID) -> Sequence[str]:
        """The index, the manifest, and a file for each conversation."""
        said = store.conversations(tx, user_id)
        return sorted([INDEX, MANIFEST, *(f"{FOLDER}{one.id}{_SUFFIX}" for one in said)])

    def read(self, tx: Transaction, user_id: UUID, path: str) -> bytes | None:
        """One of them as it would be now; None for any other path."""
        if path == INDEX:
            return render_index(store.conversations(tx, user_id)).encode()
        if path == MANIFEST:
            return render_projects(store.projects(tx, user_id)).encode()
        if not (path.startswith(FOLDER) and path.endswith(_SUFFIX)):
            return None
        name = path.removeprefix(FOLDER).removesuffix(_SUFFIX)
        found = store.conversation(tx, user_id, name)
        if found is None:
            return None
        return render_conversation(found, store.messages(tx, user_id, name)).encode()

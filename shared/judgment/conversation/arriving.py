"""Conversations and pages out of a memory that is imported: files read into rows.

What the owner has stays: a conversation is brought where there is none of its id, and grows where
the file goes on where it ends; a page keeps its name, and gets a conversation where it has none.
A file that is damaged, or of another kind, is no error: it is kept as a file, and nothing more.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar
from uuid import UUID

from judgment.conversation import pages, store
from judgment.conversation.formats import (
    DamagedFile,
    parse_conversation,
    parse_index,
    parse_projects,
)
from judgment.conversation.views import FOLDER, INDEX, MANIFEST, conversation_at

if TYPE_CHECKING:
    from judgment.conversation.model import Conversation, Message, Project
    from judgment.db.connection import Transaction

Parsed = TypeVar("Parsed")


def arrived(tx: Transaction, user_id: UUID, brought: Mapping[str, bytes]) -> int:
    """Take in what the files of an import say, path to bytes; how many conversations that are new
    or have grown. The caller holds the memory's state."""
    count = 0
    for path in brought:
        name = conversation_at(path)
        read = None if name is None else _parsed(parse_conversation, brought[path])
        if read is not None and read[0].id == name:
            count += _conversation(tx, user_id, *read)
    for page in (MANIFEST in brought and _parsed(parse_projects, brought[MANIFEST])) or ():
        _page(tx, user_id, page)
    return count


def says_the_same(path: str, stored: bytes, rendered: bytes) -> bool:
    """Whether a stored file tells what the view at its path tells, whatever the bytes."""
    if path == INDEX:
        return _equal(parse_index, stored, rendered)
    if path == MANIFEST:
        return _equal(parse_projects, stored, rendered)
    return path.startswith(FOLDER) and _equal(parse_conversation, stored, rendered)


def _conversation(
    tx: Transaction, user_id: UUID, brought: Conversation, said: tuple[Message, ...]
) -> bool:
    if store.bring_conversation(tx, user_id, brought, said):
        return True
    known = store.messages(tx, user_id, brought.id)
    told = [(one.id, one.role, one.content) for one in said]
    if [(one.id, one.role, one.content) for one in known] != told[: len(known)]:
        return False
    more = said[len(known) :]
    for one in more:
        store.append(
            tx,
            user_id,
            brought.id,
            id=one.id,
            turn_id=one.turn_id,
            role=one.role,
            content=one.content,
            at=one.sent_at,
        )
    return bool(more)


def _page(tx: Transaction, user_id: UUID, page: Project) -> None:
    name = pages.canonical_id(page.id)
    store.add_project(tx, user_id, name, page.name, page.icon, page.default_skill_ids)
    there = store.project(tx, user_id, name)
    if there is None or there.conversation_id is not None or page.conversation_id is None:
        return
    if store.conversation(tx, user_id, page.conversation_id) is not None:
        store.attach(tx, user_id, name, page.conversation_id)


def _parsed(parse: Callable[[str], Parsed], content: bytes) -> Parsed | None:
    try:
        return parse(content.decode("utf-8"))
    except (DamagedFile, UnicodeDecodeError):
        return None


def _equal(parse: Callable[[str], object], stored: bytes, rendered: bytes) -> bool:
    read = _parsed(parse, stored)
    return read is not None and read == _parsed(parse, rendered)

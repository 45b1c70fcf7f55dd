"""The files of conversations and pages, read and taken into rows; and when a file says as much."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.conversation import store as rows
from judgment.conversation.arriving import store
from judgment.conversation.formats import parse_conversation, parse_index, parse_projects
from judgment.conversation.pages import canonical_id
from judgment.conversation.views import FOLDER, INDEX, MANIFEST

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

_SUFFIX = ".md"


def load(tx: Transaction, user_id: UUID, files: Mapping[str, bytes]) -> int:
    """Take in the conversations and pages that are among `files`; how many conversations were new.

    The caller holds the memory's state. The index is not read: it follows from the conversations.
    """
    brought = sum(_loaded(tx, user_id, path, files[path]) for path in files if _is_told(path))
    if MANIFEST in files:
        _load_pages(tx, user_id, files[MANIFEST])
    return brought


def says_the_same(path: str, stored: bytes, rendered: bytes) -> bool:
    """Whether a stored file means what the rows, rendered for its path, mean."""
    parse = _reader(path)
    if parse is None:
        return False
    try:
        return parse(stored.decode()) == parse(rendered.decode())
    except ValueError:
        return False


def _loaded(tx: Transaction, user_id: UUID, path: str, content: bytes) -> bool:
    try:
        conversation, messages = parse_conversation(content.decode())
    except ValueError:  # not UTF-8, or no conversation: it stays a file
        return False
    if f"{FOLDER}{conversation.id}{_SUFFIX}" != path:
        return False
    return store.bring_conversation(tx, user_id, conversation, messages)


def _load_pages(tx: Transaction, user_id: UUID, content: bytes) -> None:
    try:
        pages = parse_projects(content.decode())
    except ValueError:  # not UTF-8, or no list of pages: it stays a file
        return
    for page in pages:
        name = canonical_id(page.id)
        is_new = store.bring_project(tx, user_id, replace(page, id=name))
        if not is_new and name == page.id:  # a page's former id comes with its former name
            rows.rename_project(tx, user_id, name, page.name, page.icon)
        attached = page.conversation_id
        if attached is not None and rows.conversation(tx, user_id, attached) is not None:
            rows.attach(tx, user_id, name, attached)


def _reader(path: str) -> Callable[[str], Any] | None:
    """What reads a file of rows to a value that can be compared."""
    if path == INDEX:
        return lambda text: sorted(parse_index(text), key=lambda one: one.id)
    if path == MANIFEST:
        return parse_projects
    return parse_conversation if _is_told(path) else None


def _is_told(path: str) -> bool:
    """Whether the path is a conversation's."""
    name = path.removeprefix(FOLDER)
    return path.startswith(FOLDER) and name.endswith(_SUFFIX) and "/" not in name

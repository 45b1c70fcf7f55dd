"""An owner's pages: which there are from the beginning, and what each is called by."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.conversation import store
from judgment.memory import starter

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

ROOT_PAGE = "your-agent"
"""The page of the owner's agent itself, which every owner has."""
FORMER_ROOT_PAGE = "braindrive-plus-one"
"""What it was called in older memories and is still called by older clients."""


def canonical_id(text: str) -> str:
    """The id that is meant: without blanks around it, lower-case, and today's for a former one."""
    wanted = text.strip().lower()
    return ROOT_PAGE if wanted == FORMER_ROOT_PAGE else wanted


def folder_of(project_id: str) -> str:
    """Where a page's files are: `documents/<id>`."""
    return f"documents/{project_id}"


def ensure(tx: Transaction, user_id: UUID, now: datetime) -> None:
    """Lay down the starter pack and its pages where this owner has none yet: once.

    Two that come at once are one after the other, because the first holds the memory's state.
    """
    laid_down = starter.seed(tx, user_id, now)
    if laid_down or store.project(tx, user_id, ROOT_PAGE) is None:
        for page in starter.PAGES:
            store.add_project(tx, user_id, page.id, page.name, page.icon)

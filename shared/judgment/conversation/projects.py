"""Pages: listed, added, renamed, detached, deleted, each with the files below its folder."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from datetime import datetime
from itertools import chain, count
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.contract.conversations import Project, ProjectFile, ProjectFiles, ProjectList
from judgment.conversation import pages, store
from judgment.conversation.edits import NO_PAGE, OWNER, as_refusals
from judgment.conversation.model import timestamp
from judgment.kit.clock import Clock, utc_now
from judgment.kit.errors import Conflict, Forbidden, InvalidRequest, NotFound
from judgment.memory import files, starter
from judgment.memory.model import Change
from judgment.memory.paths import folded
from judgment.memory.store import hold_state

if TYPE_CHECKING:
    from judgment.contract.conversations import NewProject, ProjectChange
    from judgment.conversation import model
    from judgment.conversation.recording import Begin
    from judgment.db.connection import Transaction

MOST_PAGES = 60
ICON = "folder"
"""Of a page that is added without one."""
UNNAMED = "page"
"""The id of a page whose name has no letter that an id could have."""
ID_LIMIT = 60
"""Characters of an id that is made from a name, before what tells it apart."""


class Projects:
    """An owner's pages."""

    def __init__(self, begin: Begin, clock: Clock = utc_now):
        self._begin = begin
        self._clock = clock

    def listing(self, user_id: UUID) -> ProjectList:
        """The pages in their order."""
        with self._begin(user_id) as tx:
            pages.ensure(tx, user_id, self._clock())
            found = store.projects(tx, user_id)
        return ProjectList(projects=[_shown(one) for one in found])

    def add(self, user_id: UUID, wanted: NewProject) -> Project:
        """A page behind the others, with the files of a new project; its id is made of its name.

        Raises InvalidRequest for a name of blanks, Conflict where there are MOST_PAGES.
        """
        name = _named(wanted.name)
        now = self._clock()
        with self._begin(user_id) as tx, as_refusals():
            pages.ensure(tx, user_id, now)
            hold_state(tx, user_id)  # whoever adds or deletes a page waits here
            if len(store.projects(tx, user_id)) >= MOST_PAGES:
                raise Conflict(f"There are {MOST_PAGES} pages; delete one first.")
            project_id = _free_id(name, _taken(tx, user_id))
            laid = [Change(*file) for file in starter.page_files(project_id, name).items()]
            _commit(tx, user_id, laid, f"Add page {name}", now)
            store.add_project(tx, user_id, project_id, name, wanted.icon or ICON)
            return _shown(_page(tx, user_id, project_id))

    def change(self, user_id: UUID, project_id: str, change: ProjectChange) -> Project:
        """Another name or icon; what is not given stays. Raises NotFound."""
        name = None if change.name is None else _named(change.name)
        wanted = pages.canonical_id(project_id)
        with self._begin(user_id) as tx:
            pages.ensure(tx, user_id, self._clock())
            _page(tx, user_id, wanted)
            store.rename_project(tx, user_id, wanted, name, change.icon)
            return _shown(_page(tx, user_id, wanted))

    def delete(self, user_id: UUID, project_id: str) -> None:
        """Delete a page and its files; their history and its conversation are kept.

        Raises NotFound, and Forbidden for the page that every owner has.
        """
        wanted = pages.canonical_id(project_id)
        now = self._clock()
        with self._begin(user_id) as tx, as_refusals():
            pages.ensure(tx, user_id, now)
            if wanted == pages.ROOT_PAGE:
                raise Forbidden("This page cannot be deleted.")
            page = _page(tx, user_id, wanted)
            hold_state(tx, user_id)  # no file is added between being listed and being deleted
            below = files.entries(tx, user_id, pages.folder_of(wanted))
            if below:
                gone = [Change(entry.path, None) for entry in below]
                _commit(tx, user_id, gone, f"Delete page {page.name}", now)
            store.delete_project(tx, user_id, wanted)

    def detach(self, user_id: UUID, project_id: str) -> Project:
        """Leave the page without a conversation; the conversation is kept. Raises NotFound."""
        wanted = pages.canonical_id(project_id)
        with self._begin(user_id) as tx:
            pages.ensure(tx, user_id, self._clock())
            store.attach(tx, user_id, wanted, None)
            return _shown(_page(tx, user_id, wanted))

    def files(self, user_id: UUID, project_id: str) -> ProjectFiles:
        """What is below the page's folder, by path. Raises NotFound."""
        wanted = pages.canonical_id(project_id)
        with self._begin(user_id) as tx, as_refusals():
            pages.ensure(tx, user_id, self._clock())
            _page(tx, user_id, wanted)
            below = files.entries(tx, user_id, pages.folder_of(wanted))
        found = [
            ProjectFile(
                path=entry.path,
                bytes=entry.bytes,
                sha256=entry.sha256,
                updated_at=timestamp(entry.updated_at),
            )
            for entry in below
        ]
        return ProjectFiles(project_id=wanted, files=found)


def slug(name: str) -> str:
    """A page's id out of its name: lower-case ASCII letters and digits, hyphens between them."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    made = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
    return made[:ID_LIMIT].rstrip("-") or UNNAMED


def _free_id(name: str, taken: Collection[str]) -> str:
    made = slug(name)
    numbered = (f"{made}-{number}" for number in count(2))
    return next(one for one in chain([made], numbered) if one not in taken)


def _taken(tx: Transaction, user_id: UUID) -> set[str]:
    """Ids of pages and names of folders of documents, files of deleted pages among them."""
    ids = {page.id for page in store.projects(tx, user_id)}
    below = (folded(entry.path).split("/") for entry in files.entries(tx, user_id, "documents"))
    return {pages.ROOT_PAGE, pages.FORMER_ROOT_PAGE, *ids, *(parts[1] for parts in below)}


def _commit(
    tx: Transaction, user_id: UUID, changes: list[Change], message: str, now: datetime
) -> None:
    files.commit(tx, user_id, changes, origin="owner", author=OWNER, message=message, at=now)


def _named(text: str) -> str:
    name = " ".join(text.split())
    if not name:
        raise InvalidRequest("Invalid request")
    return name


def _page(tx: Transaction, user_id: UUID, project_id: str) -> model.Project:
    found = store.project(tx, user_id, project_id)
    if found is None:
        raise NotFound(NO_PAGE)
    return found


def _shown(page: model.Project) -> Project:
    return Project(
        id=page.id,
        name=page.name,
        icon=page.icon,
        conversation_id=page.conversation_id,
        default_skill_ids=list(page.default_skill_ids),
    )

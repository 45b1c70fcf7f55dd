"""The starter pack: the texts a new memory begins with, which are the owner's from then on.

They are files of this package, laid down once, byte for byte, and never touched again: what an
owner changed or deleted stays so. Whoever may write a whole file over a template asks
`recognised`, which knows every text that we or the reference (its §3.5) ever laid down.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.memory import files, store
from judgment.memory.model import Change
from judgment.memory.paths import clash

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

AUTHOR = "Judgment <judgment@judgment.invalid>"
MESSAGE = "Initialize memory root"
NEW_PROJECT = "new-project"


@dataclass(frozen=True, slots=True)
class Page:
    """A page that every memory begins with. `id` is its folder below `documents/`."""

    id: str
    name: str
    icon: str


PAGES: tuple[Page, ...] = (
    Page("your-agent", "Your Agent", "sparkles"),
    Page("finance", "Finance", "dollar-sign"),
    Page("fitness", "Fitness", "dumbbell"),
    Page("career", "Career", "briefcase"),
    Page("relationships", "Relationships", "users"),
    Page(NEW_PROJECT, "Your New Project", "folder-plus"),
)
_SEEDED = frozenset(page.id for page in PAGES)


class _Pack(Mapping[str, bytes]):
    """The packaged texts by their path in a memory, sorted; read when first asked for."""

    def __getitem__(self, path: str) -> bytes:
        return _texts()[path]

    def __iter__(self) -> Iterator[str]:
        return iter(_texts())

    def __len__(self) -> int:
        return len(_texts())


STARTER: Mapping[str, bytes] = _Pack()


def seed(tx: Transaction, user_id: UUID, now: datetime) -> bool:
    """Lay the pack down as one commit, once in a memory's life; whether this call did it.

    A file that is there is left alone; a text that could not stand beside the owner's files on
    every file system is left out. Whoever comes second waits for the first and finds it done.
    """
    if store.seeded(tx, user_id):
        return False
    store.hold_state(tx, user_id)
    if store.seeded(tx, user_id):
        return False
    changes = _missing([entry.path for entry in files.entries(tx, user_id)])
    if changes:
        files.commit(tx, user_id, changes, origin="starter", author=AUTHOR, message=MESSAGE, at=now)
    store.mark_seeded(tx, user_id, now)
    return True


def page_files(project_id: str, name: str) -> dict[str, bytes]:
    """The files of an owner's own page by path: a new project's, byte for byte, whatever `name`."""
    template = f"documents/{NEW_PROJECT}/"
    return {
        f"documents/{project_id}/{path.removeprefix(template)}": content
        for path, content in STARTER.items()
        if path.startswith(template)
    }


def recognised(path: str, sha256: str) -> bool:
    """Whether a starter pack, ours or the reference's, ever laid down that text at that path.

    An owner's own page has the texts of a new project.
    """
    parts = path.split("/")
    if len(parts) == 3 and parts[0] == "documents" and parts[1] not in _SEEDED:
        path = f"documents/{NEW_PROJECT}/{parts[2]}"
    return sha256 in _known().get(path, frozenset())


def _missing(there: list[str]) -> list[Change]:
    return [
        Change(path, content)
        for path, content in STARTER.items()
        if path not in there and clash(path, there) is None
    ]


@cache
def _texts() -> dict[str, bytes]:
    pack = resources.files(__package__ or "").joinpath("starter")
    return dict(sorted(_read(pack, "")))


def _read(folder: Traversable, at: str) -> Iterator[tuple[str, bytes]]:
    for item in folder.iterdir():
        if item.is_dir():
            yield from _read(item, f"{at}{item.name}/")
        else:
            yield f"{at}{item.name}", item.read_bytes()


@cache
def _known() -> dict[str, frozenset[str]]:
    text = resources.files(__package__ or "").joinpath("starter_digests.json").read_text("utf-8")
    figures: dict[str, dict[str, list[str]]] = json.loads(text)
    paths = {path for sources in figures.values() for path in sources}
    return {
        path: frozenset(digest for source in figures.values() for digest in source.get(path, []))
        for path in paths
    }

"""`judgment memory export`: every page taken in and checked, then written as a memory root."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from judgment.cli.memory.api import MemoryApi
from judgment.cli.memory.folder import opened
from judgment.cli.memory.git import found
from judgment.cli.memory.git_writing import Tree, write_repository
from judgment.cli.output import emit, say
from judgment.cli.preferences.progress import watched
from judgment.cli.wiring import access
from judgment.kit.clock import isoformat
from judgment.kit.errors import InvalidRequest, Unavailable
from judgment.memory.transfer.lines import Blob, Committed, FileLine, Head, Line
from judgment.memory.transfer.names import Names, arriving

AUTHOR = "Judgment <judgment@judgment.invalid>"
MESSAGE = "Export of memory root"


def take(folder: str, without_history: bool) -> None:
    """Export into the folder and print what is there. Raises InvalidRequest, Unavailable."""
    api = MemoryApi(access())
    with opened(Path(folder)) as target, tempfile.TemporaryDirectory() as beside:
        taken = Taken(Path(beside))
        taken.take(api.lines())
        taken.check()
        for path in watched(sorted(taken.files), "Writing the files"):
            target.write(path, taken.content(taken.files[path]))
        told = None if without_history else _history(target.place, taken)
        emit(
            {
                "folder": str(target.place),
                "at": None if taken.at is None else isoformat(taken.at),
                "files": len(taken.files),
                "history": told,
            }
        )


def _history(place: Path, taken: Taken) -> dict[str, Any] | None:
    """Write the history beside the files, where there is git; what is to be said of it."""
    program = found()
    if program is None:
        say("There is no git on this machine: the history is left out.")
        return None
    commits = taken.with_last()
    if commits:
        write_repository(program, place, commits, taken.content)
    return {"commits": len(commits)}


class Taken:
    """What the export says; contents are put by as files in `beside`, named by their digests."""

    def __init__(self, beside: Path):
        self._beside = beside
        self._contents: set[str] = set()
        self._commits: list[Committed] = []
        self._tree = Tree()
        self.files: dict[str, str] = {}
        self.at: datetime | None = None

    def take(self, lines: Iterable[Line]) -> None:
        """Take every line in."""
        for line in lines:
            match line:
                case Head(at):
                    self.at = at
                case Blob(sha256, data):
                    (self._beside / sha256).write_bytes(data)
                    self._contents.add(sha256)
                case Committed():
                    self._commits.append(line)
                    self._tree.follow(line.changes)
                case FileLine(path, sha256):
                    self.files[path] = sha256
                case _:
                    pass

    def content(self, sha256: str) -> bytes:
        """A content that came, by its digest."""
        return (self._beside / sha256).read_bytes()

    def check(self) -> None:
        """Raises Unavailable unless every file can be written beside the others, and has come."""
        names = Names()
        changed = [pair for commit in self._commits for pair in commit.changes.items()]
        for path, sha256 in [*self.files.items(), *changed]:
            _checked(path)
            if sha256 is not None and sha256 not in self._contents:
                raise Unavailable("The export names a content that it did not bring.")
        for path in self.files:
            if names.clash(path):
                raise Unavailable("Two files of the export have one path.")
            names.add(path)

    def with_last(self) -> list[Committed]:
        """The commits, and where they do not lead to the files as they are, one more that does."""
        reached = self._tree.files
        changes: dict[str, str | None] = {
            path: sha256 for path, sha256 in self.files.items() if reached.get(path) != sha256
        }
        changes |= dict.fromkeys(reached.keys() - self.files.keys())
        if not changes or self.at is None:
            return self._commits
        return [*self._commits, Committed("0" * 40, AUTHOR, MESSAGE, self.at, changes)]


def _checked(path: str) -> None:
    try:
        arriving(path)
    except InvalidRequest as error:
        raise Unavailable("The export holds a path that leads out of the folder.") from error

"""The paths that come in and go out: those of a memory's files, and of what is foreign in it.

Tools reach less: what is foreign is kept for its owner, out of a model's sight.
"""

from __future__ import annotations

from collections.abc import Iterable

from judgment.kit.errors import InvalidRequest
from judgment.memory.model import MemoryFailure
from judgment.memory.paths import contained, folded, parents

_GIT = {".git", "git~1"}
"""Of a repository, and what some file systems call the same folder."""
_FOREIGN = "diagnostics"
_ANYWHERE = "foreign"
_CONVERSATIONS = "conversations/"
_PAGES = "documents/projects.json"


def arriving(path: str) -> str:
    """The same path. Raises InvalidRequest for one that would not stay where it is told to."""
    first, slash, rest = path.partition("/")
    is_foreign = bool(slash) and folded(first) == _FOREIGN
    checked = f"{_ANYWHERE}/{rest}" if is_foreign else path
    try:
        if contained(checked) != checked:
            raise InvalidRequest("The letters of a path are not in their one form (NFC).")
    except MemoryFailure as failure:
        raise InvalidRequest(failure.message) from failure
    if any(folded(segment) in _GIT for segment in path.split("/")):
        raise InvalidRequest("A path leads into a git repository.")
    return path


def is_of_rows(path: str) -> bool:
    """Whether rows of another idea speak for a file of this path."""
    return path.startswith(_CONVERSATIONS) or path == _PAGES


class Names:
    """Paths that can stand side by side in a folder of any file system."""

    def __init__(self, paths: Iterable[str] = ()):
        self._files: set[str] = set()
        self._folders: dict[str, str] = {}
        for path in paths:
            self.add(path)

    def add(self, path: str) -> None:
        """Take a path in."""
        self._files.add(folded(path))
        for above in parents(path):
            self._folders.setdefault(folded(above), above)

    def clash(self, path: str) -> bool:
        """Whether it and one of them cannot both be: one path or one folder but for the form of
        letters, or a file where the other has a folder."""
        name = folded(path)
        if name in self._files or name in self._folders:
            return True
        for above in parents(path):
            name = folded(above)
            if name in self._files or self._folders.get(name, above) != above:
                return True
        return False

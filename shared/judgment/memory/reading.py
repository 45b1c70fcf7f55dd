"""What the memory's reading tools answer, over an owner's files and the views among them.

A view's path hides a stored file of the same path. What is reserved is not there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.memory import files, store
from judgment.memory.edits import decoded
from judgment.memory.model import MemoryFailure, Version
from judgment.memory.paths import RESERVED, folded
from judgment.memory.searching import matches

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.memory.model import View

HISTORY_ENTRIES = 50
BYTES_AT_ONCE = 4 * 1024 * 1024
"""How much of the memory a search holds at a time, or one file where that is more."""
_CONVERSATIONS = "conversations"

Output = dict[str, Any]


class Shelf:
    """One owner's files and views, as they are in the caller's transaction."""

    def __init__(self, tx: Transaction, user_id: UUID, views: Sequence[View]):
        self._tx = tx
        self._owner = user_id
        self._views = views

    def read(self, path: str) -> tuple[Output, dict[str, str | None]]:
        """`{path, content}`, and the digest of what was read where it was a stored file.

        Raises MemoryFailure: `not_found`, `path_invalid` for a folder, `invalid_input` for what
        is not text.
        """
        shown = self._shown(path)
        if shown is not None:
            return {"path": path, "content": decoded(shown)}, {}
        try:
            found = files.read(self._tx, self._owner, path)
        except MemoryFailure as failure:
            if self.below(path):
                raise MemoryFailure("path_invalid", f"{path} is a folder; list it.") from failure
            raise
        return {"path": path, "content": decoded(found.content)}, {path: found.sha256}

    def list(self, folder: str) -> Output:
        """`{path, entries}`, folders with `/`. The root is the empty text and told as `.`.

        Raises MemoryFailure: `not_found`, `path_invalid` for a file.
        """
        prefix = f"{folder}/" if folder else ""
        names: set[str] = set()
        for path in self.below(folder):
            name, slash, _ = path.removeprefix(prefix).partition("/")
            names.add(name + slash)
        if folder and not names:
            if self._is_file(folder):
                raise MemoryFailure("path_invalid", f"{folder} is a file; read it.")
            raise MemoryFailure("not_found", f"There is no folder {folder}.")
        return {"path": folder or ".", "entries": sorted(names)}

    def search(self, query: str, place: str, include_conversations: bool) -> Output:
        """`{query, include_conversations, matches}` of a file or of what is below a folder.

        Raises MemoryFailure `not_found`.
        """
        found = self.below(place)
        if place and self._is_file(place):
            found[place] = 0
        if place and not found:
            raise MemoryFailure("not_found", f"There is no file or folder {place}.")
        wanted = {
            path: size
            for path, size in sorted(found.items())
            if include_conversations or path.split("/")[0] != _CONVERSATIONS
        }
        head = {"query": query, "include_conversations": include_conversations}
        return head | matches(query, self._texts(wanted))

    def history(self, path: str, commit_id: str | None) -> Output:
        """`{entries}` of a file or of all below a folder, the newest first.

        With a commit's id only that entry, with `previous_state`: the text that it left behind,
        absent where it deleted the file. `omitted_entries` counts what was too much. Raises
        MemoryFailure: `not_found`, `invalid_input` for what was not text.
        """
        if commit_id is None:
            made = files.history(self._tx, self._owner, path, HISTORY_ENTRIES)
            if not made:
                raise MemoryFailure("not_found", f"{path} has no history.")
            output: Output = {"entries": [_entry(one) for one in made]}
            omitted = store.history_length(self._tx, self._owner, path) - len(made)
            return output | ({"omitted_entries": omitted} if omitted else {})
        one = files.version(self._tx, self._owner, path, commit_id)
        entry = _entry(one)
        content = files.content_at(self._tx, self._owner, path, one.commit.revision)
        if content is not None:
            entry["previous_state"] = decoded(content)
        return {"entries": [entry]}

    def below(self, folder: str) -> dict[str, int]:
        """The paths below a folder that are not reserved, each with its bytes (a view's: 0)."""
        prefix = f"{folder}/" if folder else ""
        found = {e.path: e.bytes for e in files.entries(self._tx, self._owner, folder)}
        found |= dict.fromkeys((p for p in self.viewed() if p.startswith(prefix)), 0)
        return {path: size for path, size in found.items() if _is_open(path)}

    def viewed(self) -> list[str]:
        """The paths of the views."""
        return [path for view in self._views for path in view.paths(self._tx, self._owner)]

    def _is_file(self, path: str) -> bool:
        return self._shown(path) is not None or bool(files.digest(self._tx, self._owner, path))

    def _shown(self, path: str) -> bytes | None:
        contents = (view.read(self._tx, self._owner, path) for view in self._views)
        return next((content for content in contents if content is not None), None)

    def _texts(self, paths: Mapping[str, int]) -> Iterator[tuple[str, str]]:
        """The texts in order; what is none is passed over."""
        for some in _batches(paths):
            stored = store.contents(self._tx, self._owner, some)
            for path in some:
                shown = self._shown(path)
                content = stored.get(path) if shown is None else shown
                text = None if content is None else _text(content)
                if text is not None:
                    yield path, text


def _batches(paths: Mapping[str, int]) -> Iterator[list[str]]:
    some: list[str] = []
    size = 0
    for path, each in paths.items():
        if some and size + each > BYTES_AT_ONCE:
            yield some
            some, size = [], 0
        some.append(path)
        size += each
    if some:
        yield some


def _text(content: bytes) -> str | None:
    try:
        return decoded(content)
    except MemoryFailure:
        return None


def _is_open(path: str) -> bool:
    return folded(path.split("/")[0]) not in RESERVED


def _entry(one: Version) -> dict[str, Any]:
    return {
        "commit": one.commit.id,
        "message": one.commit.message,
        "timestamp": one.commit.at.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "path": one.path,
    }

"""The memory's tools: a call is prepared, which changes nothing, and then carried out.

Between the two an owner may be asked; what a write rests on is fixed when it is prepared, as the
digest of each file it would change: the one that the turn last saw, else that of now. Nobody
writes over what nobody has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.memory import files, store
from judgment.memory.edits import decoded, edited, elided, encoded
from judgment.memory.model import Change, MemoryFailure
from judgment.memory.paths import Neighbours, contained, folder, writable
from judgment.memory.reading import Shelf
from judgment.memory.specs import MEMORY_TOOLS, checked, spec

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.kit.clock import Clock
    from judgment.memory.model import View

__all__ = ["AUTHOR", "MEMORY_TOOLS", "MemoryTools", "Prepared", "Ran"]

AUTHOR = "Judgment <judgment@judgment.invalid>"
_VERBS = {"memory_write": "Write", "memory_edit": "Edit", "memory_delete": "Delete"}

Digests = Mapping[str, str | None]
ExportPath = Callable[["Transaction", UUID], str]


@dataclass(frozen=True, slots=True)
class Prepared:
    """A call that could be carried out. `path` is what it is about, contained; `expected` what a
    write rests on: path to digest, None for a file that is not there."""

    name: str
    arguments: Mapping[str, Any] = field(repr=False)
    path: str
    expected: Mapping[str, str | None]
    writes: bool


@dataclass(frozen=True, slots=True)
class Ran:
    """What a call gave, and what is known of files since: path to digest."""

    output: dict[str, Any] = field(repr=False)
    seen: Mapping[str, str | None]


class MemoryTools:
    """The tools over files and views. `export_path` says where the whole memory is fetched."""

    def __init__(self, views: Sequence[View], now: Clock, export_path: ExportPath):
        self._views = views
        self._now = now
        self._export_path = export_path

    def prepare(
        self,
        tx: Transaction,
        user_id: UUID,
        name: str,
        arguments: Mapping[str, Any],
        seen: Digests,
    ) -> Prepared:
        """The call, checked. `seen` is what the turn knows of files.

        What could not be carried out now is said here, before anybody is asked. Raises
        MemoryFailure.
        """
        tool = spec(name)
        given = checked(tool, arguments)
        if not tool.writes:
            return Prepared(name, given, _place(name, given), {}, writes=False)
        path = contained(given["path"])
        writable(path)
        now = self._touched(tx, user_id, name, path)
        expected = {one: seen.get(one, digest) for one, digest in now.items()}
        prepared = Prepared(name, given, path, expected, writes=True)
        self._changes(tx, user_id, prepared, expected, now)
        return prepared

    def run(
        self,
        tx: Transaction,
        user_id: UUID,
        prepared: Prepared,
        expected: Digests | None = None,
    ) -> Ran:
        """Carry it out, where `expected` (else what was prepared) still holds.

        Raises MemoryFailure, and then nothing has changed.
        """
        if prepared.writes:
            rests_on = prepared.expected if expected is None else expected
            return self._write(tx, user_id, prepared, rests_on)
        shelf, given, path = self._shelf(tx, user_id), prepared.arguments, prepared.path
        match prepared.name:
            case "memory_read":
                return Ran(*shelf.read(path))
            case "memory_list":
                return Ran(shelf.list(path), {})
            case "memory_search":
                talk = given.get("include_conversations", False)
                return Ran(shelf.search(given["query"], path, talk), {})
            case "memory_history":
                return Ran(shelf.history(path, given.get("commit")), {})
            case _:
                return Ran({"archive_path": self._export_path(tx, user_id)}, {})

    def _write(self, tx: Transaction, user_id: UUID, prepared: Prepared, expected: Digests) -> Ran:
        files.hold(tx, user_id)  # from here on nothing that is looked at can change
        now = self._touched(tx, user_id, prepared.name, prepared.path)
        changes = self._changes(tx, user_id, prepared, expected, now)
        files.commit(
            tx,
            user_id,
            changes,
            origin="tool",
            author=AUTHOR,
            message=f"{_VERBS[prepared.name]} {prepared.path}",
            at=self._now(),
            expected={change.path: expected.get(change.path) for change in changes},
        )
        output: dict[str, Any] = {"path": prepared.path}
        if prepared.name == "memory_write":
            output["bytes_written"] = len(changes[0].content or b"")
        else:
            output["updated" if prepared.name == "memory_edit" else "deleted"] = True
        seen = store.digests(tx, user_id, [change.path for change in changes])
        return Ran(output, {change.path: seen.get(change.path) for change in changes})

    def _touched(
        self, tx: Transaction, user_id: UUID, name: str, path: str
    ) -> dict[str, str | None]:
        """The files that a write would change, with their digests of now."""
        own = files.digest(tx, user_id, path)
        if own is None and path in self._shelf(tx, user_id).viewed():
            raise MemoryFailure("reserved_path", f"{path} is kept by the system; it can be read.")
        if name != "memory_delete":
            return {path: own}
        there: dict[str, str | None] = {
            entry.path: entry.sha256 for entry in files.entries(tx, user_id, path)
        }
        if own is not None:
            there[path] = own
        if not there:
            raise MemoryFailure("not_found", f"There is no file or folder {path}.")
        return there

    def _changes(
        self, tx: Transaction, user_id: UUID, prepared: Prepared, expected: Digests, now: Digests
    ) -> list[Change]:
        """What the call makes of the files of `now`. Raises MemoryFailure `conflict` where those
        are not the ones that it rests on, and for what the call may not do."""
        for path in sorted({*expected, *now}):
            if path not in expected or path not in now or expected[path] != now[path]:
                raise files.conflict(path)
        path, given = prepared.path, prepared.arguments
        if prepared.name == "memory_delete":
            return [Change(one, None) for one in now]
        if now[path] is None:
            self._refuse_new(tx, user_id, prepared)
        before = b"" if now[path] is None else files.read(tx, user_id, path).content
        if prepared.name == "memory_edit":
            text = edited(decoded(before), given["find"], given["replace"])
            return [Change(path, encoded(text))]
        content = encoded(given["content"])
        line = elided(given["content"], before.decode("utf-8", "replace")) if before else None
        if line is not None:
            raise MemoryFailure(
                "invalid_input",
                f"content leaves text out ({line[:60]}). Write all of it, or use memory_edit.",
            )
        return [Change(path, content)]

    def _refuse_new(self, tx: Transaction, user_id: UUID, prepared: Prepared) -> None:
        path, shelf = prepared.path, self._shelf(tx, user_id)
        if prepared.name == "memory_edit":
            if shelf.below(path):
                raise MemoryFailure("path_invalid", f"{path} is a folder.")
            raise MemoryFailure("not_found", f"There is no file {path}.")
        files.refuse_beside(path, files.neighbours(tx, user_id, [path]))
        files.refuse_beside(path, Neighbours(shelf.viewed()))

    def _shelf(self, tx: Transaction, user_id: UUID) -> Shelf:
        return Shelf(tx, user_id, self._views)


def _place(name: str, given: Mapping[str, Any]) -> str:
    if name == "memory_export":
        return ""
    if name in ("memory_list", "memory_search"):
        return folder(given.get("path", "."))
    return contained(given["path"])

"""The memory's tools: a call is prepared, which changes nothing, and then carried out.

Between the two an owner may be asked; what a write rests on is fixed when it is prepared, as the
digest of each file it would change: the one that the turn last saw, else that of now. Nobody
writes over what nobody has seen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.memory import files, store
from judgment.memory.edits import decoded, edited, elided, encoded
from judgment.memory.model import Change, MemoryFailure
from judgment.memory.paths import contained, folded, folder, parents, writable
from judgment.memory.searching import matches
from judgment.memory.specs import MEMORY_TOOLS

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.kit.clock import Clock
    from judgment.memory.model import ToolSpec, View

__all__ = ["AUTHOR", "MEMORY_TOOLS", "MemoryTools", "Prepared", "Ran"]

AUTHOR = "Judgment <judgment@localhost>"
HISTORY_ENTRIES = 50
SEARCHED_AT_ONCE = 50
"""Files whose texts are in this process at the same time."""
_CONVERSATIONS = "conversations/"

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
        """The call, checked. `seen` is what the turn knows of files. Raises MemoryFailure."""
        spec = _spec(name)
        given = _checked(spec, arguments)
        if not spec.writes:
            return Prepared(name, given, _place(name, given), {}, writes=False)
        path = contained(given["path"])
        writable(path)
        expected = self._rests_on(tx, user_id, name, path, seen)
        prepared = Prepared(name, given, path, expected, writes=True)
        self._changes(tx, user_id, prepared)  # what cannot be is said before anybody is asked
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
        return self._readers[prepared.name](tx, user_id, prepared)

    def _rests_on(
        self, tx: Transaction, user_id: UUID, name: str, path: str, seen: Digests
    ) -> dict[str, str | None]:
        if name == "memory_delete":
            below = {e.path: e.sha256 for e in files.entries(tx, user_id, path)}
            own = files.digest(tx, user_id, path)
            there: dict[str, str | None] = {**below, **({path: own} if own else {})}
            if not there:
                raise MemoryFailure("not_found", f"There is no file or folder {path}.")
        else:
            there = {path: files.digest(tx, user_id, path)}
        return {one: seen.get(one, digest) for one, digest in there.items()}

    def _write(self, tx: Transaction, user_id: UUID, prepared: Prepared, expected: Digests) -> Ran:
        changes = self._changes(tx, user_id, prepared, expected)
        files.commit(
            tx,
            user_id,
            changes,
            origin="tool",
            author=AUTHOR,
            message=f"{_VERBS[prepared.name]} {prepared.path}",
            at=self._now(),
            expected=expected,
        )
        seen = store.digests(tx, user_id, [change.path for change in changes])
        output: dict[str, Any] = {"path": prepared.path}
        if prepared.name == "memory_write":
            output["bytes_written"] = len(changes[0].content or b"")
        else:
            output["updated" if prepared.name == "memory_edit" else "deleted"] = True
        return Ran(output, {change.path: seen.get(change.path) for change in changes})

    def _changes(
        self, tx: Transaction, user_id: UUID, prepared: Prepared, expected: Digests | None = None
    ) -> list[Change]:
        rests_on = prepared.expected if expected is None else expected
        path, given = prepared.path, prepared.arguments
        if prepared.name == "memory_delete":
            return [Change(one, None) for one in rests_on]
        if prepared.name == "memory_write":
            content = encoded(given["content"])
            line = elided(given["content"])
            if line is not None and rests_on.get(path) is not None:
                raise MemoryFailure(
                    "invalid_input",
                    f"The content leaves text out ({line[:60]}). Write the whole file, or use"
                    " memory_edit.",
                )
            return [Change(path, content)]
        now = files.read(tx, user_id, path)
        if now.sha256 != rests_on.get(path):
            raise MemoryFailure("conflict", f"{path} has changed since it was read; read it again.")
        text = edited(decoded(now.content), given["find"], given["replace"])
        return [Change(path, encoded(text))]

    @property
    def _readers(self) -> Mapping[str, Callable[[Transaction, UUID, Prepared], Ran]]:
        return {
            "memory_read": self._read,
            "memory_list": self._list,
            "memory_search": self._search,
            "memory_history": self._history,
            "memory_export": self._export,
        }

    def _read(self, tx: Transaction, user_id: UUID, prepared: Prepared) -> Ran:
        path = prepared.path
        for view in self._views:
            shown = view.read(tx, user_id, path)
            if shown is not None:
                return Ran({"path": path, "content": decoded(shown)}, {})
        found = files.read(tx, user_id, path)
        return Ran({"path": path, "content": decoded(found.content)}, {path: found.sha256})

    def _list(self, tx: Transaction, user_id: UUID, prepared: Prepared) -> Ran:
        below = f"{prepared.path}/" if prepared.path else ""
        names: set[str] = set()
        for path in self._paths(tx, user_id, prepared.path):
            name, slash, _ = path.removeprefix(below).partition("/")
            names.add(name + slash)
        if not names and below:
            raise MemoryFailure("not_found", f"There is no folder {prepared.path}.")
        return Ran({"path": prepared.path or ".", "entries": sorted(names)}, {})

    def _search(self, tx: Transaction, user_id: UUID, prepared: Prepared) -> Ran:
        given = prepared.arguments
        talk = bool(given.get("include_conversations", False))
        paths = self._paths(tx, user_id, prepared.path)
        if prepared.path:
            paths = sorted({*paths, *self._exactly(tx, user_id, prepared.path)})
        wanted = [path for path in paths if talk or not path.startswith(_CONVERSATIONS)]
        found = matches(given["query"], self._texts(tx, user_id, wanted))
        head = {"query": given["query"], "include_conversations": talk}
        return Ran({**head, **found}, {})

    def _history(self, tx: Transaction, user_id: UUID, prepared: Prepared) -> Ran:
        path, commit_id = prepared.path, prepared.arguments.get("commit")
        if commit_id is None:
            made = files.history(tx, user_id, path, HISTORY_ENTRIES)
            if not made:
                raise MemoryFailure("not_found", f"{path} has no history.")
            return Ran({"entries": [_entry(one) for one in made]}, {})
        one = files.version(tx, user_id, path, commit_id)
        before = files.content_before(tx, user_id, one)
        entry = _entry(one) | {"previous_state": None if before is None else decoded(before)}
        return Ran({"entries": [entry]}, {})

    def _export(self, tx: Transaction, user_id: UUID, prepared: Prepared) -> Ran:
        return Ran({"archive_path": self._export_path(tx, user_id)}, {})

    def _paths(self, tx: Transaction, user_id: UUID, below: str) -> list[str]:
        """What tools may see below a folder: files and views, sorted, nothing reserved."""
        prefix = f"{below}/" if below else ""
        found = {entry.path for entry in files.entries(tx, user_id, below)}
        for view in self._views:
            found.update(p for p in view.paths(tx, user_id) if p.startswith(prefix))
        return sorted(path for path in found if _is_open(path))

    def _exactly(self, tx: Transaction, user_id: UUID, path: str) -> list[str]:
        there = any(path in view.paths(tx, user_id) for view in self._views)
        return [path] if there or files.digest(tx, user_id, path) is not None else []

    def _texts(
        self, tx: Transaction, user_id: UUID, paths: Sequence[str]
    ) -> Iterator[tuple[str, str]]:
        for start in range(0, len(paths), SEARCHED_AT_ONCE):
            some = paths[start : start + SEARCHED_AT_ONCE]
            stored = store.contents(tx, user_id, some)
            for path in some:
                shown = (view.read(tx, user_id, path) for view in self._views)
                content = next((one for one in shown if one is not None), stored.get(path))
                if content is not None:
                    yield path, content.decode("utf-8", "replace")


_VERBS = {"memory_write": "Write", "memory_edit": "Edit", "memory_delete": "Delete"}
_KINDS = {"string": str, "boolean": bool}


def _spec(name: str) -> ToolSpec:
    for spec in MEMORY_TOOLS:
        if spec.name == name:
            return spec
    raise MemoryFailure("invalid_input", f"There is no tool {name[:100]}.")


def _checked(spec: ToolSpec, given: Mapping[str, Any]) -> Mapping[str, Any]:
    """The input, as the tool's schema has it; null counts as absent. Raises MemoryFailure."""
    takes = spec.parameters["properties"]
    unknown = sorted(set(given) - set(takes))
    if unknown:
        raise MemoryFailure("invalid_input", f"{spec.name} takes no {unknown[0][:50]}.")
    kept = {name: value for name, value in given.items() if value is not None}
    for name in spec.parameters.get("required", ()):
        if name not in kept:
            raise MemoryFailure("invalid_input", f"{spec.name} needs {name}.")
    for name, value in kept.items():
        kind = takes[name]["type"]
        if not isinstance(value, _KINDS[kind]):
            raise MemoryFailure("invalid_input", f"{name} must be a {kind}.")
    if spec.name == "memory_search" and not kept["query"].strip():
        raise MemoryFailure("invalid_input", "query is empty.")
    return kept


def _place(name: str, given: Mapping[str, Any]) -> str:
    if name == "memory_export":
        return ""
    if name in ("memory_list", "memory_search"):
        return folder(given.get("path", "."))
    return contained(given["path"])


def _is_open(path: str) -> bool:
    first = (parents(path) or [path])[0]
    return folded(first) not in ("diagnostics", ".git")


def _entry(one: Any) -> dict[str, Any]:
    return {
        "commit": one.commit.id,
        "message": one.commit.message,
        "timestamp": one.commit.at.isoformat().replace("+00:00", "Z"),
        "path": one.path,
    }

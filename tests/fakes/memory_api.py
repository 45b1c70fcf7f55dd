"""The routes of a memory that comes and goes, over real HTTP on this machine.

Behind them is either a memory in this process (`Kept`) or the real use cases.
"""

from __future__ import annotations

import base64
import re
import uuid
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol
from urllib.parse import parse_qs, urlsplit

from judgment.contract.errors import Problem
from judgment.contract.memory import ImportOrder, ImportPart, MemoryImported
from judgment.kit.errors import Conflict, InvalidRequest, NotFound, Refusal, Unauthorized
from judgment.kit.hashing import sha256_hex
from judgment.memory.transfer.exports import PATH
from judgment.memory.transfer.lines import (
    Blob,
    Committed,
    FileLine,
    blob_lines,
    commit_lines,
    end_line,
    file_line,
    head_line,
    joined,
    next_line,
    parsed,
)
from judgment.memory.transfer.staging import ordered
from tests.fakes.listening import Listening, QuietHandler
from tests.fakes.transfers import AT

if TYPE_CHECKING:
    from judgment.memory.transfer.exports import Exports
    from judgment.memory.transfer.imports import Imports

TOKEN = "owner-token-" + "t" * 40
_IMPORT = re.compile(r"/api/v1/memory/imports/([0-9a-f-]{36})(?:/parts/([0-9]+))?")


class Memory(Protocol):
    """What is behind the routes."""

    def part(self, import_id: uuid.UUID, part: int, data: bytes) -> None: ...

    def carry_out(self, import_id: uuid.UUID, order: ImportOrder) -> MemoryImported: ...

    def page(self, cursor: str | None) -> str: ...


class Kept:
    """A memory in this process. `lines_a_page` is how many lines a page holds."""

    def __init__(self) -> None:
        self.parts: dict[uuid.UUID, dict[int, bytes]] = {}
        self.commits: dict[str, Committed] = {}
        self.blobs: dict[str, bytes] = {}
        self.files: dict[str, str] = {}
        self.lines_a_page = 50
        self.orders: list[ImportOrder] = []

    def part(self, import_id: uuid.UUID, part: int, data: bytes) -> None:
        """Put by."""
        self.parts.setdefault(import_id, {})[part] = data

    def carry_out(self, import_id: uuid.UUID, order: ImportOrder) -> MemoryImported:
        """All or nothing, by the real reading of lines."""
        self.orders.append(order)
        parts = self.parts.get(import_id, {})
        if set(parts) != set(range(1, order.parts + 1)):
            raise NotFound("A part of the import is not there.")
        whole = b"".join(parts[number] for number in sorted(parts))
        if sha256_hex(whole) != order.sha256:
            raise InvalidRequest("The parts together are not what the order's digest says.")
        lines = list(ordered(joined(parsed(line) for line in whole.splitlines())))
        final = {one.path: one.sha256 for one in lines if isinstance(one, FileLine)}
        differ = [path for path in final if self.files.get(path, final[path]) != final[path]]
        if differ and order.conflicts == "refuse":
            raise Conflict(f"These files differ from yours: {', '.join(differ)}.")
        changed = [path for path in final if self.files.get(path) != final[path]]
        kept = len(self.files.keys() - final.keys())
        new = {one.id: one for one in lines if isinstance(one, Committed)}
        new = {name: one for name, one in new.items() if name not in self.commits}
        self.blobs |= {one.sha256: one.data for one in lines if isinstance(one, Blob)}
        self.commits |= new
        self.files |= final
        return MemoryImported(
            import_id=import_id, files=len(changed), commits=len(new), conversations=0, kept=kept
        )

    def page(self, cursor: str | None) -> str:
        """From a line on."""
        lines = [head_line(AT)]
        for sha256, content in self.blobs.items():
            lines += blob_lines(sha256, content)
        for commit in self.commits.values():
            lines += commit_lines(commit)
        lines += [file_line(path, sha256) for path, sha256 in self.files.items()]
        start = int(cursor or 0)
        end = start + self.lines_a_page
        closing = next_line(str(end)) if end < len(lines) else end_line()
        return "".join(f"{line}\n" for line in [*lines[start:end], closing])


class Real:
    """The real use cases for one owner."""

    def __init__(self, imports: Imports, exports: Exports, who: uuid.UUID):
        self.part: Callable[[uuid.UUID, int, bytes], None] = lambda i, p, d: imports.part(
            who, i, p, d
        )
        self.carry_out: Callable[[uuid.UUID, ImportOrder], MemoryImported] = lambda i, o: (
            imports.carry_out(who, i, o)
        )
        self.page: Callable[[str | None], str] = lambda cursor: exports.page(who, cursor)


class MemoryServer(Listening):
    """The routes. `asked` is every request, method and path; `trouble` is answered instead;
    `instead` replaces a page."""

    def __init__(self, memory: Memory):
        self.memory = memory
        self.asked: list[tuple[str, str]] = []
        self.trouble: Refusal | None = None
        self.instead: str | None = None
        super().__init__(_handler(self))

    def answer(self, method: str, target: str, credential: str | None, body: bytes) -> bytes | None:
        """What a request is answered; None is 204. Raises Refusal."""
        path, query = urlsplit(target).path, parse_qs(urlsplit(target).query)
        self.asked.append((method, path))
        if self.trouble is not None:
            raise self.trouble
        if credential != f"Bearer {TOKEN}":
            raise Unauthorized
        if (method, path) == ("GET", PATH):
            return (self.instead or self.memory.page(query.get("cursor", [None])[0])).encode()
        found = _IMPORT.fullmatch(path)
        if found and method == "PUT" and found[2]:
            data = base64.b64decode(ImportPart.model_validate_json(body).data, validate=True)
            self.memory.part(uuid.UUID(found[1]), int(found[2]), data)
            return None
        if found and method == "POST" and not found[2]:
            order = ImportOrder.model_validate_json(body)
            return self.memory.carry_out(uuid.UUID(found[1]), order).model_dump_json().encode()
        raise NotFound


def _handler(server: MemoryServer) -> type[QuietHandler]:
    class Handler(QuietHandler):
        def _any(self) -> None:
            credential = self.headers.get("Authorization")
            try:
                said = server.answer(self.command, self.path, credential, self.sent())
            except Refusal as refusal:
                problem = Problem(code=refusal.code, message=refusal.message)
                self.give(refusal.status, problem.model_dump_json().encode())
                return
            self.give(200 if said is not None else 204, said or b"")

        do_GET = do_PUT = do_POST = _any

    return Handler

"""What an owner may do with everything that is theirs: shut agents out, take it along, erase it.

Export and erasure are driven by the inventory of owner data, so that a table added there is in
both (ruling 33).
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from judgment.contract.account import CURSOR_LIMIT, AgentAccess, ExportLine
from judgment.db.inventory import INVENTORY, OwnerTable, erase_owner, export_page
from judgment.kit.clock import isoformat
from judgment.kit.errors import InvalidRequest, NotFound
from judgment.kit.ids import parse_uuid

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

PAGE_BYTES = 4_000_000
ROWS_PER_STATEMENT = 100
CLOSING = "export"


class AccountRows(Protocol):
    """The account statements, run as `judgment_owner`."""

    def set_own_switch(self, tx: Transaction, user_id: UUID, enabled: bool) -> bool:
        """Set the owner's own switch; False when the owner has no row."""
        ...

    def database_time(self, tx: Transaction) -> datetime:
        """The transaction's time, by the clock that stamps the rows."""
        ...


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where a page starts: rows of `table` after the key `after`, and of the tables behind it."""

    as_of: datetime
    table: str
    after: str | None

    def text(self) -> str:
        """Opaque to the client; nothing in it needs to be believed, row policies do the rest."""
        raw = json.dumps([isoformat(self.as_of), self.table, self.after], ensure_ascii=False)
        return base64.urlsafe_b64encode(raw.encode()).decode().rstrip("=")


class Account:
    """The use cases of an owner's account."""

    def __init__(
        self,
        begin: Callable[[UUID], AbstractContextManager[Transaction]],
        rows: AccountRows,
        page_bytes: int = PAGE_BYTES,
    ):
        self._begin = begin
        self._rows = rows
        self._page_bytes = page_bytes

    def set_agent_access(self, owner: UUID, wanted: AgentAccess) -> AgentAccess:
        """The owner's own switch; off shuts every agent route and tool from the next call on."""
        with self._begin(owner) as tx:
            if not self._rows.set_own_switch(tx, owner, wanted.enabled):
                raise NotFound("There is no such owner.")
        return wanted

    def erase(self, owner: UUID) -> dict[str, int]:
        """Erase the owner; rows touched by table. Doing it again is harmless."""
        with self._begin(owner) as tx:
            return erase_owner(tx, owner)

    def export(self, owner: UUID, cursor: str | None) -> str:
        """A page of NDJSON, at most `page_bytes` as it travels, its last line the next cursor.

        Every page shows the rows that were there when the first one was asked for. Raises
        InvalidRequest for a cursor that is not ours.
        """
        with self._begin(owner) as tx:
            start = _read_cursor(cursor) if cursor else None
            as_of = start.as_of if start else self._rows.database_time(tx)
            page: list[str] = []
            size = 0
            following: Cursor | None = None
            for table, key, line in self._lines(tx, owner, as_of, start):
                here = Cursor(as_of, table.name, key)
                room = self._page_bytes - _travelling_size(_closing(as_of, here))
                size += _travelling_size(line)
                if page and size > room:
                    break
                page.append(_fitted(line, table, key, room))
                following = here
            else:
                following = None
        page.append(_closing(as_of, following))
        return "\n".join(page) + "\n"

    def _lines(
        self, tx: Transaction, owner: UUID, as_of: datetime, start: Cursor | None
    ) -> Iterator[tuple[OwnerTable, str, str]]:
        names = [table.name for table in INVENTORY]
        first = names.index(start.table) if start else 0
        for table in INVENTORY[first:]:
            after = start.after if start and table.name == start.table else None
            while True:
                rows = export_page(
                    tx, table, owner, as_of=as_of, after=after, limit=ROWS_PER_STATEMENT
                )
                for row in rows:
                    # The form of ExportLine, put together without reading the row.
                    yield table, row.key, f'{{"table":"{table.name}","row":{row.row}}}'
                if len(rows) < ROWS_PER_STATEMENT:
                    break
                after = rows[-1].key


def _fitted(line: str, table: OwnerTable, key: str, room: int) -> str:
    """The line, or, for a row larger than a page, its key and size with that said."""
    size = _travelling_size(line)
    if size <= room:
        return line
    return _line(table.name, {"key": key, "left_out": "larger than a page", "bytes": size})


def _line(table: str, row: dict[str, Any]) -> str:
    return ExportLine(table=table, row=row).model_dump_json()


def _travelling_size(line: str) -> int:
    """Bytes of the line inside a Lambda answer, where quotes and all but ASCII are escaped."""
    return len(json.dumps(line))


def _closing(as_of: datetime, following: Cursor | None) -> str:
    cursor = following.text() if following else None
    return _line(CLOSING, {"as_of": isoformat(as_of), "cursor": cursor})


def _read_cursor(text: str) -> Cursor:
    """Raises InvalidRequest for anything that `Cursor.text` did not write."""
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        as_of, name, after = json.loads(raw)
        moment = datetime.fromisoformat(as_of)
        isoformat(moment)  # a time zone can take a moment out of the years there are
        table = next(table for table in INVENTORY if table.name == name)
    except (ValueError, TypeError, OverflowError, RecursionError, StopIteration) as error:
        raise InvalidRequest("cursor: not one that this export gave") from error
    is_key = isinstance(after, str) and len(after) < CURSOR_LIMIT and "\x00" not in after
    if table.key[1] == "uuid":
        is_key = is_key and parse_uuid(after) is not None
    if moment.tzinfo is None or not is_key:
        raise InvalidRequest("cursor: not one that this export gave")
    return Cursor(moment, name, after)

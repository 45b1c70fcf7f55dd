"""The routes of a memory that comes and goes, called as its owner."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import UUID

from judgment.cli.api import Call, order, read, send
from judgment.contract.memory import ImportOrder, MemoryImported
from judgment.kit.errors import InvalidRequest, TooLarge, Unavailable
from judgment.kit.settings import SettingError
from judgment.memory.transfer.lines import End, Line, Next, joined, parsed

if TYPE_CHECKING:
    from judgment.cli.wiring import Access

EXPORT = "/api/v1/memory/export"
IMPORTS = "/api/v1/memory/imports"


class MemoryApi:
    """One method a route. Every one raises the API's own refusal, and Unavailable.

    Raises SettingError without an owner's token.
    """

    def __init__(self, access: Access):
        if not access.sync_owner_token:
            raise SettingError("SYNC_OWNER_TOKEN is required: a memory is its owner's own")
        self._base = access.sync_api_url
        self._token = access.sync_owner_token

    def put_part(self, import_id: UUID, part: int, data: bytes) -> None:
        """Send a part of an import."""
        body = {"data": base64.b64encode(data).decode()}
        call = Call("PUT", f"{IMPORTS}/{import_id}/parts/{part}", body=body)
        order(self._base, self._token, call)

    def carry_out(self, import_id: UUID, wanted: ImportOrder) -> MemoryImported:
        """Have the parts imported."""
        call = Call("POST", f"{IMPORTS}/{import_id}", body=wanted.model_dump())
        return send(self._base, self._token, call, MemoryImported)

    def lines(self) -> Iterator[Line]:
        """The whole export, page after page. Raises Unavailable also for what is no export."""
        try:
            yield from joined(self._lines(), torn=True)
        except (InvalidRequest, TooLarge) as wrong:
            raise Unavailable(f"What the API sends is no memory: {wrong.message}") from wrong

    def _lines(self) -> Iterator[Line]:
        cursor: str | None = None
        while True:
            page = read(self._base, self._token, Call("GET", EXPORT, {"cursor": cursor}))
            last: Line | None = None
            for raw in page.splitlines():
                if isinstance(last, Next | End):
                    raise Unavailable("A page of the export goes on after its end.")
                last = parsed(raw)
                if not isinstance(last, Next):
                    yield last
            if not isinstance(last, Next):
                break
            if last.cursor == cursor:
                raise Unavailable("The export does not come to an end.")
            cursor = last.cursor
        if not isinstance(last, End):
            raise Unavailable("The export ended early.")

"""The owner's own switch and the export of everything that is theirs (rulings 6, 33)."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from judgment.contract.wire import RequestModel, ResponseModel

CURSOR_LIMIT = 2_048


class AgentAccess(RequestModel):
    """The owner's switch for every agent route and tool."""

    enabled: bool


class ExportQuery(RequestModel):
    """Where the next page of an export begins; absent for the first page."""

    cursor: str | None = Field(default=None, min_length=1, max_length=CURSOR_LIMIT)


class ExportLine(ResponseModel):
    """One line of the export: a row of an inventory table, or the closing line with the cursor."""

    table: str = Field(min_length=1)
    row: dict[str, Any]

"""A table with owners' rows: how it is exported, page by page, and erased."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

WHOLE_ROW = ("*",)


@dataclass(frozen=True)
class OwnerTable:
    """A table with owners' rows.

    `owner`: the column that says whose a row is, or of the parent that `whose` goes through.
    `columns`: what is exported; `withheld`: column to the reason why it is not. `key`: what orders
    a page, as an expression and its type. `since`: when a row came to be, as an expression, for one
    snapshot time over many pages; empty for tables of one row per owner.
    """

    name: str
    owner: str
    columns: tuple[str, ...]
    key: tuple[str, str] = ("id", "uuid")
    since: str = "created_at"
    whose: str = ""
    withheld: Mapping[str, str] = field(default_factory=dict[str, str])
    of_sync: bool = False
    ours_on_sync: tuple[str, ...] = ()

    @property
    def condition(self) -> str:
        """The SQL condition on a row of `%(user_id)s`."""
        return self.whose or f"{self.owner} = %(user_id)s"

    @property
    def page(self) -> str:
        """A page of rows after `%(after)s` (a key as text, or null) as of `%(as_of)s`."""
        expression, kind = self.key
        # What is put together are names from this file; what a caller sends is a parameter.
        known = f"AND {self.since} <= %(as_of)s" if self.since else ""
        return (
            "SELECT (to_jsonb(r) - 'page_key')::text AS document, r.page_key::text AS key FROM ("  # noqa: S608
            f" SELECT {', '.join(self.columns)}, {expression} AS page_key FROM {self.name}"
            f" WHERE ({self.condition}) {known}"
            f" AND (%(after)s::text IS NULL OR {expression} > %(after)s::text::{kind})"
            f" ORDER BY {expression} LIMIT %(limit)s) r ORDER BY r.page_key"
        )

    @property
    def erasure(self) -> str:
        """Deletes the rows of `%(user_id)s`."""
        return f"DELETE FROM {self.name} WHERE {self.condition}"  # noqa: S608  (see page)

    @property
    def clearing(self) -> str:
        """Sets our columns of a Sync app's table back to their defaults; empty without any."""
        if not self.ours_on_sync:
            return ""
        cleared = ", ".join(f"{column} = DEFAULT" for column in self.ours_on_sync)
        statement = f"UPDATE {self.name} SET {cleared} WHERE {self.condition}"  # noqa: S608
        return statement

"""The library brought into a database, at each deployment and each start of the local stack.

Idempotent by the digest of each entry. An entry that is gone is archived and never deleted, because
decisions hang on it; where it returns it is served again, under the id it always had.

A Sync app's `scenarios` are left alone (ADR 076): its players would be offered rows without the
title and options that the app keeps in columns of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from judgment.db.connection import Database
from judgment.scenarios.library import store
from judgment.scenarios.library.reading import read_library

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.scenarios.model import Scenario


@dataclass(frozen=True)
class LoadCounts:
    """What a load did, in scenarios; `skipped` says why it did nothing at all, else None."""

    inserted: int = 0
    updated: int = 0
    archived: int = 0
    unchanged: int = 0
    skipped: str | None = None

    def __str__(self) -> str:
        """One line for a log."""
        if self.skipped is not None:
            return f"library not loaded: {self.skipped}"
        return (
            f"library: {self.inserted} added, {self.updated} changed, {self.archived} archived,"
            f" {self.unchanged} as before"
        )


def load_into(url: str) -> LoadCounts:
    """Load the packaged library as the role in the URL, the one that migrates.

    Raises LibraryError before anything is touched, Unavailable, DatabaseError.
    """
    library = read_library()
    database = Database(url, application_name="library")
    with closing(database), database.transaction() as tx:
        return load(tx, library)


def load(tx: Transaction, library: Sequence[Scenario] | None = None) -> LoadCounts:
    """Make the database hold this library (the packaged one unless given), as the migrator.

    Other loaders wait until this transaction ends. Raises LibraryError, and what statements raise.
    """
    wanted = {s.key or "": s for s in (read_library() if library is None else library)}
    if not store.is_ours(tx):
        return LoadCounts(skipped=_why_not(store.foreign_columns(tx)))
    store.wait_for_turn(tx)
    there = store.loaded(tx)
    new = [s for key, s in wanted.items() if key not in there]
    changed = [s for key, s in wanted.items() if key in there and _differs(s, there[key])]
    gone = [row.scenario_id for key, row in there.items() if key not in wanted and not row.archived]
    if new:
        store.add(tx, new)
    if changed:
        store.change(tx, changed)
    if gone:
        store.archive(tx, gone)
    return LoadCounts(
        inserted=len(new),
        updated=len(changed),
        archived=len(gone),
        unchanged=len(wanted) - len(new) - len(changed),
    )


def _differs(scenario: Scenario, there: store.Loaded) -> bool:
    return there.archived or there.content_sha256 != store.content_digest(scenario)


def _why_not(columns: Sequence[store.ForeignColumn]) -> str:
    said = "public.scenarios is a Sync app's, whose players would be offered rounds without content"
    required = [column.name for column in columns if column.required]
    others = [column.name for column in columns if not column.required]
    if required:
        said += f"; it takes no row without {', '.join(required)}"
    if others:
        said += f"; the library has nothing for {', '.join(others)}"
    return said + "."

"""`ledger show|verify`."""

from __future__ import annotations

from judgment.cli.output import emit
from judgment.cli.preferences.opening import opened

REFUSED = 1


def show(limit: int) -> None:
    """Print the entries, newest first."""
    emit({"entries": opened().ledger(limit)})


def verify() -> int | None:
    """Print whether the chain is whole; 1 where it is not."""
    found = opened().verify()
    emit(found)
    return None if found["intact"] else REFUSED

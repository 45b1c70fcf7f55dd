"""`ledger show|verify|begin-again`."""

from __future__ import annotations

from judgment.cli.output import emit, say
from judgment.cli.preferences.opening import opened
from judgment.kit.errors import Conflict, InvalidRequest

REFUSED = 1


def show(limit: int) -> None:
    """Print the entries, newest first."""
    emit({"entries": opened().ledger(limit)})


def verify() -> int | None:
    """Print whether the chain is whole; 1 where it is not."""
    found = opened().verify()
    emit(found)
    return None if found["intact"] else REFUSED


def begin_again(yes: bool) -> None:
    """Archive a ledger that is broken and print what the new one holds: nothing.

    A whole one is left alone: it could only lose by it. Raises InvalidRequest without `yes`,
    Conflict for a whole ledger, NotFound where somebody else keeps the ledger.
    """
    if not yes:
        raise InvalidRequest("This ends the present ledger for good: give --yes.")
    store = opened()
    if store.verify()["intact"]:
        raise Conflict("The ledger is whole. It was left as it is.")
    store.begin_ledger_again()
    say("The broken ledger lies in versions/ledger. Nothing in it was changed.")
    emit(store.verify())

"""The statements of hosted preferences; each runs in the transaction it is handed.

Those of the door run as `judgment_preferences`, which can read no signal and no document: what it
shows comes out of functions that ask consent and write the ledger. Those of the compiler run as
`judgment_worker`, under the claim of the one owner whom they are for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from judgment.db.queries import load_queries
from judgment.preferences.ledger import Head, Link

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

_Q = load_queries("judgment.preferences")
LINKS_AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class State:
    """How far an owner's stream, documents and consent have come, and where the ledger ends."""

    appended: int
    revision: int
    consented: int
    head: Head


@dataclass(frozen=True, slots=True)
class KnownSignal:
    """A signal that is there, as far as the door may know it."""

    id: UUID
    position: int
    recorded_at: datetime
    supersedes: str | None
    sent_sha256: str


@dataclass(frozen=True, slots=True)
class NewRow:
    """A signal as it is stored. `statement` is JSON text, kept as it is."""

    id: UUID
    position: int
    key: str
    scope: str
    instant: datetime
    sequence: int
    supersedes: str | None
    sent_sha256: str
    statement: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of `disclose_preferences`.

    `keys` of None asks for all, or for those `below` a key; `most` of them after the key `after`,
    in order of keys, or the `heaviest` first. `hand` and `correlation_id` go into the ledger.
    """

    whose: UUID
    audience: str
    purpose: str
    hand: str
    correlation_id: str
    platform: str | None = None
    keys: Sequence[str] | None = None
    below: str | None = None
    after: str | None = None
    most: int = 100
    heaviest: bool = False


def hold_state(tx: Transaction, user_id: UUID) -> State:
    """The owner's row, made where it is absent and locked until the transaction ends.

    Raises ForeignKeyViolated for somebody nobody knows.
    """
    row = tx.one(_Q["hold_state"], {"user_id": user_id})
    if row is None:
        tx.execute(_Q["make_state"], {"user_id": user_id})
        row = tx.one(_Q["hold_state"], {"user_id": user_id})
    assert row is not None  # it was made above, or by a transaction that has committed
    head = Head(row["ledger_position"], row["ledger_hash"])
    return State(row["appended"], row["revision"], row["consented"], head)


def known_signals(tx: Transaction, user_id: UUID, ids: Collection[UUID]) -> dict[UUID, KnownSignal]:
    """Those of the signals that are there already, by id."""
    rows = tx.all(_Q["known_signals"], {"user_id": user_id, "ids": list(ids)})
    return {row["id"]: KnownSignal(**row) for row in rows}


def standing_signal(tx: Transaction, key: str, scope: str) -> UUID | None:
    """The signal of the transaction's owner that holds for the key in that very scope."""
    return tx.value(_Q["standing_signal"], {"key": key, "scope": scope})


def add_signals(tx: Transaction, user_id: UUID, rows: Sequence[NewRow]) -> None:
    """Append signals behind the last one; the caller holds the owner's row."""
    tx.many(_Q["add_signal"], [{**asdict(row), "user_id": user_id} for row in rows])
    tx.execute(_Q["count_added"], {"user_id": user_id, "count": len(rows)})


def delete_signal(tx: Transaction, user_id: UUID, signal_id: UUID) -> bool:
    """Delete a signal for good; False when there is none. The caller holds the owner's row."""
    if not tx.execute(_Q["delete_signal"], {"user_id": user_id, "id": signal_id}):
        return False
    tx.execute(_Q["count_deleted"], {"user_id": user_id})
    return True


def disclose_preferences(tx: Transaction, question: Question) -> dict[str, Any]:
    """What the audience may see, already in the ledger.

    `allowed` false: nothing is open, or there is nobody of that id. Else `at`, `total`, `ahead`
    (entries after this page), `pending`, `quarantined`, `compiled_at` and `keys`: key → entry.
    Raises PermissionDenied for another owner's under any audience but `user:<own id>`.
    """
    values = {name: getattr(question, name) for name in Question.__slots__}
    values["keys"] = None if question.keys is None else list(question.keys)
    return tx.value(_Q["disclose_preferences"], values)


def disclose_signals(
    tx: Transaction,
    *,
    key: str | None,
    after: int,
    most: int,
    newest: bool,
    hand: str,
    correlation_id: str,
) -> dict[str, Any]:
    """`signals` of the transaction's owner, oldest first, already in the ledger.

    `newest` takes the last ones instead of the first after `after`, and says in `total` how many
    the key has. `allowed` is false for somebody nobody knows.
    """
    values = {"key": key, "after": after, "most": most, "newest": newest}
    return tx.value(
        _Q["disclose_signals"], {**values, "hand": hand, "correlation_id": correlation_id}
    )


def consent_events(tx: Transaction, user_id: UUID) -> list[dict[str, Any]]:
    """The history of consent, oldest first."""
    return tx.all(_Q["consent_events"], {"user_id": user_id})


def add_consent_event(tx: Transaction, user_id: UUID, event: Mapping[str, Any]) -> None:
    """Add a step of consent behind the last one; the caller holds the owner's row."""
    tx.execute(_Q["add_consent_event"], {**event, "user_id": user_id})
    tx.execute(_Q["count_consented"], {"user_id": user_id})


def ledger_before(tx: Transaction, user_id: UUID, before: int | None, most: int) -> list[Link]:
    """Links of the ledger, newest first."""
    rows = tx.all(_Q["ledger_before"], {"user_id": user_id, "before": before, "most": most})
    return [Link(**row) for row in rows]


def whole_ledger(tx: Transaction, user_id: UUID) -> Iterator[Link]:
    """Every link of the ledger, oldest first, some at a time."""
    after = 0
    while True:
        values = {"user_id": user_id, "after": after, "most": LINKS_AT_ONCE}
        rows = tx.all(_Q["ledger_after"], values)
        yield from (Link(**row) for row in rows)
        if len(rows) < LINKS_AT_ONCE:
            return
        after = rows[-1]["position"]


def revisions(tx: Transaction, user_id: UUID, *, lock: bool = False) -> tuple[int, int] | None:
    """The revision of the stream and of its documents; None for an owner without a stream."""
    row = tx.one(_Q["lock_revisions" if lock else "revisions"], {"user_id": user_id})
    return None if row is None else (row["revision"], row["compiled_revision"])


def statements(tx: Transaction, user_id: UUID) -> list[Any]:
    """Every signal of an owner as it was stored, in the order of the stream."""
    return [row["statement"] for row in tx.all(_Q["statements"], {"user_id": user_id})]


def keep_documents(
    tx: Transaction, user_id: UUID, documents: Mapping[str, tuple[str, str]], revision: int
) -> int:
    """Store digest and text by platform (empty: the global one), drop all others.

    How many were written; one whose digest is stored already is left as it is.
    """
    written = sum(
        tx.execute(
            _Q["keep_document"],
            {"user_id": user_id, "platform": name, "digest": digest, "document": text},
        )
        for name, (digest, text) in documents.items()
    )
    tx.execute(_Q["drop_documents"], {"user_id": user_id, "platforms": list(documents)})
    tx.execute(_Q["note_compiled"], {"user_id": user_id, "revision": revision})
    return written

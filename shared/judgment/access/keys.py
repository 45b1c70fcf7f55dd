"""Agent keys for their owner: mint, list, revoke (seed 000 §4, ruling 2).

The plaintext exists in one answer and nowhere else; what is stored is its SHA-256, a prefix and
the last four characters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from judgment.contract.keys import AgentKey, AgentKeyList, MintedKey, MintKeyRequest
from judgment.kit.clock import Clock, utc_now
from judgment.kit.errors import Conflict, InvalidRequest, NotFound
from judgment.kit.hashing import sha256_hex
from judgment.kit.ids import IdFactory, key_prefix, new_agent_key, new_id

if TYPE_CHECKING:
    from judgment.db.connection import Transaction
    from judgment.queue.idempotency import OncePerKey

MINT_ROUTE = "POST /api/v1/keys"
END_OF_TIME = datetime(9999, 1, 1, tzinfo=UTC)
"""A later moment may have no date in another time zone, and then cannot be read back."""


@dataclass(frozen=True, slots=True)
class NewKey:
    """A key as it is stored."""

    id: UUID
    user_id: UUID
    key_hash: str
    name: str
    prefix: str
    last4: str
    scopes: list[str]
    expires_at: datetime | None


class KeyRows(Protocol):
    """The key statements, run as `judgment_owner`. Rows have the fields of `AgentKey`."""

    def insert_key(self, tx: Transaction, key: NewKey) -> Mapping[str, Any]:
        """Store a key and return its row."""
        ...

    def list_keys(self, tx: Transaction, user_id: UUID) -> Sequence[Mapping[str, Any]]:
        """The owner's keys, newest first."""
        ...

    def revoke_key(
        self, tx: Transaction, user_id: UUID, key_id: UUID, at: datetime
    ) -> Mapping[str, Any] | None:
        """Mark a key revoked, keeping an earlier mark; None when the owner has no such key."""
        ...


class AgentKeys:
    """The use cases of an owner's keys."""

    def __init__(
        self,
        begin: Callable[[UUID], AbstractContextManager[Transaction]],
        rows: KeyRows,
        once: OncePerKey,
        clock: Clock = utc_now,
        ids: IdFactory = new_id,
        keys: Callable[[], str] = new_agent_key,
    ):
        self._begin = begin
        self._rows = rows
        self._once = once
        self._clock = clock
        self._ids = ids
        self._keys = keys

    def mint(
        self, owner: UUID, request: MintKeyRequest, idempotency_key: str | None = None
    ) -> MintedKey:
        """A new key with its plaintext.

        Raises InvalidRequest when it would be born expired or outlive the calendar, Conflict for a
        repeated `idempotency_key`: the plaintext is not stored, so a replay can only name the key.
        """
        ends = request.expires_at
        if ends is not None and not self._clock() < ends < END_OF_TIME:
            raise InvalidRequest("expires_at: must be in the future, before the year 9999")
        plaintext = self._keys()
        minted: list[MintedKey] = []

        def effect(tx: Transaction) -> tuple[int, dict[str, Any]]:
            row = self._rows.insert_key(tx, self._new(owner, request, plaintext))
            minted.append(MintedKey(**row, key=plaintext))
            return 201, {"id": str(row["id"])}

        body = request.model_dump(mode="json")
        with self._begin(owner) as tx:
            _, remembered, replayed = self._once(
                tx, owner, idempotency_key, MINT_ROUTE, body, lambda: effect(tx)
            )
        if replayed:
            raise Conflict(
                f"This Idempotency-Key already minted key {remembered['id']}; "
                "its plaintext was shown then and is not stored."
            )
        return minted[0]

    def listed(self, owner: UUID) -> AgentKeyList:
        """All keys of the owner, newest first, revoked ones included."""
        with self._begin(owner) as tx:
            return AgentKeyList(keys=[AgentKey(**row) for row in self._rows.list_keys(tx, owner)])

    def revoke(self, owner: UUID, key_id: UUID | None) -> AgentKey:
        """The key, revoked from now on. Raises NotFound; revoking twice keeps the first time."""
        row = None
        if key_id is not None:
            with self._begin(owner) as tx:
                row = self._rows.revoke_key(tx, owner, key_id, self._clock())
        if row is None:
            raise NotFound("You have no key with this id.")
        return AgentKey(**row)

    def _new(self, owner: UUID, request: MintKeyRequest, plaintext: str) -> NewKey:
        return NewKey(
            id=self._ids(),
            user_id=owner,
            key_hash=sha256_hex(plaintext),
            name=request.name,
            prefix=key_prefix(plaintext),
            last4=plaintext[-4:],
            scopes=sorted({scope.value for scope in request.scopes}),
            expires_at=request.expires_at,
        )

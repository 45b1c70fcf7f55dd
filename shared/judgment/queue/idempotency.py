"""A request that carries an `Idempotency-Key` has its effect once and its answer as often as asked.

Key, effect and answer are one transaction: a failure leaves none of them, and two requests at once
make the second wait and then repeat the first one's answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from judgment.kit.errors import Conflict, InvalidRequest
from judgment.kit.hashing import digest, sha256_hex
from judgment.queue import store

if TYPE_CHECKING:
    from judgment.db.connection import Transaction

KEY_LIMIT = 255
Effect = Callable[[], tuple[int, Any]]


class OncePerKey(Protocol):
    """Runs an effect at most once per owner and `Idempotency-Key`; `idempotent` is one."""

    def __call__(
        self, tx: Transaction, user_id: UUID, key: str | None, route: str, body: Any, effect: Effect
    ) -> tuple[int, Any, bool]:
        """Status, remembered response, and whether it is a replay. Raises Conflict."""
        ...


def idempotent(
    tx: Transaction, user_id: UUID, key: str | None, route: str, body: Any, effect: Effect
) -> tuple[int, Any, bool]:
    """Status, response, and whether they are those of an earlier request with the same key.

    `effect` works in `tx` and returns status and response; the response is stored for a week, so
    it holds no secret. `body` is bytes, or a JSON value that is compared without regard to its
    spelling. Without a key the effect just runs. Raises InvalidRequest for a key that is empty,
    over 255 characters or not printable ASCII, Conflict for the same key with another body.
    """
    if key is None:
        return (*effect(), False)
    if not 0 < len(key) <= KEY_LIMIT or not (key.isascii() and key.isprintable()):
        raise InvalidRequest("Idempotency-Key: 1 to 255 printable ASCII characters.")
    fingerprint = sha256_hex(body) if isinstance(body, bytes) else digest(body)
    if store.claim_key(tx, user_id, key, route, fingerprint):
        status, response = effect()
        store.keep_answer(tx, user_id, key, route, status, response)
        return status, response, False
    earlier = store.answer_of_key(tx, user_id, key, route)
    if earlier is None or earlier.status == 0:
        raise Conflict("A request with this Idempotency-Key is under way.")
    if earlier.body_sha256 != fingerprint:
        raise Conflict("This Idempotency-Key was used with another request body.")
    return earlier.status, earlier.response, True

"""The one call with which an agent is let through: scope, limit, switches, then what was asked.

The switches are read in the transaction of the read itself, so that what is served was allowed at
the moment it was read, and a switch thrown shows on the next request. The limiter is asked
meanwhile, on a thread of its own, because it is another network call and needs nothing from the
database. Source: rulings 6 and 19, issue "Measure".
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, TypeVar
from uuid import UUID

from judgment.kit.errors import Forbidden, ProfileAccessDisabled

if TYPE_CHECKING:
    from judgment.access.limits import Limit
    from judgment.contract.principal import Principal
    from judgment.contract.scopes import Scope
    from judgment.db.connection import Transaction

T = TypeVar("T")


class BeginRead(Protocol):
    """Opens a transaction under an owner's claim."""

    def __call__(
        self, user_id: UUID | None = None, *, read_only: bool = False
    ) -> AbstractContextManager[Transaction]:
        """See `judgment.db.connection.Database.transaction`."""
        ...


class Limiter(Protocol):
    """Counts uses."""

    def require(self, subject: str, limit: Limit) -> None:
        """See `limits.RateLimiter`."""
        ...


class ReadGate:
    """Lets an agent through, or refuses it.

    `agent_access` is the store's statement that reads the three switches: any that is off wins.
    """

    def __init__(
        self,
        begin: BeginRead,
        agent_access: Callable[[Transaction], bool],
        limiter: Limiter,
    ):
        self._begin = begin
        self._agent_access = agent_access
        self._limiter = limiter
        self._aside = ThreadPoolExecutor(max_workers=1, thread_name_prefix="limiter")

    def read(
        self,
        principal: Principal,
        scope: Scope,
        limit: Limit,
        use: Callable[[Transaction], T],
    ) -> T:
        """What `use` returns, in one read-only transaction of the principal's owner.

        Raises Forbidden (scope), ProfileAccessDisabled (a switch), RateLimited, Unavailable.
        """
        counted = self._counted(principal, scope, limit)
        try:
            with self._begin(principal.user_id, read_only=True) as tx:
                if not self._agent_access(tx):
                    raise ProfileAccessDisabled
                result = use(tx)
        except BaseException:  # however the read ends, the count must have ended too
            counted.exception()
            raise
        counted.result()
        return result

    def act(
        self,
        principal: Principal,
        scope: Scope,
        limit: Limit,
        use: Callable[[Transaction], T],
    ) -> T:
        """As `read`, in a transaction that may write; a refusal of any kind leaves nothing."""
        counted = self._counted(principal, scope, limit)
        try:
            with self._begin(principal.user_id) as tx:
                if not self._agent_access(tx):
                    raise ProfileAccessDisabled
                result = use(tx)
                counted.result()  # before the commit: one use too many must not have happened
        except BaseException:  # however it ends, the count must have ended too
            counted.exception()
            raise
        return result

    def _counted(self, principal: Principal, scope: Scope, limit: Limit) -> Future[None]:
        if scope not in principal.scopes:
            raise Forbidden(f"This key lacks the scope {scope.value}.")
        return self._aside.submit(self._limiter.require, str(principal.key_id), limit)

"""One row of the route table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from judgment.contract.scopes import Scope

Auth = Literal["none", "agent", "owner", "admin", "either"]
Errors = Literal["contract", "gateway"]


@dataclass(frozen=True)
class Route:
    """One method on one path. `limit` names a rate limit; `query` the model of its query string.

    A route with `auth` other than `none` and without `query` takes no query parameters. An
    `idempotent` one honours the `Idempotency-Key` header. `refuses` are the statuses that do not
    follow from the rest of the row. `errors`: our own error body, or that of the
    gateway whose clients call it (ruling 41). `body_kib` bounds the body.
    """

    method: str
    path: str
    door: str
    auth: Auth
    summary: str
    response: str | None = None
    request: str | None = None
    status: int = 200
    query: str | None = None
    scope: Scope | None = None
    limit: str | None = None
    idempotent: bool = False
    media_type: str = "application/json"
    refuses: tuple[int, ...] = ()
    errors: Errors = "contract"
    body_kib: int = 256

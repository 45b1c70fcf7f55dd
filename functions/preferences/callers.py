"""Who calls: an owner, or an agent, whose transactions go through the gate."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from judgment.preferences.asking import Asker

if TYPE_CHECKING:
    from functions.preferences.wiring import Parts
    from judgment.db.connection import Transaction
    from judgment.entry.http import Request

T = TypeVar("T")


def asker(parts: Parts, request: Request) -> Asker:
    """Who asks; an agent's transactions go through the gate with the route's scope and limit."""
    who, route = request.principal, request.route
    if who.kind == "owner":

        def directly(use: Callable[[Transaction], T]) -> T:
            with parts.begin(who.user_id) as tx:
                return use(tx)

        return Asker(who.user_id, "owner", request.correlation_id, directly)
    scope, limit = route.scope, route.limit
    assert scope is not None  # the route table names both for every agent route
    assert limit is not None

    def through_the_gate(use: Callable[[Transaction], T]) -> T:
        return parts.gate.act(who, scope, parts.limits[limit], use)

    return Asker(who.user_id, f"key {who.key_prefix}", request.correlation_id, through_the_gate)

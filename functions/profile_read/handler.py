"""Three reads, each one call of the gate: scope, limit, switches, and the read in one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING
from uuid import UUID

from functions.profile_read.wiring import wire
from judgment.contract.profile import RecentDecisionsQuery
from judgment.entry.http import HttpDoor, Request
from judgment.entry.opening import opened_on_first_call

if TYPE_CHECKING:
    from pydantic import BaseModel

    from judgment.access.gate import ReadGate
    from judgment.access.limits import Limit
    from judgment.db.connection import Transaction
    from judgment.entry.observability import Telemetry
    from judgment.profile.service import ProfileService


def build(
    gate: ReadGate,
    profiles: ProfileService,
    limits: Mapping[str, Limit],
    telemetry: Telemetry,
) -> HttpDoor:
    """The door over these parts; `limits` by the name that the route table gives them."""

    def read(request: Request, use: Callable[[Transaction, UUID], BaseModel]) -> BaseModel:
        who, route = request.principal, request.route
        assert route.scope is not None  # the route table names both for every agent read
        assert route.limit is not None
        return gate.read(who, route.scope, limits[route.limit], lambda tx: use(tx, who.user_id))

    def profile(request: Request) -> BaseModel:
        return read(request, profiles.profile)

    def recent(request: Request) -> BaseModel:
        limit = request.query(RecentDecisionsQuery).limit
        return read(request, lambda tx, user: profiles.recent_decisions(tx, user, limit))

    def explanation(request: Request) -> BaseModel:
        return read(request, profiles.explanation)

    return HttpDoor(
        "profile_read",
        {
            "GET /api/agent/v1/profile": profile,
            "GET /api/agent/v1/profile/recent-decisions": recent,
            "GET /api/agent/v1/profile/explanation": explanation,
        },
        telemetry,
    )


handler = opened_on_first_call(lambda: build(*wire()))

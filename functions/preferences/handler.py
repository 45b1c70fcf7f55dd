"""Each route is one call of `judgment.preferences`: agents pass the gate, owners do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.preferences.callers import asker
from functions.preferences.wiring import Parts, wire
from judgment.contract.preferences import (
    BlockQuery,
    CaptureRequest,
    GrantRequest,
    LedgerQuery,
    PreferencesQuery,
    RevokeRequest,
    SignalsQuery,
    SolveRequest,
    WhyQuery,
)
from judgment.entry.http import Endpoint, HttpDoor, Reply, Request
from judgment.entry.opening import opened_on_first_call
from judgment.kit.ids import parse_uuid

if TYPE_CHECKING:
    from pydantic import BaseModel

    from judgment.entry.observability import Telemetry


def build(parts: Parts, telemetry: Telemetry) -> HttpDoor:
    """The door over these parts."""
    shared = _of_agents_and_owners(parts)
    return HttpDoor(
        "preferences",
        {
            **{f"{method} /api/agent/v1/preferences{path}": e for (method, path), e in shared},
            **{f"{method} /api/v1/preferences{path}": e for (method, path), e in shared},
            **_of_owners(parts),
        },
        telemetry,
    )


def _of_agents_and_owners(parts: Parts) -> list[tuple[tuple[str, str], Endpoint]]:
    def preferences(request: Request) -> BaseModel:
        return parts.reading.preferences(asker(parts, request), request.query(PreferencesQuery))

    def why(request: Request) -> BaseModel:
        return parts.reading.why(asker(parts, request), request.query(WhyQuery))

    def block(request: Request) -> BaseModel:
        return parts.reading.block(asker(parts, request), request.query(BlockQuery))

    def capture(request: Request) -> BaseModel:
        return parts.capturing.capture(
            asker(parts, request),
            request.body(CaptureRequest),
            request.idempotency_key(),
            _route(request),
            request.deadline,
        )

    def solve(request: Request) -> BaseModel:
        return parts.deciding.solve(asker(parts, request), request.body(SolveRequest))

    return [
        (("GET", ""), preferences),
        (("GET", "/why"), why),
        (("GET", "/block"), block),
        (("POST", "/signals"), capture),
        (("POST", "/solve"), solve),
    ]


def _of_owners(parts: Parts) -> dict[str, Endpoint]:
    consenting = parts.consenting

    def signals(request: Request) -> BaseModel:
        return parts.reading.signals(asker(parts, request), request.query(SignalsQuery))

    def forget(request: Request) -> Reply:
        signal_id = parse_uuid(request.path["signal_id"])
        parts.capturing.forget(asker(parts, request), signal_id, request.deadline)
        return Reply()

    def change(request: Request, model: type[GrantRequest] | type[RevokeRequest]) -> BaseModel:
        return consenting.change(
            asker(parts, request),
            request.body(model),
            request.idempotency_key(),
            _route(request),
            request.deadline,
        )

    here = "/api/v1/preferences"
    return {
        f"GET {here}/signals": signals,
        f"DELETE {here}/signals/{{signal_id}}": forget,
        f"GET {here}/consent": lambda r: consenting.history(asker(parts, r)),
        f"POST {here}/consent": lambda r: change(r, GrantRequest),
        f"POST {here}/consent/revocations": lambda r: change(r, RevokeRequest),
        f"GET {here}/ledger": lambda r: consenting.ledger(asker(parts, r), r.query(LedgerQuery)),
        f"GET {here}/ledger/verification": lambda r: consenting.verification(asker(parts, r)),
    }


def _route(request: Request) -> str:
    return f"{request.route.method} {request.route.path}"


handler = opened_on_first_call(lambda: build(*wire()))

"""Three calls of `judgment.scenarios.rounds`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.rounds.wiring import wire
from judgment.contract.rounds import DecisionRequest, NextQuery, RecordedDecision, Scenario
from judgment.entry.http import HttpDoor, Request
from judgment.entry.opening import opened_on_first_call
from judgment.kit.ids import parse_uuid

if TYPE_CHECKING:
    from judgment.entry.observability import Telemetry
    from judgment.scenarios.rounds import Rounds


def build(rounds: Rounds, telemetry: Telemetry) -> HttpDoor:
    """The door over these parts."""

    def following(request: Request) -> Scenario:
        return rounds.next(request.principal.user_id, request.query(NextQuery).theme)

    def scenario(request: Request) -> Scenario:
        return rounds.scenario(request.principal.user_id, parse_uuid(request.path["scenario_id"]))

    def decide(request: Request) -> RecordedDecision:
        return rounds.record(
            request.principal.user_id,
            request.body(DecisionRequest),
            request.idempotency_key(),
            request.correlation_id,
            request.deadline,
        )

    return HttpDoor(
        "rounds",
        {
            "GET /api/v1/scenarios/next": following,
            "GET /api/v1/scenarios/{scenario_id}": scenario,
            "POST /api/v1/decisions": decide,
        },
        telemetry,
    )


handler = opened_on_first_call(lambda: build(*wire()))

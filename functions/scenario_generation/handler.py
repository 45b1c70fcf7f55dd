"""One call of `judgment.scenarios.personal.making`; a fallback is said in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.scenario_generation.wiring import wire
from judgment.entry.http import HttpDoor, Request
from judgment.entry.observability import SCENARIO_FELL_BACK
from judgment.entry.opening import opened_on_first_call

if TYPE_CHECKING:
    from judgment.contract.rounds import Scenario
    from judgment.entry.observability import Telemetry
    from judgment.scenarios.personal.making import FellBack, PersonalRounds


def build(rounds: PersonalRounds, telemetry: Telemetry) -> HttpDoor:
    """The door over these parts."""

    def make(request: Request) -> Scenario:
        def fell_back(why: FellBack) -> None:
            telemetry.count(SCENARIO_FELL_BACK)
            telemetry.warning(
                "scenario.fell_back",
                correlation_id=request.correlation_id,
                user_id=str(request.principal.user_id),
                code=why.code,
                complaints=list(why.complaints),
                model=why.model,
                category=why.category,
            )

        owner = request.principal.user_id
        return rounds.make(owner, request.correlation_id, request.deadline, fell_back)

    return HttpDoor("scenario_generation", {"POST /api/v1/scenarios/personal": make}, telemetry)


handler = opened_on_first_call(lambda: build(*wire()))

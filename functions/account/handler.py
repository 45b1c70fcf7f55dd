"""Three calls of `judgment.access.account`, and an owner's choice of models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.account.wiring import wire
from judgment.contract.account import AgentAccess, ExportQuery
from judgment.contract.models import ModelsInUse, OwnModels
from judgment.entry.http import HttpDoor, Reply, Request
from judgment.entry.opening import opened_on_first_call

if TYPE_CHECKING:
    from judgment.access.account import Account
    from judgment.entry.observability import Telemetry
    from judgment.llm.service import OwnersChoices


def build(account: Account, choices: OwnersChoices, telemetry: Telemetry) -> HttpDoor:
    """The door over these parts."""

    def agent_access(request: Request) -> AgentAccess:
        return account.set_agent_access(request.principal.user_id, request.body(AgentAccess))

    def export(request: Request) -> Reply:
        cursor = request.query(ExportQuery).cursor
        page = account.export(request.principal.user_id, cursor)
        return Reply(page, content_type=request.route.media_type)

    def erase(request: Request) -> Reply:
        touched = account.erase(request.principal.user_id)
        telemetry.info("erased", correlation_id=request.correlation_id, rows=touched)
        return Reply()

    def models(request: Request) -> ModelsInUse:
        return choices.in_use(request.principal.user_id)

    def choose_models(request: Request) -> ModelsInUse:
        return choices.choose(request.principal.user_id, request.body(OwnModels))

    return HttpDoor(
        "account",
        {
            "PUT /api/v1/agent-access": agent_access,
            "GET /api/v1/account/export": export,
            "DELETE /api/v1/account": erase,
            "GET /api/v1/models": models,
            "PUT /api/v1/models": choose_models,
        },
        telemetry,
    )


handler = opened_on_first_call(lambda: build(*wire()))

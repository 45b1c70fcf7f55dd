"""Three calls of `judgment.scenarios.personal.context`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.personal_context.wiring import wire
from judgment.contract.personal import PersonalContext, PersonalContextText
from judgment.entry.http import HttpDoor, Reply, Request
from judgment.entry.opening import opened_on_first_call

if TYPE_CHECKING:
    from judgment.entry.observability import Telemetry
    from judgment.scenarios.personal.context import PersonalContexts


def build(contexts: PersonalContexts, telemetry: Telemetry) -> HttpDoor:
    """The door over these parts."""

    def read(request: Request) -> PersonalContext:
        return contexts.read(request.principal.user_id)

    def write(request: Request) -> PersonalContext:
        text = request.body(PersonalContextText).personal_context
        return contexts.write(request.principal.user_id, text)

    def dismiss(request: Request) -> Reply:
        contexts.dismiss_lightbox(request.principal.user_id)
        return Reply()

    return HttpDoor(
        "personal_context",
        {
            "GET /api/v1/personal-context": read,
            "PUT /api/v1/personal-context": write,
            "POST /api/v1/onboarding/lightbox/dismiss": dismiss,
        },
        telemetry,
    )


handler = opened_on_first_call(lambda: build(*wire()))

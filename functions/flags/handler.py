"""Two calls of `judgment.access.flags`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from functions.flags.wiring import wire
from judgment.contract.flags import AgentAccessFlag
from judgment.entry.http import HttpDoor, Request
from judgment.entry.opening import opened_on_first_call

if TYPE_CHECKING:
    from judgment.access.flags import KillSwitch
    from judgment.entry.observability import Telemetry


def build(switch: KillSwitch, telemetry: Telemetry) -> HttpDoor:
    """The door over these parts."""

    def show(_: Request) -> AgentAccessFlag:
        return switch.read()

    def throw(request: Request) -> AgentAccessFlag:
        return switch.set(request.body(AgentAccessFlag))

    return HttpDoor(
        "flags",
        {"GET /api/admin/v1/flags": show, "PUT /api/admin/v1/flags": throw},
        telemetry,
    )


handler = opened_on_first_call(lambda: build(*wire()))

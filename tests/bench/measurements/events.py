"""A request as a door gets it: the gateway's event with the authorizer's context in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.bench.workbench import PROFILE

if TYPE_CHECKING:
    from tests.bench.workbench import Workbench


def authorized_event(bench: Workbench, path: str = PROFILE, *, query: str = "") -> dict[str, Any]:
    """A GET of the seeded person's agent, authorized by the real authorizer in this process."""
    with bench.as_door("authorizer"):
        from functions.authorizer.handler import handler

        event = bench.event(path, bench.owner["agent_key"], query=query)
        context = handler(bench.question(event), None)["context"]
    event["requestContext"]["authorizer"] = context
    return event

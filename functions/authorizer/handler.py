"""Says who is asking; see `judgment.entry.authorizing` for what API Gateway makes of it."""

from __future__ import annotations

from functions.authorizer.wiring import wire
from judgment.entry.authorizing import AuthorizerDoor
from judgment.entry.observability import Telemetry
from judgment.entry.opening import opened_on_first_call

handler = opened_on_first_call(lambda: AuthorizerDoor(wire(), Telemetry("authorizer")))

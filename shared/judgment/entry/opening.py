"""A Lambda handler that is put together on its first call.

Importing a door must need no environment and no network, and wiring needs both; so the handler
that Lambda finds at import builds the real one when it is first called, and keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

LambdaHandler = Callable[[Mapping[str, Any], Any], Any]


def opened_on_first_call(build: Callable[[], LambdaHandler]) -> LambdaHandler:
    """A handler that calls `build` once, then what it returned.

    When `build` raises (a missing setting), the error is the invocation's and the next call tries
    again.
    """
    built: list[LambdaHandler] = []

    def handler(event: Mapping[str, Any], context: Any) -> Any:
        if not built:
            built.append(build())
        return built[0](event, context)

    return handler

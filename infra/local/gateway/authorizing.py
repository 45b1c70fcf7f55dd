"""Asking the authorizer door, and reading its answer as API Gateway does (no caching: TTL 0)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from fnmatch import fnmatchcase
from typing import Any

from infra.local.gateway.events import Event, authorizer_event
from infra.local.gateway.invoking import FunctionError, InvocationFailed

Ask = Callable[[Event], Awaitable[Any]]


class Refused(Exception):
    """The request goes no further; `type` is the gateway response that says so."""

    def __init__(self, type_: str):
        self.type = type_
        super().__init__(type_)


async def authorize(ask: Ask, event: Event) -> dict[str, str]:
    """The flat authorizer context of an allowed request. Raises Refused.

    The message "Unauthorized", raised by the door, is API Gateway's way to say 401.
    """
    question = authorizer_event(event)
    try:
        answer = await ask(question)
    except FunctionError as failure:
        unauthorized = failure.message == "Unauthorized"
        raise Refused("UNAUTHORIZED" if unauthorized else "AUTHORIZER_FAILURE") from failure
    except InvocationFailed as failure:
        raise Refused("AUTHORIZER_FAILURE") from failure
    try:
        effects = _effects(answer["policyDocument"], question["methodArn"])
        context = _flat(answer["principalId"], answer.get("context") or {})
    except (AttributeError, KeyError, TypeError, ValueError) as failure:
        raise Refused("AUTHORIZER_CONFIGURATION_ERROR") from failure
    if "Deny" in effects or "Allow" not in effects:
        raise Refused("ACCESS_DENIED")
    return context


def _effects(policy: dict[str, Any], arn: str) -> set[str]:
    effects: set[str] = set()
    for statement in policy["Statement"]:
        resources = statement["Resource"]
        patterns = [resources] if isinstance(resources, str) else resources
        if any(fnmatchcase(arn, pattern) for pattern in patterns):
            effects.add(statement["Effect"])
    return effects


def _flat(principal: str, context: dict[str, Any]) -> dict[str, str]:
    flat = {"principalId": str(principal)}
    for name, value in context.items():
        if not isinstance(value, str | bool | int | float):
            raise ValueError(f"context value {name} is not flat")
        flat[name] = str(value).lower() if isinstance(value, bool) else str(value)
    return flat

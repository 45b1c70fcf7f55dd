"""What API Gateway makes of an authorizer's answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from infra.local.gateway.authorizing import Refused, authorize
from infra.local.gateway.invoking import FunctionError, IntegrationTimeout

_EVENT = {"httpMethod": "GET", "path": "/api/agent/v1/profile", "requestContext": {}, "body": "x"}


def _allow(resource: Any = "*", effect: str = "Allow", **context: Any) -> dict[str, Any]:
    statement = {"Action": "execute-api:Invoke", "Effect": effect, "Resource": resource}
    return {
        "principalId": "me",
        "policyDocument": {"Version": "2012-10-17", "Statement": [statement]},
        "context": context,
    }


def _outcome(answer: Any) -> dict[str, str]:
    async def ask(question: dict[str, Any]) -> Any:
        assert question["type"] == "REQUEST"
        assert "body" not in question
        if isinstance(answer, Exception):
            raise answer
        return answer

    return asyncio.run(authorize(ask, dict(_EVENT)))


def test_an_allowed_caller_becomes_flat_strings() -> None:
    found = _outcome(_allow("arn:aws:execute-api:*:*:*/live/*", user_id="u", is_admin=True, n=3))
    assert found == {"principalId": "me", "user_id": "u", "is_admin": "true", "n": "3"}


@pytest.mark.promise("R-19")
@pytest.mark.parametrize(
    ("answer", "type_"),
    [
        (FunctionError("Exception", "Unauthorized"), "UNAUTHORIZED"),
        (FunctionError("Exception", "unauthorized"), "AUTHORIZER_FAILURE"),
        (FunctionError("Unavailable", "the database is away"), "AUTHORIZER_FAILURE"),
        (IntegrationTimeout("late"), "AUTHORIZER_FAILURE"),
        (None, "AUTHORIZER_CONFIGURATION_ERROR"),
        ("yes", "AUTHORIZER_CONFIGURATION_ERROR"),
        ({"principalId": "me"}, "AUTHORIZER_CONFIGURATION_ERROR"),
        (_allow(nested={"a": 1}), "AUTHORIZER_CONFIGURATION_ERROR"),
        (_allow(effect="Deny"), "ACCESS_DENIED"),
        (_allow("arn:aws:execute-api:*/live/GET/elsewhere"), "ACCESS_DENIED"),
    ],
)
def test_every_other_answer_is_a_gateway_response(answer: Any, type_: str) -> None:
    with pytest.raises(Refused) as refused:
        _outcome(answer)
    assert refused.value.type == type_

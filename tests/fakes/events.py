"""API Gateway's REST-proxy and authorizer events and SQS's batches, as a door receives them."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from judgment.contract.principal import Principal

STAGE_ARN = "arn:aws:execute-api:eu-central-1:123456789012:a1b2c3d4e5/live"


def agent(user_id: uuid.UUID, *scopes: str, key_id: uuid.UUID | None = None) -> Principal:
    """An agent with a key of that owner; `profile:read` unless scopes are given."""
    return Principal(
        kind="agent",
        user_id=user_id,
        key_id=key_id or uuid.uuid4(),
        key_prefix="sync_abcdefg",
        scopes=frozenset(scopes or ("profile:read",)),
    )


def owner(user_id: uuid.UUID, *, admin: bool = False) -> Principal:
    """The person themself."""
    return Principal(kind="owner", user_id=user_id, is_admin=admin)


def http_event(
    method: str,
    path: str,
    *,
    resource: str | None = None,
    principal: Principal | None = None,
    query: Mapping[str, Sequence[str]] | None = None,
    headers: Mapping[str, str | list[str]] | None = None,
    body: str | None = None,
    base64: bool = False,
    path_parameters: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A REST-proxy event. `resource` defaults to `path`."""
    values = {k: list(v) for k, v in query.items()} if query else None
    listed = {k: v if isinstance(v, list) else [v] for k, v in (headers or {}).items()}
    return {
        "resource": resource or path,
        "path": path,
        "httpMethod": method,
        "headers": {k: v[-1] for k, v in listed.items()} or None,
        "multiValueHeaders": listed or None,
        "queryStringParameters": {k: v[-1] for k, v in values.items()} if values else None,
        "multiValueQueryStringParameters": {k: list(v) for k, v in query.items()}
        if query
        else None,
        "pathParameters": dict(path_parameters) if path_parameters else None,
        "stageVariables": None,
        "requestContext": {
            "requestId": "11111111-2222-4333-8444-555555555555",
            "domainName": "api.example.test",
            "stage": "live",
            "path": path,
            "resourcePath": resource or path,
            "httpMethod": method,
            "authorizer": principal.to_context() if principal else None,
        },
        "body": body,
        "isBase64Encoded": base64,
    }


def authorizer_event(
    method: str,
    resource: str,
    *,
    path: str | None = None,
    headers: Mapping[str, str | list[str]] | None = None,
    query: Mapping[str, Sequence[str]] | None = None,
) -> dict[str, Any]:
    """A REQUEST authorizer event for one method of one resource."""
    event = http_event(method, path or resource, resource=resource, headers=headers, query=query)
    del event["body"], event["isBase64Encoded"], event["requestContext"]["authorizer"]
    return {
        "type": "REQUEST",
        "methodArn": f"{STAGE_ARN}/{method}{path or resource}",
        **event,
    }


def sqs_event(queue: str, *bodies: str, received: int = 1) -> dict[str, Any]:
    """A batch of messages `m0`, `m1`, … of a queue, each delivered for the `received`th time."""
    return {
        "Records": [
            {
                "messageId": f"m{n}",
                "receiptHandle": "r",
                "body": body,
                "attributes": {"ApproximateReceiveCount": str(received)},
                "messageAttributes": {},
                "eventSource": "aws:sqs",
                "eventSourceARN": f"arn:aws:sqs:eu-central-1:123456789012:{queue}",
                "awsRegion": "eu-central-1",
            }
            for n, body in enumerate(bodies)
        ]
    }

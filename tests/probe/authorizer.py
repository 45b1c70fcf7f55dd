"""An authorizer for tests of the gateway alone: the word "good" is somebody, all else is nobody."""

from __future__ import annotations

from typing import Any


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Allow `Bearer good`; raise the word that API Gateway turns into 401 for the rest."""
    headers = event["headers"] or {}
    if headers.get("Authorization") != "Bearer good":
        raise PermissionError("Unauthorized")
    statement = {"Action": "execute-api:Invoke", "Effect": "Allow", "Resource": "*"}
    return {
        "principalId": "probe-user",
        "policyDocument": {"Version": "2012-10-17", "Statement": [statement]},
        "context": {
            "user_id": "probe-user",
            "key_prefix": "sync_probe",
            "via": headers.get("X-Judgment-Via", "direct"),
        },
    }

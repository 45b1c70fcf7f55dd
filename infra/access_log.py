"""The wire log: one JSON line per request, written by API Gateway and by the local gateway alike.

The values are API Gateway's own access-log variables; a variable without a value reads `-`. No
header, query or body is in it, so that no secret can be. Locally the lines of agent routes go to
`.local/wire.jsonl`; on AWS they have their own log group, kept 30 days (ruling 33).
"""

from __future__ import annotations

import json
from collections.abc import Mapping

WIRE_LOG_PREFIX = "/api/agent/v1/"

FIELDS: dict[str, str] = {
    "time": "requestTime",
    "request_id": "requestId",
    "correlation_id": "authorizer.correlation_id",
    "user_id": "authorizer.user_id",
    "key_prefix": "authorizer.key_prefix",
    "via": "authorizer.via",
    "method": "httpMethod",
    "path": "path",
    "status": "status",
    "milliseconds": "responseLatency",
}


def access_log_format() -> str:
    """The format string for an API Gateway stage: every value is a quoted `$context` variable."""
    return json.dumps({name: f"$context.{variable}" for name, variable in FIELDS.items()})


def access_log_line(context: Mapping[str, str]) -> str:
    """The line the format yields for these `$context` values, keyed without `$context.`."""
    return json.dumps({name: context.get(variable, "-") for name, variable in FIELDS.items()})

"""A JSON door that shows the event it got, or misbehaves as the query asks."""

from __future__ import annotations

import json
import os
import time
from typing import Any


def handler(event: dict[str, Any], context: Any) -> Any:
    """`?do=` raise | exit | malformed | sleep:<s> | big:<bytes> | environ; else the event."""
    query = event.get("queryStringParameters") or {}
    deed, _, much = query.get("do", "").partition(":")
    if deed == "raise":
        raise ValueError("the probe was asked to raise: secret-detail")
    if deed == "exit":
        os._exit(3)
    if deed == "malformed":
        return {"body": "no status code"}
    if deed == "sleep":
        time.sleep(float(much))
    if deed == "big":
        return _json(200, {"filler": "x" * int(much)})
    if deed == "environ":
        return _json(200, dict(os.environ))
    if deed == "headers":
        return {
            "statusCode": 418,
            "headers": {"WWW-Authenticate": "Probe", "X-One": "1"},
            "multiValueHeaders": {"Set-Cookie": ["a=1", "b=2"]},
            "body": "tea",
        }
    left = context.get_remaining_time_in_millis()
    return _json(200, {"event": event, "milliseconds_left": left, "pid": os.getpid()})


def _json(status: int, body: Any) -> dict[str, Any]:
    headers = {"Content-Type": "application/json"}
    return {"statusCode": status, "headers": headers, "body": json.dumps(body)}

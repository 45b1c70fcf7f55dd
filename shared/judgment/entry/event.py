"""Reading API Gateway's REST-proxy and authorizer events, whose every part may be null."""

from __future__ import annotations

import base64
import re
from collections.abc import Mapping
from typing import Any, cast

from judgment.kit.errors import InvalidRequest
from judgment.kit.ids import new_id

Event = Mapping[str, Any]

CORRELATION_HEADER = "X-Correlation-Id"
VIA_HEADER = "X-Judgment-Via"
"""`mcp` on the calls that the MCP door makes; the wire log tells them from direct ones by it."""
BODY_LIMIT = 256 * 1024
"""Bytes of a request's body, at every door."""
_ACCEPTED = re.compile(r"[A-Za-z0-9._:-]{1,128}", re.ASCII)


def section(event: Event, *names: str) -> dict[str, Any]:
    """The object at that path of the event; empty where it is null or absent."""
    value: Any = event
    for name in names:
        value = cast("dict[str, Any]", value).get(name) or {}
    return cast("dict[str, Any]", value)


def headers(event: Event, name: str) -> list[str]:
    """Every value of one header, whatever the case of its name, in order of arrival."""
    wanted = name.lower()
    several = section(event, "multiValueHeaders")
    if several:
        return [
            value
            for key, values in several.items()
            if key.lower() == wanted
            for value in cast("list[str]", values)
        ]
    return [str(v) for key, v in section(event, "headers").items() if key.lower() == wanted]


def header(event: Event, name: str) -> str | None:
    """One header; the last of several."""
    values = headers(event, name)
    return values[-1] if values else None


def correlation_id(event: Event) -> str:
    """The caller's `X-Correlation-Id` where it is 1-128 plain characters, else the request id.

    Anything else in the header is dropped rather than cleaned: the value is copied into log lines
    and into the access log, whose format has no escaping.
    """
    given = header(event, CORRELATION_HEADER)
    if given and _ACCEPTED.fullmatch(given):
        return given
    return section(event, "requestContext").get("requestId") or str(new_id())


def query_values(event: Event) -> dict[str, list[str]]:
    """Each query parameter with every value it was given."""
    several = section(event, "multiValueQueryStringParameters")
    if several:
        return several
    return {name: [value] for name, value in section(event, "queryStringParameters").items()}


def body_size(event: Event) -> int:
    """The size of the body in bytes, without decoding it."""
    body = cast("str", event.get("body") or "")
    if event.get("isBase64Encoded"):
        return len(body) * 3 // 4 - body[-2:].count("=")
    return len(body) if body.isascii() else len(body.encode("utf-8", "surrogatepass"))


def body_bytes(event: Event) -> bytes:
    """The body as it was sent. Raises InvalidRequest for base64 that is none."""
    body = cast("str", event.get("body") or "")
    if not event.get("isBase64Encoded"):
        return body.encode("utf-8", "surrogatepass")
    try:
        return base64.b64decode(body, validate=True)
    except ValueError as error:
        raise InvalidRequest("The body is not valid base64.") from error

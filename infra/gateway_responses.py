"""What API Gateway itself answers, in the contract's error form: one table for AWS and for local.

CDK turns each row into an `AWS::ApiGateway::GatewayResponse`; the local gateway serves the same
rows. Bodies are static, because a gateway response knows no logic. Every type that can occur has
a row of its own, so that the two DEFAULT rows only catch what AWS may add later.
Source: architecture "Wire rules", rulings 19 and 20.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from judgment.kit.errors import (
    Forbidden,
    InvalidRequest,
    NotFound,
    RateLimited,
    Refusal,
    TooLarge,
    Unauthorized,
    Unavailable,
)

_NO_STORE = ("Cache-Control", "no-store")


@dataclass(frozen=True)
class GatewayResponse:
    """One answer of the gateway's own; `body` is ASCII JSON, `headers` lack Content-Type."""

    type: str
    status: int
    body: str
    headers: tuple[tuple[str, str], ...] = (_NO_STORE,)


def _row(
    type_: str,
    refusal: type[Refusal],
    message: str | None = None,
    *,
    retry_after_seconds: int | None = None,
    error: str | None = None,
    headers: tuple[tuple[str, str], ...] = (),
) -> GatewayResponse:
    body: dict[str, object] = {"code": refusal.code}
    if error:
        body["error"] = error
    body["message"] = message or refusal.default
    if retry_after_seconds is not None:
        body["retry_after_seconds"] = retry_after_seconds
        headers += (("Retry-After", str(retry_after_seconds)),)
    text = json.dumps(body, separators=(",", ":"))
    return GatewayResponse(type_, refusal.status, text, (_NO_STORE, *headers))


_CHALLENGE = (("WWW-Authenticate", 'Bearer realm="sync"'),)
_TIMED_OUT = "The request took too long. Try again."

GATEWAY_RESPONSES: tuple[GatewayResponse, ...] = (
    _row("UNAUTHORIZED", Unauthorized, error="Unauthorized", headers=_CHALLENGE),
    _row("EXPIRED_TOKEN", Unauthorized, error="Unauthorized", headers=_CHALLENGE),
    _row("INVALID_SIGNATURE", Unauthorized, error="Unauthorized", headers=_CHALLENGE),
    _row("INVALID_API_KEY", Unauthorized, error="Unauthorized", headers=_CHALLENGE),
    _row("ACCESS_DENIED", Forbidden),
    _row("WAF_FILTERED", Forbidden, "The request was refused by a filter."),
    _row("MISSING_AUTHENTICATION_TOKEN", NotFound),
    _row("RESOURCE_NOT_FOUND", NotFound),
    _row("BAD_REQUEST_BODY", InvalidRequest, "The request body is not valid."),
    _row("BAD_REQUEST_PARAMETERS", InvalidRequest, "A request parameter is not valid."),
    _row("UNSUPPORTED_MEDIA_TYPE", InvalidRequest, "This media type is not supported."),
    _row("REQUEST_TOO_LARGE", TooLarge),
    _row("THROTTLED", RateLimited, "Too many requests. Try again.", retry_after_seconds=1),
    _row("QUOTA_EXCEEDED", RateLimited, "Too many requests. Try again.", retry_after_seconds=60),
    _row("AUTHORIZER_FAILURE", Unavailable),
    _row("AUTHORIZER_CONFIGURATION_ERROR", Unavailable),
    _row("INTEGRATION_TIMEOUT", Unavailable, _TIMED_OUT),
    _row("INTEGRATION_FAILURE", Unavailable),
    _row("API_CONFIGURATION_ERROR", Refusal),
    _row("DEFAULT_4XX", InvalidRequest),
    _row("DEFAULT_5XX", Refusal),
)

_BY_TYPE = {row.type: row for row in GATEWAY_RESPONSES}


def gateway_response(type_: str) -> GatewayResponse:
    """The row of that response type. Raises KeyError for a type the table does not hold."""
    return _BY_TYPE[type_]

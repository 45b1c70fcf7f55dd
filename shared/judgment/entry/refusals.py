"""A refusal as the bytes of an HTTP answer: the one place that renders the error tree."""

from __future__ import annotations

from judgment.kit.errors import InvalidRequest, Refusal, Unauthorized
from judgment.kit.hashing import canonical_json

JSON = "application/json"
REALM = 'Bearer realm="sync"'


class InvalidShape(InvalidRequest):
    """The body or the query string is not what the route's schema asks for."""


def problem_body(refusal: Refusal) -> str:
    """The contract's `Problem` as compact JSON; a 401 also says `error` (ruling 19)."""
    body: dict[str, str | int] = {"code": refusal.code, "message": refusal.message}
    if isinstance(refusal, Unauthorized):
        body["error"] = "Unauthorized"
    if refusal.retry_after_seconds is not None:
        body["retry_after_seconds"] = refusal.retry_after_seconds
    return canonical_json(body)


def gateway_body(refusal: Refusal) -> str:
    """The same for routes whose clients were written for another gateway: `{"error": …}`.

    Its words for a wrong body, a missing login and a defect are that gateway's (ruling 41).
    """
    error = refusal.message
    if isinstance(refusal, InvalidShape):
        error = "Invalid request"
    elif isinstance(refusal, Unauthorized):
        error = "Unauthorized"
    return canonical_json({"error": error})


def problem_headers(refusal: Refusal) -> dict[str, str]:
    """Headers that go with the body: `Retry-After` and, for a 401, `WWW-Authenticate`.

    API Gateway renames the latter when a Lambda sends it; the real one comes from the gateway
    response of the authorizer.
    """
    headers: dict[str, str] = {}
    if refusal.retry_after_seconds is not None:
        headers["Retry-After"] = str(refusal.retry_after_seconds)
    if isinstance(refusal, Unauthorized):
        headers["WWW-Authenticate"] = REALM
    return headers

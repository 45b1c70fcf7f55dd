"""Every refusal the product can utter; the edge renders them, nothing else does.

Refusal
├── InvalidRequest          400 invalid_request
├── Unauthorized            401 unauthorized
├── Forbidden               403 forbidden
│   └── ProfileAccessDisabled   403 profile_access_disabled
├── NotFound                404 not_found
├── Conflict                409 conflict
├── TooLarge                413 too_large
├── RateLimited             429 rate_limited, with retry_after_seconds
└── Unavailable             503 unavailable

Anything else that escapes a use case is a defect and becomes 500 internal_error.
Source: seed 000 §4, architecture "Wire rules".
"""

from __future__ import annotations

from typing import ClassVar


class Refusal(Exception):
    """A request that is understood and declined. `message` is fit for the caller's eyes."""

    status: ClassVar[int] = 500
    code: ClassVar[str] = "internal_error"
    default: ClassVar[str] = "Something went wrong on our side. Try again."

    def __init__(self, message: str | None = None, *, retry_after_seconds: int | None = None):
        self.message = message or self.default
        self.retry_after_seconds = retry_after_seconds
        super().__init__(self.message)


class InvalidRequest(Refusal):
    """The request breaks its schema or a parameter's range."""

    status, code, default = 400, "invalid_request", "The request is not valid."


class Unauthorized(Refusal):
    """No credential, or one that is unknown, malformed, expired, revoked, or of the wrong kind."""

    status, code = 401, "unauthorized"
    default = "Missing or invalid Sync API key. Send header: Authorization: Bearer <key>"


class Forbidden(Refusal):
    """The caller is known and may not do this."""

    status, code, default = 403, "forbidden", "This credential may not do that."


class ProfileAccessDisabled(Forbidden):
    """Agent access is off for this owner, or for everybody (seed 000 §10.1)."""

    code = "profile_access_disabled"
    default = "Agent access to this profile is switched off."


class NotFound(Refusal):
    """Nothing here by that name that the caller may see."""

    status, code, default = 404, "not_found", "There is nothing at this address."


class Conflict(Refusal):
    """The request contradicts what is already stored."""

    status, code, default = 409, "conflict", "The request conflicts with what is stored."


class TooLarge(Refusal):
    """The body or field is over its limit."""

    status, code, default = 413, "too_large", "The request is too large."


class RateLimited(Refusal):
    """Too many requests in the window; `retry_after_seconds` is at least 1."""

    status, code, default = 429, "rate_limited", "Too many requests in this window."


class Unavailable(Refusal):
    """A part we depend on is down or not configured; the same request may succeed later."""

    status, code, default = 503, "unavailable", "The service is unavailable. Try again shortly."

"""The one error body of every door (seed 000 §4; ruling 19 for `error`)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from judgment.contract.wire import ResponseModel

ErrorCode = Literal[
    "invalid_request",
    "unauthorized",
    "profile_access_disabled",
    "forbidden",
    "not_found",
    "conflict",
    "too_large",
    "rate_limited",
    "internal_error",
    "unavailable",
]


class Problem(ResponseModel):
    """Every refusal: a stable code, a sentence for people, and when to come back."""

    code: ErrorCode
    message: str
    retry_after_seconds: int | None = Field(default=None, ge=1)


class UnauthorizedProblem(Problem):
    """401 alone carries `error` as well, for clients that show only that."""

    code: ErrorCode = "unauthorized"
    error: Literal["Unauthorized"] = "Unauthorized"

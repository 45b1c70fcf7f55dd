"""The one error body of every door (seed 000 §4; ruling 19 for `error`)."""

from __future__ import annotations

from typing import Any, Literal

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


def _absent(value: object) -> bool:
    return value is None


def _present_is_an_integer(schema: dict[str, Any]) -> None:
    del schema["anyOf"], schema["default"]
    schema.update(type="integer", minimum=1)


class Problem(ResponseModel):
    """Every refusal: a stable code, a sentence for people, and, where known, when to come back."""

    code: ErrorCode
    message: str
    retry_after_seconds: int | None = Field(
        default=None, ge=1, exclude_if=_absent, json_schema_extra=_present_is_an_integer
    )


class UnauthorizedProblem(Problem):
    """401 alone carries `error` as well, for clients that show only that."""

    code: ErrorCode = "unauthorized"
    error: Literal["Unauthorized"] = "Unauthorized"

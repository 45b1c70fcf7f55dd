"""Query strings: every value arrives as text, each parameter at most once, no others."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

RECENT_DECISIONS_DEFAULT = 10
RECENT_DECISIONS_MOST = 20
CURSOR_LIMIT = 2_048


def _digits(value: object) -> object:
    if isinstance(value, str) and not (value.isascii() and value.isdigit() and len(value) < 10):
        raise ValueError("must be a whole number in digits")
    return value


class QueryModel(BaseModel):
    """A query string: unknown parameters are refused, digits are read as numbers."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RecentDecisionsQuery(QueryModel):
    """How many decisions to return, newest first."""

    limit: Annotated[int, BeforeValidator(_digits)] = Field(
        default=RECENT_DECISIONS_DEFAULT, ge=1, le=RECENT_DECISIONS_MOST
    )


class ExportQuery(QueryModel):
    """Where the next page of an export begins; absent for the first page."""

    cursor: str | None = Field(default=None, min_length=1, max_length=CURSOR_LIMIT)

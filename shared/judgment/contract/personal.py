"""Personal context: one text field of the owner's, and the one-shot prompt for it (seed 000 §7)."""

from __future__ import annotations

from typing import Literal

from pydantic import AwareDatetime, Field

from judgment.contract.wire import RequestModel, ResponseModel

PERSONAL_CONTEXT_LIMIT = 65_536
"""Bytes in UTF-8 (ruling 4); one cap on every writer."""

Lightbox = Literal["not_yet", "show", "dismissed"]


class PersonalContextText(RequestModel):
    """The whole text; an empty one deletes it. No content is refused, only what is too long."""

    personal_context: str


class PersonalContext(ResponseModel):
    """The text as stored. `updated_at` is null until it was first written.

    `lightbox` is `show` once, after onboarding was completed and until it is dismissed.
    """

    personal_context: str
    updated_at: AwareDatetime | None
    bytes: int = Field(ge=0)
    limit_bytes: int = PERSONAL_CONTEXT_LIMIT
    onboarding_completed: bool
    lightbox: Lightbox

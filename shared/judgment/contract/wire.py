"""The two manners of a wire model: strict coming in, explicit going out."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class RequestModel(BaseModel):
    """What a client sends: unknown keys and coercions are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ResponseModel(BaseModel):
    """What we send: every field written, none by accident."""

    model_config = ConfigDict(extra="forbid", frozen=True)

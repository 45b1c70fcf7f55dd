"""The two manners of a wire model: strict coming in, explicit going out.

Neither repeats a wrong value in its error, because errors are logged and values are owners' text.
"""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class RequestModel(BaseModel):
    """What a client sends: unknown keys and coercions are refused.

    Read it with `model_validate_json`: only there are ids, times and enums allowed to be text.
    """

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        serialize_by_alias=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
    )


class ResponseModel(BaseModel):
    """What we send: every field written, none by accident."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        allow_inf_nan=False,
        hide_input_in_errors=True,
        json_schema_serialization_defaults_required=True,
    )

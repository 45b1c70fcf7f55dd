"""Which language model does what for an owner (ruling 31)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from judgment.contract.wire import RequestModel, ResponseModel

ModelRole = Literal["summary", "evaluation", "scenario", "message", "embedding"]
MODEL_ROLES: tuple[ModelRole, ...] = ("summary", "evaluation", "scenario", "message", "embedding")
ProviderId = Literal["ollama", "braindrive-models", "openrouter", "openai-compatible"]


class OwnModel(RequestModel):
    """An owner's choice for one role.

    `key_secret` is the name of a secret that holds the owner's own key, below the owner's prefix;
    absent, the operator's key is used, for the models that the operator offers.
    """

    role: ModelRole
    provider: ProviderId
    model: str = Field(min_length=1, max_length=200)
    key_secret: str | None = Field(default=None, min_length=1, max_length=256)


class OwnModels(RequestModel):
    """All of an owner's choices; a role that is not named follows the operator's settings."""

    models: list[OwnModel] = Field(max_length=5)


class ModelInUse(ResponseModel):
    """What plays a role now; `chosen_by` is `nobody` where none is configured."""

    role: ModelRole
    provider: ProviderId | None
    model: str | None
    chosen_by: Literal["owner", "operator", "nobody"]


class ModelsInUse(ResponseModel):
    """Every role, and which models the operator offers to owners, as `provider:model`."""

    models: list[ModelInUse]
    offered: list[str]

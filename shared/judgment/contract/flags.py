"""The admin's kill switch (seed 000 §10.1, ruling 6): any `off` wins."""

from __future__ import annotations

from uuid import UUID

from pydantic import Field

from judgment.contract.wire import RequestModel


class AgentAccessFlag(RequestModel):
    """`agent_profile_access_enabled`: for everybody, and for single owners."""

    global_: bool = Field(alias="global")
    user_overrides: dict[UUID, bool] = Field(default_factory=dict)

"""Agent keys as their owner sees them (seed 000 §4, ruling 2)."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from pydantic import Field

from judgment.contract.scopes import DEFAULT_SCOPES, Scope
from judgment.contract.wire import RequestModel, ResponseModel

KEY_NAME_LIMIT = 100


class MintKeyRequest(RequestModel):
    """Ask for a key. `expires_at`, if given, is in the future and has a time zone."""

    name: str = Field(min_length=1, max_length=KEY_NAME_LIMIT, pattern=r"\S")
    scopes: list[Scope] = Field(default=list(DEFAULT_SCOPES), min_length=1, strict=False)
    expires_at: datetime | None = Field(default=None, strict=False)


class AgentKey(ResponseModel):
    """A key without its secret."""

    id: UUID
    name: str
    prefix: str
    last4: str
    scopes: list[Scope]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None
    revoked_at: datetime | None


class MintedKey(AgentKey):
    """A key with its plaintext, shown this once."""

    key: str


class AgentKeyList(ResponseModel):
    """An owner's keys, newest first, revoked ones included."""

    keys: list[AgentKey]

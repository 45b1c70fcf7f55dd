"""Agent keys as their owner sees them (seed 000 §4, ruling 2)."""

from __future__ import annotations

from uuid import UUID

from pydantic import AwareDatetime, Field

from judgment.contract.scopes import DEFAULT_SCOPES, Scope
from judgment.contract.wire import RequestModel, ResponseModel

KEY_NAME_LIMIT = 100
KEY_NAME_PATTERN = r"^[^\x00-\x1f\x7f]*[^\s\x00-\x1f\x7f][^\x00-\x1f\x7f]*$"


class MintKeyRequest(RequestModel):
    """Ask for a key. `expires_at`, if given, has a time zone; the door wants it in the future.

    The name is printable, because it is shown in lists, and Postgres stores no NUL.
    """

    name: str = Field(min_length=1, max_length=KEY_NAME_LIMIT, pattern=KEY_NAME_PATTERN)
    scopes: list[Scope] = Field(default=list(DEFAULT_SCOPES), min_length=1, max_length=len(Scope))
    expires_at: AwareDatetime | None = None


class AgentKey(ResponseModel):
    """A key without its secret."""

    id: UUID
    name: str
    prefix: str
    last4: str
    scopes: list[Scope]
    created_at: AwareDatetime
    expires_at: AwareDatetime | None
    last_used_at: AwareDatetime | None
    revoked_at: AwareDatetime | None


class MintedKey(AgentKey):
    """A key with its plaintext, shown this once."""

    key: str


class AgentKeyList(ResponseModel):
    """An owner's keys, newest first, revoked ones included."""

    keys: list[AgentKey]

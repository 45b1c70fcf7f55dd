"""Who is asking, as the authorizer says it and a door reads it.

API Gateway turns authorizer context into flat strings; both directions of that are here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

Kind = Literal["agent", "owner"]


@dataclass(frozen=True)
class Principal:
    """An authenticated caller.

    `agent`: a key of `user_id`, with `key_id`, shown prefix and scopes. `owner`: the person, by
    JWT or console session; `is_admin` when the admin claim is set.
    """

    kind: Kind
    user_id: UUID
    is_admin: bool = False
    key_id: UUID | None = None
    key_prefix: str = ""
    scopes: frozenset[str] = frozenset()

    def to_context(self) -> dict[str, str]:
        """The flat strings for an authorizer's `context`."""
        return {
            "kind": self.kind,
            "user_id": str(self.user_id),
            "is_admin": "true" if self.is_admin else "false",
            "key_id": str(self.key_id) if self.key_id else "",
            "key_prefix": self.key_prefix,
            "scopes": " ".join(sorted(self.scopes)),
        }

    @classmethod
    def from_context(cls, context: Mapping[str, Any]) -> Principal:
        """Read `requestContext.authorizer`. Raises KeyError or ValueError if it is not ours."""
        kind = context["kind"]
        if kind not in ("agent", "owner"):
            raise ValueError(f"unknown kind of principal: {kind!r}")
        return cls(
            kind=kind,
            user_id=UUID(context["user_id"]),
            is_admin=context.get("is_admin") == "true",
            key_id=UUID(context["key_id"]) if context.get("key_id") else None,
            key_prefix=context.get("key_prefix", ""),
            scopes=frozenset(context.get("scopes", "").split()),
        )

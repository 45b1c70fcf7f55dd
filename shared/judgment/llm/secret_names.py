"""How secrets with model keys are named: the operator's by provider, owners' below their own id.

An owner names a secret, and we read it with rights of ours: so a name is taken only below the
prefix of the owner who gives it, when it is stored and again when it is used.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

if TYPE_CHECKING:
    from judgment.contract.models import ProviderId

_OWN = re.compile(r"/owners/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})/[A-Za-z0-9_-]{1,64}")
_PREFIX = re.compile(r"[A-Za-z0-9_-]+(?:/[A-Za-z0-9_-]+)*")


@dataclass(frozen=True)
class SecretNames:
    """Names below a deployment's prefix. Raises ValueError for a prefix that is none."""

    prefix: str = "judgment/models"

    def __post_init__(self) -> None:
        if not _PREFIX.fullmatch(self.prefix):
            raise ValueError("names divided by single slashes, none at either end, are wanted")

    def of_provider(self, provider: ProviderId) -> str:
        """The secret with the operator's key."""
        return f"{self.prefix}/{provider}"

    def of_owner(self, user_id: UUID, name: str) -> str:
        """An owner's own secret of that name."""
        return f"{self.prefix}/owners/{user_id}/{name}"

    def owner_in(self, secret: str) -> str | None:
        """Whose own secret it would be by its name; None for every other name."""
        match = _OWN.fullmatch(secret.removeprefix(self.prefix))
        return match[1] if match and secret.startswith(self.prefix) else None

    def is_owners(self, secret: str, user_id: UUID) -> bool:
        """Whether the name is this owner's."""
        return self.owner_in(secret) == str(user_id)

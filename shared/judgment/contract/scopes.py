"""What an agent key may be allowed to do (ruling 3)."""

from __future__ import annotations

from enum import StrEnum


class Scope(StrEnum):
    """Scopes of an agent key. None of them can record a decision or change a profile."""

    PROFILE_READ = "profile:read"
    PREFERENCES_READ = "preferences:read"
    PREFERENCES_WRITE = "preferences:write"


DEFAULT_SCOPES = (Scope.PROFILE_READ,)

"""Identifiers: made here, so that tests can hand in their own."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Callable

IdFactory = Callable[[], uuid.UUID]

KEY_PREFIX = "sync_"
KEY_RANDOM_BYTES = 32
KEY_SHOWN_PREFIX = 12


def new_id() -> uuid.UUID:
    """A random (version 4) UUID."""
    return uuid.uuid4()


def new_agent_key() -> str:
    """`sync_` and 43 url-safe characters carrying 256 random bits (seed 000 §4)."""
    return KEY_PREFIX + secrets.token_urlsafe(KEY_RANDOM_BYTES)


def key_prefix(key: str) -> str:
    """The first 12 characters of a key: enough to recognise it, far too little to use it."""
    return key[:KEY_SHOWN_PREFIX]


def parse_uuid(text: str) -> uuid.UUID | None:
    """The UUID written in canonical 36-character form, else None."""
    try:
        value = uuid.UUID(text)
    except (ValueError, AttributeError, TypeError):
        return None
    return value if str(value) == text.lower() else None

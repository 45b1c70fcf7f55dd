"""Which key pays for a call: the operator's, or the owner's own, out of a secret below theirs.

An owner names a secret, and we read it with rights of ours: so a name is taken only below the
prefix of the owner who gives it, when it is stored and again when it is used.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from judgment.kit.errors import Unavailable
from judgment.llm.providers import PROVIDERS, SECRETS_BELOW

if TYPE_CHECKING:
    from judgment.contract.models import ProviderId
    from judgment.llm.model import ModelChoice

KEPT_SECONDS = 300
ABSENT_SECONDS = 30
KEPT_KEYS = 256

_OWN = re.compile(rf"{SECRETS_BELOW}owners/([0-9a-f-]{{36}})/[A-Za-z0-9_-]{{1,64}}", re.ASCII)


class KeyUnavailable(Exception):
    """There is no key to be had now; which one, only an operator's log of secrets knows."""


class ModelKeys(Protocol):
    """Keys by choice."""

    def key(self, choice: ModelChoice) -> str | None:
        """The key, or None where the provider wants none. Raises KeyUnavailable."""
        ...


ReadSecret = Callable[[str], Callable[[], bytes]]
"""`judgment.entry.secrets.secret`: a reader by the secret's name; it raises Unavailable."""


class StoredKeys:
    """The operator's keys from settings or Secrets Manager, owners' from Secrets Manager alone.

    What was read is kept for five minutes; that nothing could be read, for half of one.
    """

    def __init__(
        self,
        operators: Mapping[ProviderId, str],
        read_secret: ReadSecret,
        monotonic: Callable[[], float] = time.monotonic,
    ):
        self._operators = operators
        self._read_secret = read_secret
        self._monotonic = monotonic
        self._kept: dict[str, tuple[float, str | None]] = {}

    def key(self, choice: ModelChoice) -> str | None:
        """As the port. An owner's choice that names a secret never falls back to our key."""
        if choice.key_secret is not None:
            if not _OWN.fullmatch(choice.key_secret):
                raise KeyUnavailable()
            return _there(self._secret(choice.key_secret))
        provider = PROVIDERS[choice.provider]
        if operators := self._operators.get(choice.provider):
            return _there(_usable(operators))
        stored = self._secret(provider.secret) if provider.key_stored else None
        return _there(stored) if provider.key_required else stored

    def _secret(self, name: str) -> str | None:
        now = self._monotonic()
        until, kept = self._kept.get(name, (now, None))
        if now < until:
            return kept
        try:
            value = _usable(self._read_secret(name)().decode("utf-8", "replace"))
        except Unavailable:
            value = None
        if len(self._kept) >= KEPT_KEYS:
            self._kept.clear()
        kept_seconds = ABSENT_SECONDS if value is None else KEPT_SECONDS
        self._kept[name] = (now + kept_seconds, value)
        return value


def is_own_secret(name: str, user_id: UUID) -> bool:
    """Whether the secret lies below this owner's prefix: `judgment/models/owners/<id>/<name>`."""
    match = _OWN.fullmatch(name)
    return match is not None and match[1] == str(user_id)


def own_secrets_of(user_id: UUID) -> str:
    """The prefix of an owner's own secrets."""
    return f"{SECRETS_BELOW}owners/{user_id}/"


def _there(key: str | None) -> str:
    if key is None:
        raise KeyUnavailable()
    return key


def _usable(text: str) -> str | None:
    """The key without surrounding space; None for what cannot stand in a header."""
    key = text.strip()
    return key if key and all("!" <= character <= "~" for character in key) else None

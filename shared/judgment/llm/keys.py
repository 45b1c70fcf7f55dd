"""Which key pays for a call: the operator's, or the owner's own, out of a secret below theirs."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from judgment.kit.errors import Unavailable
from judgment.llm.providers import PROVIDERS

if TYPE_CHECKING:
    from judgment.llm.model import ModelChoice
    from judgment.llm.settings import ModelsConfigured

KEPT_SECONDS = 300
ABSENT_SECONDS = 30
KEPT_KEYS = 256


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
        config: ModelsConfigured,
        read_secret: ReadSecret,
        monotonic: Callable[[], float] = time.monotonic,
    ):
        self._operators = config.keys
        self._names = config.secrets
        self._read_secret = read_secret
        self._monotonic = monotonic
        self._kept: dict[str, tuple[float, str | None]] = {}

    def key(self, choice: ModelChoice) -> str | None:
        """As the port. An owner's choice that names a secret never falls back to our key."""
        if choice.key_secret is not None:
            if self._names.owner_in(choice.key_secret) is None:
                raise KeyUnavailable()
            return _there(self._secret(choice.key_secret))
        provider = PROVIDERS[choice.provider]
        if operators := self._operators.get(choice.provider):
            return _there(_usable(operators))
        name = self._names.of_provider(choice.provider)
        stored = self._secret(name) if provider.key_stored else None
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


def _there(key: str | None) -> str:
    if key is None:
        raise KeyUnavailable()
    return key


def _usable(text: str) -> str | None:
    """The key without surrounding space; None for what cannot stand in a header."""
    key = text.strip()
    return key if key and all("!" <= character <= "~" for character in key) else None

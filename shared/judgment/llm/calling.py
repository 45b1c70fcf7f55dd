"""Calls of a provider: with the right key, within the time there is, each of them accounted for."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from judgment.llm.completion import MOST_TOKENS, Usage
from judgment.llm.keys import KeyUnavailable, ModelKeys
from judgment.llm.model import ModelCall, ModelChoice, ModelFailure, Outcome

if TYPE_CHECKING:
    import ssl

    from judgment.contract.models import ModelRole
    from judgment.kit.deadline import Deadline
    from judgment.llm.line import Line, Method, Received, Trouble
    from judgment.llm.settings import ModelsConfigured, Price

RESERVE_SECONDS = 1.0
"""Kept of the deadline for whoever asked, to store what came of it."""
SHORTEST_SECONDS = 0.5
"""With less than this nothing is asked: it could only be paid for and thrown away."""
PAUSE_SECONDS = 0.5
"""Before the second attempt, where the provider names no wait of its own."""


@dataclass(frozen=True)
class Patience:
    """How long one call may take, and the clocks by which it is known."""

    timeout_seconds: float
    sleep: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic

    def seconds(self, deadline: Deadline) -> float:
        """For the next call; 0 when it is too late for one."""
        left = min(self.timeout_seconds, deadline.remaining() - RESERVE_SECONDS)
        return left if left >= min(SHORTEST_SECONDS, self.timeout_seconds) else 0.0

    def pause(self, deadline: Deadline, asked_for: float | None) -> bool:
        """Wait before another attempt; False, at once, when none would fit behind the wait."""
        wait = PAUSE_SECONDS if asked_for is None else asked_for
        if self.seconds(deadline.less(wait)) == 0:
            return False
        self.sleep(wait)
        return True


def sendable(text: str) -> str:
    """The text with what UTF-8 cannot say (half a surrogate pair) replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def cost_of(usage: Usage | None, price: Price | None) -> float | None:
    """US dollars, None where tokens were not counted or no price is known."""
    if usage is None or price is None:
        return None
    into, out = price
    return (usage.prompt_tokens * into + usage.completion_tokens * out) / 1e6


@dataclass(frozen=True)
class Reach:
    """Where a provider answers, and with what it is asked."""

    base_url: str
    key: str | None = field(repr=False)
    context: ssl.SSLContext | None


class Caller:
    """A provider on the line for one question in one role."""

    def __init__(
        self,
        line: Line,
        role: ModelRole,
        choice: ModelChoice,
        price: Price | None,
        monotonic: Callable[[], float],
    ):
        self._line = line
        self._role: ModelRole = role
        self._choice = choice
        self._price = price
        self._monotonic = monotonic
        self._milliseconds = 0

    def post(self, method: Method, body: Mapping[str, Any], seconds: float) -> Received | Trouble:
        """One HTTP call; `call` accounts for it afterwards."""
        begun = self._monotonic()
        try:
            return self._line.post(method, {"model": self._choice.model, **body}, seconds)
        finally:
            passed = round(1000 * (self._monotonic() - begun))
            self._milliseconds = min(max(passed, 0), MOST_TOKENS)

    def call(self, outcome: Outcome, usage: Usage | None = None) -> ModelCall:
        """The last call, as it is accounted; None: the provider counted nothing."""
        used = usage or Usage()
        return ModelCall(
            role=self._role,
            provider=self._choice.provider,
            model=self._choice.model,
            prompt_tokens=used.prompt_tokens,
            completion_tokens=used.completion_tokens,
            cost_usd=cost_of(usage, self._price),
            milliseconds=self._milliseconds,
            outcome=outcome,
        )


class Switchboard:
    """Connects to the providers that are configured."""

    def __init__(self, config: ModelsConfigured, keys: ModelKeys, patience: Patience):
        self._config = config
        self._keys = keys
        self.patience = patience
        self._context: ssl.SSLContext | None = None

    def reaches(self, choice: ModelChoice) -> bool:
        """Whether the provider has an address here, and the choice a key that can be read."""
        try:
            self._keys.key(choice)
        except KeyUnavailable:
            return False
        return choice.provider in self._config.base_urls

    @contextmanager
    def connected(self, role: ModelRole, choice: ModelChoice) -> Generator[Caller]:
        """The choice's provider. Raises ModelFailure where it cannot be asked at all.

        The SDK is imported here: who never asks a model does not pay for it.
        """
        from judgment.llm.line import Line

        reach = self.reach(choice)
        monotonic = self.patience.monotonic
        with Line(reach.base_url, reach.key, reach.context, monotonic) as line:
            yield Caller(line, role, choice, self._config.price(choice), monotonic)

    def reach(self, choice: ModelChoice) -> Reach:
        """How the choice's provider is reached. Raises ModelFailure where it cannot be."""
        key = self._key(choice)
        base_url = self._config.base_urls.get(choice.provider)
        if base_url is None:
            raise ModelFailure("not_configured")
        context = self._tls() if base_url.startswith("https:") else None
        return Reach(base_url, key, context)

    def _key(self, choice: ModelChoice) -> str | None:
        try:
            return self._keys.key(choice)
        except KeyUnavailable:
            pass
        raise ModelFailure("not_configured")

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            from httpx import create_ssl_context

            self._context = create_ssl_context()
        return self._context

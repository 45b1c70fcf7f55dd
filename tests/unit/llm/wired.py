"""The client over a scripted provider on the wire."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from judgment.llm.calling import Patience
from judgment.llm.client import ModelClient
from judgment.llm.model import ModelChoice, Models
from judgment.llm.settings import ModelSettings, configured
from tests.fakes.model_server import ModelServer, always
from tests.fakes.model_trouble import Flood, HangUp, Trouble, completion
from tests.fakes.model_wire import Fail, Reply, Say, Turn
from tests.unit.llm.port import GOOD

KEY = "key-of-the-operator"
CHOICE = ModelChoice("openai-compatible", "fake-model")
TROUBLES: Mapping[str, Reply | Trouble] = {
    "unreachable": HangUp(),
    "rate_limited": Fail(429),
    "provider_error": Fail(500),
    "unauthorized": Fail(401),
    "refused": completion(None, message={"refusal": "No.", "content": None}),
    "empty": completion(""),
    "truncated": completion('{"number"', finish_reason="length"),
    "too_large": Flood(4 * 1_048_576),
}


class FixedKey:
    """One key for every choice."""

    def __init__(self, key: str | None = KEY):
        self.given = key

    def key(self, choice: ModelChoice) -> str | None:
        return self.given


class Slept:
    """A sleep that takes no time and is remembered."""

    def __init__(self) -> None:
        self.naps: list[float] = []

    def __call__(self, seconds: float) -> None:
        self.naps.append(seconds)


class Wired:
    """The client as a subject of the port's tests, and of its own."""

    choice: ModelChoice = CHOICE

    def __init__(self, server: ModelServer, timeout_seconds: float = 20.0):
        self.server = server
        self.slept = Slept()
        self.settings = ModelSettings(
            model_summary=CHOICE.label,
            openai_compatible_base_url=server.url + "/v1",
            model_prices='{"openai-compatible:fake-model": [40, 120]}',
            model_timeout_seconds=timeout_seconds,
        )
        self.keys = FixedKey()
        self.models: Models = self.client()

    def client(self, **changed: object) -> ModelClient:
        """A client by these settings, changed."""
        config = configured(replace(self.settings, **changed))  # type: ignore[arg-type]
        patience = Patience(config.timeout_seconds, sleep=self.slept)
        return ModelClient(config, self.keys, patience)

    def script(self, *replies: str | Reply | Trouble) -> None:
        left = [r if not isinstance(r, str) else TROUBLES.get(r, Say(r)) for r in replies]

        def next_reply(_: Turn) -> Reply | Trouble:
            return left.pop(0) if len(left) > 1 else left[0]

        self.server.script = next_reply

    def prompts(self) -> list[str]:
        return [turn.told for turn in self.server.turns]


@contextmanager
def wired(timeout_seconds: float = 20.0) -> Iterator[Wired]:
    """A client and its provider, until the end."""
    with ModelServer(always(GOOD)) as server:
        yield Wired(server, timeout_seconds)

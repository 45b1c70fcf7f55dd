"""What went wrong at a provider, in words that an owner can act on.

The categories, and that they are looked for in this order as parts of the lower-cased failure, are
the reference's (§6.3); the sentences are ours, and none repeats what a provider said. Two things
differ: a Go program's "context deadline" is a timeout, and Ollama's complaint of a lost question is
what it does when a prompt overflows (§9.2).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from judgment.llm.chat import ChatTrouble

_NO_CONTEXT = ("context deadline", "context canceled", "context cancelled")
_OVERFLOW = (
    *("context", "maximum context", "prompt is too long", "token limit", "too many tokens"),
    "no user query found",
)
OVERFLOW = (
    "The conversation is too long for this model. Start a new conversation, or choose a model with"
    " a larger context."
)
_UNAVAILABLE = ("not found", "unknown", "unsupported", "no endpoints", "does not exist")
_FORMATTING = (
    *("tool message", "tool_call_id", "role 'tool'", 'role "tool"', "tool_calls must"),
    "tool_use",
)
_CATEGORIES: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("missing credential", "no credential", "credential is required", "api key is required"),
        "The provider has no key. Add one in the settings of models, or choose another provider.",
    ),
    (
        (
            "code=401",
            "code=403",
            "unauthorized",
            "forbidden",
            "invalid api key",
            "incorrect api key",
        ),
        "The provider did not accept the key. Check it in the settings of models.",
    ),
    (
        ("code=402", "insufficient", "quota", "no credits", "out of credits", "billing"),
        "The account at the provider has no credits left. Add some, or choose another provider.",
    ),
)
_LATER: tuple[tuple[tuple[str, ...], str], ...] = (
    (
        ("code=429", "rate limit", "rate_limit", "too many requests", "capacity", "overloaded"),
        "The provider is busy or limits requests. Wait a moment and try again.",
    ),
    (
        ("timeout", "timed out", "deadline", "abort"),
        "The provider took too long. Try again; a smaller model may be faster.",
    ),
    (
        ("connect", "network", "unreachable", "econn", "socket", "hung up", "broke off"),
        "The provider cannot be reached. Check that it is running and that its address is right.",
    ),
)
NO_MODEL = "The provider does not have this model. Choose another one in the settings of models."
BAD_TOOLS = (
    "The provider did not take the record of an earlier tool call. Start a new conversation."
)
GENERIC = (
    "The provider could not answer. Check that it is running, that its address and key are right,"
    " and that the model is there; then try again."
)


@dataclass(frozen=True)
class Failure:
    """A provider's failure as it is looked at and never shown."""

    message: str
    status: int | None = None
    code: str | None = None
    provider: str | None = None
    raw: str | None = None

    @property
    def text(self) -> str:
        """`message | code=.. | provider=.. | raw=..` in lower case."""
        parts = [self.message]
        named = (("code", self.status), ("code", self.code), ("provider", self.provider))
        for name, value in (*named, ("raw", self.raw)):
            if value:
                parts.append(f"{name}={value}")
        return " | ".join(parts).lower()


def told(failure: Failure) -> tuple[ChatTrouble, str]:
    """The kind of the failure, and what the owner is told."""
    text = failure.text
    without = text
    for words in _NO_CONTEXT:
        without = without.replace(words, "deadline")
    if any(word in without for word in _OVERFLOW):
        return "context_overflow", OVERFLOW
    for words, sentence in _CATEGORIES:
        if any(word in text for word in words):
            return "provider_error", sentence
    if "model" in text and any(word in text for word in _UNAVAILABLE):
        return "provider_error", NO_MODEL
    if any(word in text for word in _FORMATTING):
        return "provider_error", BAD_TOOLS
    for words, sentence in _LATER:
        if any(word in text for word in words):
            return "provider_error", sentence
    return "provider_error", GENERIC

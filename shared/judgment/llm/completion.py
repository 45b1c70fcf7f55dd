"""A chat completion as providers really send it: read for the few things needed, trusted in none.

A body may lack any part of the format, or hold it in another type; then it is a provider's error.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from judgment.llm.providers import is_model_name

if TYPE_CHECKING:
    from judgment.llm.model import FailureCode

MOST_TOKENS = 2**31 - 1
"""What a count of tokens is cut at: the largest our table holds."""


@dataclass(frozen=True)
class Usage:
    """Tokens in and out, as the provider counted them; 0 for what is no count."""

    prompt_tokens: int = 0
    completion_tokens: int = 0


@dataclass(frozen=True)
class Completion:
    """What was said, or why nothing was; `model` as the provider names it, None where it is odd."""

    text: str = field(repr=False)
    failure: FailureCode | None
    usage: Usage | None
    model: str | None


def read_completion(body: Mapping[str, Any]) -> Completion:
    """The first choice of a chat completion's body."""
    choice = _first(body.get("choices"))
    message = _mapping(choice.get("message"))
    text = message.get("content")
    return Completion(
        text if isinstance(text, str) else "",
        _failure(choice, message, text),
        usage_of(body),
        model_of(body),
    )


def usage_of(body: Mapping[str, Any]) -> Usage | None:
    """The tokens a body counts, None where it counts none."""
    usage = _mapping(body.get("usage"))
    if not usage:
        return None
    return Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))


def model_of(body: Mapping[str, Any]) -> str | None:
    """The model that a body says has spoken."""
    model = body.get("model")
    return model if isinstance(model, str) and is_model_name(model) else None


def _failure(
    choice: Mapping[str, Any], message: Mapping[str, Any], text: object
) -> FailureCode | None:
    if not message:
        return "provider_error"
    if message.get("refusal") or choice.get("finish_reason") == "content_filter":
        return "refused"
    if choice.get("finish_reason") == "error" or not isinstance(text, str | None):
        return "provider_error"
    if choice.get("finish_reason") == "length":
        return "truncated"
    return None if text and text.strip() else "empty"


def _first(choices: object) -> Mapping[str, Any]:
    if isinstance(choices, list) and choices:
        return _mapping(cast("Sequence[Any]", choices)[0])
    return {}


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return min(max(value, 0), MOST_TOKENS)

"""The providers there are: where each answers, and whether it wants a key.

The ids are stable and shared with BrainDrive (its adapter `openai-compatible.json`); a model is
named `provider:model`, of which only the first colon splits (`ollama:qwen2.5:0.5b`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast, get_args

from judgment.contract.models import ProviderId
from judgment.llm.model import ModelChoice

if TYPE_CHECKING:
    from collections.abc import Mapping

MODEL_NAME_LIMIT = 200


@dataclass(frozen=True)
class Provider:
    """`base_url` is the default, None where the operator must name one.

    `key_required`: without a key nothing is asked. `key_stored`: on AWS the operator's key is in
    Secrets Manager; where it is not, a key can only come from the environment.
    """

    id: ProviderId
    base_url: str | None
    key_required: bool
    key_stored: bool = True


PROVIDERS: Mapping[ProviderId, Provider] = {
    provider.id: provider
    for provider in (
        Provider("ollama", "http://127.0.0.1:11434/v1", key_required=False, key_stored=False),
        Provider("braindrive-models", "https://my.braindrive.ai/credits/v1", key_required=True),
        Provider("openrouter", "https://openrouter.ai/api/v1", key_required=True),
        Provider("openai-compatible", None, key_required=False),
    )
}


def parse_choice(text: str) -> ModelChoice:
    """The model that `provider:model` names. Raises ValueError, without repeating the text."""
    provider, colon, model = text.strip().partition(":")
    if not colon or provider not in get_args(ProviderId) or not is_model_name(model):
        raise ValueError("not provider:model of a known provider")
    return ModelChoice(cast("ProviderId", provider), model)


def is_model_name(text: str) -> bool:
    """Whether it may be a model's name: 1 to 200 visible ASCII characters."""
    return 0 < len(text) <= MODEL_NAME_LIMIT and all("!" <= character <= "~" for character in text)

"""What an operator sets about models, read once and refused at wiring time where it is nonsense."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import urlsplit

from judgment.contract.models import MODEL_ROLES, ModelRole, ProviderId
from judgment.kit.settings import SettingError
from judgment.llm.providers import PROVIDERS, parse_choice
from judgment.llm.secret_names import SecretNames

if TYPE_CHECKING:
    from judgment.llm.model import ModelChoice

T = TypeVar("T")

DEFAULT_TIMEOUT_SECONDS = 60.0
LONGEST_TIMEOUT_SECONDS = 900.0

SMALL_WINDOW, LARGE_WINDOW = 4_096, 128_000
"""Tokens that prompt and answer share where nobody says: what Ollama has by itself below 24 GiB of
video memory, and what other providers' models have at least."""
SMALLEST_WINDOW, LARGEST_WINDOW = 1_024, 10_000_000

Price = tuple[float, float]
"""US dollars per million tokens in, and out."""


@dataclass(frozen=True)
class ModelSettings:
    """Environment of `judgment.llm`; nothing of it is required.

    `model_<role>` is `provider:model`. `model_prices` is JSON, `{"provider:model": [in, out]}` in
    US dollars per million tokens; `model_offered` lists, with commas, what owners may choose
    without a key of their own. `model_windows` is JSON too, `{"provider:model": tokens}`;
    `model_without_tools` lists models that are asked for tools by a schema (`*` after a colon: all
    of that provider's). Keys are read here on a developer's machine; on AWS they stay unset
    and come from Secrets Manager, by names that begin with `model_secret_prefix`.
    """

    model_summary: str | None = None
    model_evaluation: str | None = None
    model_scenario: str | None = None
    model_message: str | None = None
    model_embedding: str | None = None
    ollama_base_url: str | None = None
    braindrive_models_base_url: str | None = None
    openrouter_base_url: str | None = None
    openai_compatible_base_url: str | None = None
    model_prices: str | None = None
    model_offered: str | None = None
    model_windows: str | None = None
    model_without_tools: str | None = None
    model_timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    model_secret_prefix: str | None = None
    ollama_api_key: str | None = field(default=None, repr=False)
    ai_gateway_api_key: str | None = field(default=None, repr=False)
    openrouter_api_key: str | None = field(default=None, repr=False)
    openai_compatible_api_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class ModelsConfigured:
    """The settings as values. A provider without a base URL cannot be asked."""

    roles: Mapping[ModelRole, ModelChoice]
    base_urls: Mapping[ProviderId, str]
    offered: tuple[ModelChoice, ...]
    prices: Mapping[str, Price]
    timeout_seconds: float
    secrets: SecretNames
    keys: Mapping[ProviderId, str] = field(repr=False)
    windows: Mapping[str, int] = field(default_factory=dict[str, int])
    toolless: frozenset[str] = frozenset()

    def price(self, choice: ModelChoice) -> Price | None:
        """What its tokens cost, where that was said."""
        return self.prices.get(choice.label)

    def window(self, choice: ModelChoice) -> int:
        """Tokens that its prompt and answer share."""
        usual = SMALL_WINDOW if choice.provider == "ollama" else LARGE_WINDOW
        return self.windows.get(choice.label, usual)

    def without_tools(self, choice: ModelChoice) -> bool:
        """Whether it is asked for tools by a schema."""
        return not self.toolless.isdisjoint({choice.label, f"{choice.provider}:*"})


def configured(settings: ModelSettings) -> ModelsConfigured:
    """The settings, read. Raises SettingError naming every variable that makes no sense."""
    wrong: list[str] = []

    def read(variable: str, how: Callable[[str], T], otherwise: T) -> T:
        raw = getattr(settings, variable.lower())
        if raw is None:
            return otherwise
        try:
            return how(raw)
        except ValueError as error:
            wrong.append(f"{variable}: {error}")
            return otherwise

    base_urls: dict[ProviderId, str] = {}
    for provider in PROVIDERS.values():
        variable = f"{provider.id.upper().replace('-', '_')}_BASE_URL"
        if url := read(variable, _base_url, provider.base_url):
            base_urls[provider.id] = url
    roles: dict[ModelRole, ModelChoice] = {}
    for role in MODEL_ROLES:
        choice = read(f"MODEL_{role.upper()}", parse_choice, None)
        if choice is not None and choice.provider not in base_urls:
            wrong.append(f"MODEL_{role.upper()}: its provider has no base URL")
        elif choice is not None:
            roles[role] = choice
    offered = read("MODEL_OFFERED", _offered, ())
    if any(choice.provider not in base_urls for choice in offered):
        wrong.append("MODEL_OFFERED: a provider has no base URL")
    prices = read("MODEL_PRICES", _prices, {})
    windows = read("MODEL_WINDOWS", _windows, {})
    toolless = read("MODEL_WITHOUT_TOOLS", _labels, frozenset())
    secrets = read("MODEL_SECRET_PREFIX", SecretNames, SecretNames())
    if not 0 < settings.model_timeout_seconds <= LONGEST_TIMEOUT_SECONDS:
        wrong.append(f"MODEL_TIMEOUT_SECONDS: not in (0, {LONGEST_TIMEOUT_SECONDS:g}]")
    if wrong:
        raise SettingError("; ".join(wrong))
    return ModelsConfigured(
        roles,
        base_urls,
        offered,
        prices,
        settings.model_timeout_seconds,
        secrets,
        _keys(settings),
        windows,
        toolless,
    )


def _keys(settings: ModelSettings) -> dict[ProviderId, str]:
    given: dict[ProviderId, str | None] = {
        "ollama": settings.ollama_api_key,
        "braindrive-models": settings.ai_gateway_api_key,
        "openrouter": settings.openrouter_api_key,
        "openai-compatible": settings.openai_compatible_api_key,
    }
    return {provider: key for provider, key in given.items() if key}


def _base_url(text: str) -> str:
    address = text.strip()
    try:
        parts = urlsplit(address)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        usable = False
    if not usable or "@" in address or "?" in address or "#" in address:
        raise ValueError("not an http or https address without user, query and fragment")
    return address.rstrip("/")


def _offered(text: str) -> tuple[ModelChoice, ...]:
    return tuple(dict.fromkeys(parse_choice(part) for part in text.split(",") if part.strip()))


def _labels(text: str) -> frozenset[str]:
    return frozenset(parse_choice(part).label for part in text.split(",") if part.strip())


def _windows(text: str) -> dict[str, int]:
    windows: dict[str, int] = {}
    for label, tokens in _object(text, '{"provider:model": tokens}').items():
        if isinstance(tokens, bool) or not isinstance(tokens, int):
            raise ValueError("a window is a number of tokens")
        if not SMALLEST_WINDOW <= tokens <= LARGEST_WINDOW:
            raise ValueError(f"a window has {SMALLEST_WINDOW} to {LARGEST_WINDOW} tokens")
        windows[parse_choice(label).label] = tokens
    return windows


def _object(text: str, form: str) -> dict[str, Any]:
    try:
        given: Any = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    if not isinstance(given, dict):
        raise ValueError(f"not {form}")
    return cast("dict[str, Any]", given)


def _prices(text: str) -> dict[str, Price]:
    prices: dict[str, Price] = {}
    for label, pair in _object(text, '{"provider:model": [in, out]}').items():
        match pair:
            case [int() | float() as into, int() | float() as out] if _is_price(into, out):
                prices[parse_choice(label).label] = (float(into), float(out))
            case _:
                raise ValueError("a price is two numbers of US dollars per million tokens")
    return prices


def _is_price(*numbers: float) -> bool:
    return all(not isinstance(n, bool) and math.isfinite(n) and 0 <= n <= 1e6 for n in numbers)

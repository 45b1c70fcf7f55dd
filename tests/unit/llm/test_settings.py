"""What an operator sets about models: read once, refused where it makes no sense."""

from __future__ import annotations

import pytest

from infra.catalogue import MODEL_SETTINGS
from judgment.kit.settings import SettingError, read_settings
from judgment.llm.model import ModelChoice
from judgment.llm.providers import parse_choice
from judgment.llm.settings import ModelsConfigured, ModelSettings, configured


def read(**environment: str) -> ModelsConfigured:
    return configured(read_settings(ModelSettings, environment))


def test_without_a_word_nothing_plays_a_role_and_three_providers_could():
    config = read()
    assert config.roles == {}
    assert config.base_urls == {
        "ollama": "http://127.0.0.1:11434/v1",
        "braindrive-models": "https://my.braindrive.ai/credits/v1",
        "openrouter": "https://openrouter.ai/api/v1",
    }
    assert (config.offered, config.prices, config.keys) == ((), {}, {})
    assert config.timeout_seconds == 60


def test_the_settings_are_those_of_the_catalogue():
    named = {name.upper() for name in ModelSettings.__dataclass_fields__}
    assert named == {*MODEL_SETTINGS, "MODEL_SECRET_PREFIX"}


@pytest.mark.promise("P2-1", "R-8")
def test_a_model_is_named_by_provider_and_name_at_the_first_colon():
    config = read(MODEL_SUMMARY="ollama:qwen2.5:0.5b", MODEL_SCENARIO=" openrouter:z-ai/glm-5.2 ")
    assert config.roles == {
        "summary": ModelChoice("ollama", "qwen2.5:0.5b"),
        "scenario": ModelChoice("openrouter", "z-ai/glm-5.2"),
    }


def test_everything_that_can_be_set_is_read():
    config = read(
        OLLAMA_BASE_URL="http://models.internal:11434/v1/",
        OPENAI_COMPATIBLE_BASE_URL="https://example.test/v1",
        MODEL_OFFERED="ollama:a, openrouter:b/c:free,ollama:a,",
        MODEL_PRICES='{"openrouter:b/c:free": [0, 0.5], "ollama:a": [1, 2]}',
        MODEL_TIMEOUT_SECONDS="7.5",
        MODEL_SECRET_PREFIX="stage/models",
        AI_GATEWAY_API_KEY="k",
    )
    assert config.base_urls["ollama"] == "http://models.internal:11434/v1"
    assert config.base_urls["openai-compatible"] == "https://example.test/v1"
    assert [c.label for c in config.offered] == ["ollama:a", "openrouter:b/c:free"]
    assert config.price(ModelChoice("openrouter", "b/c:free")) == (0.0, 0.5)
    assert config.price(ModelChoice("openrouter", "x")) is None
    assert config.timeout_seconds == 7.5
    assert config.secrets.prefix == "stage/models"
    assert config.keys == {"braindrive-models": "k"}


MARK = "s3cret"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(
            ("MODEL_SUMMARY", v)
            for v in ("ollama", "ollama:", f"{MARK}:x", ":x", "Ollama:x", "a b")
        ),
        *(("MODEL_SUMMARY", v) for v in (f"ollama:{MARK} x", "ollama:é", "ollama:" + "x" * 201)),
        ("MODEL_SCENARIO", "openai-compatible:x"),
        ("MODEL_OFFERED", "openai-compatible:x"),
        ("MODEL_OFFERED", f"ollama:a,{MARK}"),
        *(
            ("OLLAMA_BASE_URL", v)
            for v in (
                *(MARK, f"ftp://{MARK}/", "http://", f"https://u:{MARK}@host/", "http://[::1"),
                *(f"http://h/?{MARK}", f"http://h/#{MARK}", f"http://h:{MARK}/", "http://h:0/"),
            )
        ),
        *(
            ("MODEL_PRICES", v)
            for v in (
                *(MARK, "[]", f'{{"{MARK}": [1, 2]}}', '{"ollama:a": 1}', '{"ollama:a": [1]}'),
                *('{"ollama:a": [1, -2]}', '{"ollama:a": [true, 1]}', '{"ollama:a": [NaN, 1]}'),
                *('{"ollama:a": ["1", 2]}', '{"ollama:a": [1e400, 1]}', "[" * 100_000),
            )
        ),
        *(
            ("MODEL_WINDOWS", v)
            for v in (
                *(MARK, "[]", f'{{"{MARK}": 4096}}', '{"ollama:a": 1023}', '{"ollama:a": 1e5}'),
                *('{"ollama:a": true}', '{"ollama:a": "4096"}', '{"ollama:a": 10000001}'),
                *("[" * 100_000, '{"ollama:a": NaN}'),
            )
        ),
        *(("MODEL_WITHOUT_TOOLS", v) for v in (MARK, f"ollama:a,{MARK}:b", "ollama", "*")),
        ("MODEL_SECRET_PREFIX", f"{MARK}/"),
        *(("MODEL_TIMEOUT_SECONDS", v) for v in ("0", "-1", "nan", "inf", "901", "soon")),
    ],
)
def test_nonsense_is_refused_by_the_variables_name_without_its_value(name: str, value: str):
    with pytest.raises(SettingError) as caught:
        read(**{name: value})
    assert name in str(caught.value)
    assert MARK not in str(caught.value)


def test_every_wrong_variable_is_named_at_once():
    with pytest.raises(SettingError, match=r"MODEL_SUMMARY.*MODEL_OFFERED.*MODEL_PRICES"):
        read(MODEL_SUMMARY="x", MODEL_OFFERED="x", MODEL_PRICES="x")


@pytest.mark.promise("P4-provider", "P4-provider-notools")
def test_windows_and_want_of_tools_are_told_by_model():
    config = read(
        MODEL_WINDOWS='{"ollama:qwen2.5:0.5b": 32768}',
        MODEL_WITHOUT_TOOLS=" ollama:gemma3:4b ,, openrouter:* ",
    )
    said = {
        text: (config.window(parse_choice(text)), config.without_tools(parse_choice(text)))
        for text in ("ollama:qwen2.5:0.5b", "ollama:gemma3:4b", "openrouter:x/y", "ollama:gemma3")
    }
    assert said == {
        "ollama:qwen2.5:0.5b": (32_768, False),
        "ollama:gemma3:4b": (4_096, True),
        "openrouter:x/y": (128_000, True),
        "ollama:gemma3": (4_096, False),
    }


def test_no_key_is_in_a_repr():
    settings = read_settings(ModelSettings, {"OPENROUTER_API_KEY": MARK, "OLLAMA_API_KEY": MARK})
    assert MARK not in repr(settings) + repr(configured(settings))

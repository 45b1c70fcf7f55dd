"""Settings are read once, typed, and everything wrong is named at once, never shown."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from judgment.kit.settings import SettingError, read_settings


@dataclass(frozen=True)
class Settings:
    database_url: str
    port: int
    ratio: float = 0.5
    traced: bool = False
    name: str | None = None


GIVEN = {"DATABASE_URL": "postgres://a", "PORT": "5432"}


def test_fields_are_variables_in_upper_case_and_defaults_hold() -> None:
    assert read_settings(Settings, GIVEN) == Settings("postgres://a", 5432)


def test_an_empty_variable_counts_as_absent() -> None:
    assert read_settings(Settings, {**GIVEN, "RATIO": "", "NAME": ""}).ratio == 0.5
    with pytest.raises(SettingError, match="DATABASE_URL is required"):
        read_settings(Settings, {**GIVEN, "DATABASE_URL": ""})


@pytest.mark.parametrize(
    ("text", "value"),
    [("1", True), ("true", True), ("YES", True), ("On", True), ("0", False), ("no", False)],
)
def test_a_switch_is_read_from_the_usual_words(text: str, value: bool) -> None:
    assert read_settings(Settings, {**GIVEN, "TRACED": text}).traced is value


def test_an_optional_setting_is_read_as_its_type() -> None:
    assert read_settings(Settings, {**GIVEN, "NAME": "7"}).name == "7"


def test_everything_wrong_is_named_at_once_and_no_value_is_shown() -> None:
    with pytest.raises(SettingError) as caught:
        read_settings(Settings, {"PORT": "s3cret", "TRACED": "s3cret", "RATIO": "s3cret"})
    message = str(caught.value)
    assert all(name in message for name in ("DATABASE_URL", "PORT", "TRACED", "RATIO"))
    assert "s3cret" not in message


def test_what_is_not_asked_for_is_not_read() -> None:
    assert read_settings(Settings, {**GIVEN, "OTHER": "x"}) == read_settings(Settings, GIVEN)

"""Whose key pays, and that no owner can make us read another's secret."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from judgment.kit.errors import Unavailable
from judgment.llm.keys import (
    ABSENT_SECONDS,
    KEPT_SECONDS,
    KeyUnavailable,
    StoredKeys,
)
from judgment.llm.model import ModelChoice
from judgment.llm.secret_names import SecretNames
from judgment.llm.settings import ModelSettings, configured

if TYPE_CHECKING:
    from judgment.contract.models import ProviderId

ME = uuid.UUID("0b7f3a55-7f2f-4d6f-9c39-0a35b5a9f6f1")
OTHER = uuid.UUID("1c7f3a55-7f2f-4d6f-9c39-0a35b5a9f6f2")
OPERATORS = ModelChoice("openrouter", "m")


class Secrets:
    """Secrets by name; what is not there is Unavailable, as the real reader has it."""

    def __init__(self, **stored: str):
        self.stored = {f"judgment/models/{name}": value for name, value in stored.items()}
        self.read: list[str] = []

    def __call__(self, name: str) -> Callable[[], bytes]:
        def read() -> bytes:
            self.read.append(name)
            if name not in self.stored:
                raise Unavailable("A secret cannot be read.")
            return self.stored[name].encode()

        return read


class Ticking:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def stored_keys(
    operators: Mapping[ProviderId, str],
    secrets: Secrets,
    monotonic: Callable[[], float] = lambda: 0.0,
) -> StoredKeys:
    return StoredKeys(replace(configured(ModelSettings()), keys=operators), secrets, monotonic)


def own(name: str, user_id: uuid.UUID = ME) -> ModelChoice:
    return ModelChoice("openrouter", "m", f"judgment/models/owners/{user_id}/{name}")


def test_the_operators_key_comes_from_settings_and_else_from_its_secret():
    secrets = Secrets(openrouter="stored\n")
    assert stored_keys({"openrouter": "given"}, secrets).key(OPERATORS) == "given"
    assert secrets.read == []
    assert stored_keys({}, secrets).key(OPERATORS) == "stored"
    assert secrets.read == ["judgment/models/openrouter"]


@pytest.mark.promise("P2-1-own")
def test_an_owners_own_key_is_their_secret_and_never_ours():
    secrets = Secrets()
    choice = own("mine")
    assert choice.key_secret is not None
    secrets.stored[choice.key_secret] = "own"
    keys = stored_keys({"openrouter": "given"}, secrets)
    assert keys.key(choice) == "own"
    with pytest.raises(KeyUnavailable):
        keys.key(own("gone"))


BAD_NAMES = [
    "",
    "mine",
    "judgment/models/openrouter",
    "judgment/models/owners/",
    "judgment/session",
    f"judgment/models/owners/{ME}",
    f"judgment/models/owners/{ME}/",
    f"judgment/models/owners/{ME}/a/b",
    f"judgment/models/owners/{ME}/../{OTHER}/a",
    f"judgment/models/owners/{ME}/..",
    f"judgment/models/owners/{ME}/a b",
    f"judgment/models/owners/{ME}/é",
    f"judgment/models/owners/{ME}/a\n",
    f" judgment/models/owners/{ME}/a",
    f"judgment/models/owners/{str(ME).upper()}/a",
    f"judgment/models/owners/{ME.hex}/a",
    f"arn:aws:secretsmanager:x:1:secret:judgment/models/owners/{ME}/a",
    f"judgment/models/owners/{ME}/" + "a" * 65,
]


@pytest.mark.promise("P2-1-own")
@pytest.mark.parametrize("name", [*BAD_NAMES, f"judgment/models/owners/{OTHER}/a"])
def test_a_name_that_is_not_below_the_owners_prefix_is_not_theirs(name: str):
    assert not SecretNames().is_owners(name, ME)


@pytest.mark.promise("P2-1-own")
@pytest.mark.parametrize("name", BAD_NAMES)
def test_a_name_that_could_not_be_an_owners_is_not_read_even_when_it_is_stored(name: str):
    secrets = Secrets()
    secrets.stored[name] = "a key of somebody's"
    with pytest.raises(KeyUnavailable):
        stored_keys({"openrouter": "given"}, secrets).key(ModelChoice("openrouter", "m", name))
    assert secrets.read == []


def test_an_owners_name_is_theirs():
    assert SecretNames().is_owners(f"judgment/models/owners/{ME}/my-key_1", ME)


def test_where_a_key_is_wanted_and_none_is_there_nothing_is_sent():
    with pytest.raises(KeyUnavailable):
        stored_keys({}, Secrets()).key(OPERATORS)


def test_where_no_key_is_wanted_none_need_be_there():
    secrets = Secrets()
    assert stored_keys({}, secrets).key(ModelChoice("ollama", "m")) is None
    assert secrets.read == [], "a machine of the operator's own is asked without a look at AWS"
    assert stored_keys({"ollama": "k"}, secrets).key(ModelChoice("ollama", "m")) == "k"
    assert stored_keys({}, secrets).key(ModelChoice("openai-compatible", "m")) is None


@pytest.mark.parametrize("value", ["", " ", "two words", "new\nline", "é", "a\x00b"])
def test_what_cannot_be_a_key_is_none(value: str):
    with pytest.raises(KeyUnavailable):
        stored_keys({}, Secrets(openrouter=value)).key(OPERATORS)
    if value:
        with pytest.raises(KeyUnavailable):
            stored_keys({"openrouter": value}, Secrets()).key(OPERATORS)


def test_a_key_is_kept_for_minutes_and_its_absence_for_less():
    secrets, clock = Secrets(openrouter="one"), Ticking()
    keys = stored_keys({}, secrets, clock)
    assert keys.key(OPERATORS) == "one"
    secrets.stored["judgment/models/openrouter"] = "two"
    clock.now += KEPT_SECONDS - 1
    assert keys.key(OPERATORS) == "one"
    clock.now += 1
    assert keys.key(OPERATORS) == "two"
    secrets.stored.clear()
    clock.now += KEPT_SECONDS
    for _ in range(2):
        with pytest.raises(KeyUnavailable):
            keys.key(OPERATORS)
    assert len(secrets.read) == 3
    secrets.stored["judgment/models/openrouter"] = "three"
    clock.now += ABSENT_SECONDS
    assert keys.key(OPERATORS) == "three"


def test_keys_of_many_owners_do_not_pile_up():
    secrets = Secrets()
    keys = stored_keys({}, secrets)
    for _ in range(1_000):
        with pytest.raises(KeyUnavailable):
            keys.key(own("gone", uuid.uuid4()))
    assert len(keys._kept) <= 256


def test_a_deployment_has_secrets_of_its_own():
    names = SecretNames("stage-2/models")
    assert names.of_provider("openrouter") == "stage-2/models/openrouter"
    assert names.is_owners(names.of_owner(ME, "k"), ME)
    assert not names.is_owners(SecretNames().of_owner(ME, "k"), ME)
    assert not SecretNames().is_owners(names.of_owner(ME, "k"), ME)
    assert names.owner_in(f"/owners/{ME}/k") is None


@pytest.mark.parametrize("prefix", ["", "/", "a/", "/a", "a//b", "a/../b", "a b", "é", "a*"])
def test_a_prefix_that_is_none_is_refused(prefix: str):
    with pytest.raises(ValueError, match="slashes"):
        SecretNames(prefix)

"""The port is what the pinned package really offers: names, parameters and defaults."""

from __future__ import annotations

import importlib.metadata
import inspect
import tomllib

import pytest
from fulcra_api.core import FulcraAPI
from fulcra_api.credentials import FulcraCredentials
from fulcra_api.credentials_store import CredentialsFile
from fulcra_api.oidc import (
    FulcraAuthError,
    FulcraAuthUnavailable,
    FulcraOIDCProvider,
    FulcraReauthRequired,
)

from judgment.preferences.fulcra import port
from tests.architecture.source import ROOT

pytestmark = pytest.mark.promise("P3-fulcra")


def parameters(function: object) -> list[tuple[str, object, object]]:
    signature = inspect.signature(function)  # type: ignore[arg-type]
    return [(p.name, p.kind, p.default) for p in signature.parameters.values()]


def test_the_package_is_pinned_and_it_is_the_pinned_one_that_is_tried() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["optional-dependencies"]["fulcra"] == ["fulcra-api==0.1.57"]
    assert importlib.metadata.version("fulcra-api") == "0.1.57"


def test_the_port_names_every_method_that_it_has() -> None:
    own = {name for name in vars(port.Client) if not name.startswith("_")}
    assert own == set(port.METHODS)


@pytest.mark.parametrize("name", port.METHODS)
def test_a_method_of_the_port_takes_what_the_real_one_takes(name: str) -> None:
    assert parameters(getattr(port.Client, name)) == parameters(getattr(FulcraAPI, name))


def test_what_the_client_is_made_with_is_taken() -> None:
    taken = inspect.signature(FulcraAPI).parameters
    assert {
        "oidc_domain",
        "oidc_audience",
        "credentials",
        "credentials_store",
        "user_agent_extra",
    } <= taken.keys()
    assert list(inspect.signature(CredentialsFile).parameters) == ["path"]
    assert list(inspect.signature(CredentialsFile.load).parameters) == ["self"]
    assert list(inspect.signature(FulcraCredentials.is_expired).parameters) == ["self", "leeway"]
    assert {"access_token", "refresh_token"} <= inspect.signature(
        FulcraCredentials
    ).parameters.keys()


def test_the_two_ways_in_which_renewing_fails_are_told_apart() -> None:
    assert issubclass(FulcraReauthRequired, FulcraAuthError)
    assert issubclass(FulcraAuthUnavailable, FulcraAuthError)
    assert not issubclass(FulcraReauthRequired, FulcraAuthUnavailable)
    assert not issubclass(FulcraAuthError, OSError)


def test_the_device_flow_gives_what_the_recipe_says_it_gives() -> None:
    assert list(inspect.signature(FulcraOIDCProvider.poll_for_token).parameters) == [
        "self",
        "device_code",
        "poll_timeout",
        "poll_interval",
    ]

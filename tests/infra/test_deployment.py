"""What a deployment is told, and what it refuses to be told."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from infra.catalogue import CATALOGUE, Door
from infra.constructs.settings import SettingsError, environment_of, settings_of
from infra.deployment import KEYS, Deployment, DeploymentError, read_deployment

REQUIRED = {"domain": "api.example.com", "oidc_issuer": "https://id", "oidc_audience": "judgment"}

URLS = {"judgment_reader": "postgresql://judgment_reader:x@127.0.0.1/judgment"}


def read(**context: Any) -> Deployment:
    return read_deployment(context.get)


def test_the_context_becomes_a_deployment() -> None:
    made = read(**REQUIRED, database_min_capacity="0", nat_gateways="2", alarm_email="a@b.c")
    assert (made.database_min_capacity, made.nat_gateways) == (0.0, 2)
    assert made.api_url == "https://api.example.com"
    assert made.catalogue is CATALOGUE
    assert made.python == "3.13"
    assert not made.local


@pytest.mark.parametrize("missing", REQUIRED)
def test_what_is_missing_is_named(missing: str) -> None:
    with pytest.raises(DeploymentError, match=missing):
        read(**{key: value for key, value in REQUIRED.items() if key != missing})


def test_a_zone_has_an_id_and_a_name() -> None:
    with pytest.raises(DeploymentError, match="hosted_zone"):
        read(**REQUIRED, hosted_zone_id="Z1")


@pytest.mark.promise("R-26")
def test_an_emulator_is_told_its_databases_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "urls.json"
    path.write_text(json.dumps(URLS))
    issuer = {key: value for key, value in REQUIRED.items() if key != "domain"}
    made = read(local="true", database_urls=str(path), **issuer)
    assert made.database_urls == URLS
    assert made.api_url == ""
    assert not made.streaming
    with pytest.raises(DeploymentError, match="database_urls"):
        read(local="true", **issuer)


@pytest.mark.promise("P4-stream")
def test_answers_stream_unless_that_is_switched_off_or_cannot_be() -> None:
    assert read(**REQUIRED).streaming
    assert read(**REQUIRED, streaming="true").streaming
    assert not read(**REQUIRED, streaming="false").streaming
    assert not read(**REQUIRED, streaming=False).streaming
    with pytest.raises(DeploymentError, match="streaming is true or false, not off"):
        read(**REQUIRED, streaming="off")
    emulated = Deployment(**{**REQUIRED, "local": True, "streaming": False}, database_urls=URLS)
    with pytest.raises(DeploymentError, match="an emulator does not stream"):
        dataclasses.replace(emulated, streaming=True)


def test_optional_settings_reach_their_door_and_cannot_replace_its_own() -> None:
    chosen = {"profile_read": {"LIMIT_PROFILE_PER_HOUR": "5"}}
    made = read(**REQUIRED, door_settings=json.dumps(chosen))
    assert made.door_settings == chosen
    door = Door("x", "X.", "functions.x.handler", settings=("API_URL",))
    own = {**made.door_settings["profile_read"], "API_URL": "https://elsewhere"}
    environment = environment_of(door, settings_of(made), _NoDatabase(), own)
    assert environment == {"LIMIT_PROFILE_PER_HOUR": "5", "API_URL": "https://api.example.com"}
    with pytest.raises(DeploymentError, match="profile_read knows no API_URL"):
        read(**REQUIRED, door_settings={"profile_read": {"API_URL": "https://elsewhere"}})
    with pytest.raises(DeploymentError, match="nobody"):
        read(**REQUIRED, door_settings={"nobody": {}})


def test_every_key_that_an_operator_may_set_is_read_and_has_a_meaning() -> None:
    fields = {field.name for field in dataclasses.fields(Deployment)}
    for_emulators = {"catalogue", "local", "python", "database_urls"}
    assert set(KEYS) == fields - for_emulators


def test_a_module_may_bring_more_doors() -> None:
    made = read(**REQUIRED, **{"with": "tests.probe.catalogue"})
    assert made.catalogue.door("probe_echo").purpose


def test_a_setting_that_nothing_provides_is_named() -> None:
    door = Door("later", "Later.", "functions.later.handler", settings=("NEW_SETTING",))
    deployment = read(**REQUIRED)
    with pytest.raises(SettingsError, match="later wants NEW_SETTING"):
        environment_of(door, settings_of(deployment), _NoDatabase())


def test_a_door_without_a_role_gets_no_database() -> None:
    door = Door("later", "Later.", "functions.later.handler", settings=("DATABASE_URL",))
    with pytest.raises(SettingsError, match="no database role"):
        environment_of(door, {}, _NoDatabase())


class _NoDatabase:
    def environment(self, role: str) -> dict[str, str]:
        raise AssertionError(role)

    def allow(self, grantee: object, role: str) -> None:
        raise AssertionError(role)

"""The whole environment of a door on this machine: what its catalogue row asks for, and no more."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from infra.local.issuer import ADMIN_CLAIM, AUDIENCE
from infra.local.provision import aws_environment

if TYPE_CHECKING:
    from infra.catalogue import Catalogue, Door
    from infra.local.places import Places

# Certificates and the like that a machine may need to reach the internet at all.
_NETWORK = ("SSL_CERT_FILE", "SSL_CERT_DIR", "HTTPS_PROXY", "NO_PROXY")


class SettingMissing(LookupError):
    """A door asks for a setting that the local stack does not know."""


def stack_settings(api_url: str, issuer_url: str) -> dict[str, str]:
    """The settings that come from the stack's own addresses."""
    return {
        "API_URL": api_url,
        "CONSOLE_ORIGIN": api_url,
        "ALLOWED_ORIGINS": f"{api_url},{api_url.replace('127.0.0.1', 'localhost')}",
        "OIDC_ISSUER": issuer_url,
        "OIDC_AUDIENCE": AUDIENCE,
        "OIDC_ADMIN_CLAIM": ADMIN_CLAIM,
    }


def environments(
    catalogue: Catalogue,
    given: Mapping[str, str],
    database_url: Callable[[str], str],
    *,
    endpoint: str,
    places: Places,
) -> dict[str, dict[str, str]]:
    """Every door's environment, by door. Raises SettingMissing."""
    shared = {
        **aws_environment(endpoint),
        "HOME": str(places.scratch),
        "TMPDIR": str(places.scratch),
        "PATH": "/usr/bin:/bin",
    }
    return {
        door.name: {**shared, **_network(door), **_asked(door, given, database_url)}
        for door in catalogue.doors
    }


def _network(door: Door) -> dict[str, str]:
    if door.egress != "internet":
        return {}
    return {name: os.environ[name] for name in _NETWORK if name in os.environ}


def _asked(
    door: Door, given: Mapping[str, str], database_url: Callable[[str], str]
) -> dict[str, str]:
    values = {"POWERTOOLS_SERVICE_NAME": door.name}
    values |= {name: os.environ[name] for name in door.optional if os.environ.get(name)}
    for name in door.required:
        if name == "DATABASE_URL" and door.database_role:
            values[name] = database_url(door.database_role)
        elif name in given:
            values[name] = given[name]
        else:
            raise SettingMissing(f"{door.name} wants {name}, which the local stack does not have")
    return values

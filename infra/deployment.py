"""What one deployment is told from outside: CDK context in, one frozen value out.

Every key is `-c key=value` on the CDK command line or an entry under `context` in
`infra/cdk.json`. docs/operator-guide.md explains each.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from infra.catalogue import CATALOGUE, Catalogue

LAMBDA_PYTHON = "3.13"

Context = Callable[[str], Any]


class DeploymentError(ValueError):
    """The context is incomplete or contradicts itself; the message names the key."""


@dataclass(frozen=True)
class Deployment:
    """One deployment of the catalogue.

    `local` builds for an emulator: host architecture, `python` as the layers' interpreter, no
    VPC, no streaming, `database_urls` (role to address, read from a file so that no password is
    on a command line), and `api_url` left empty because an emulator gives the address only after
    it deployed.
    `streaming`: doors with `stream` answer as they speak, in function and gateway both; without it
    they are buffered in both, and what needs more than the gateway's 29 seconds is cut short.
    Capacities are Aurora capacity units; 0 lets the database pause when nobody asks.
    """

    name: str = "judgment"
    catalogue: Catalogue = CATALOGUE
    local: bool = False
    streaming: bool = True
    python: str = LAMBDA_PYTHON
    domain: str = ""
    hosted_zone_id: str = ""
    hosted_zone_name: str = ""
    allowed_origins: str = ""
    oidc_issuer: str = ""
    oidc_audience: str = ""
    oidc_admin_claim: str = ""
    alarm_email: str = ""
    database_urls: Mapping[str, str] = field(default_factory=dict)
    database_min_capacity: float = 0.5
    database_max_capacity: float = 4
    nat_gateways: int = 1
    door_settings: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def api_url(self) -> str:
        """The public address without a trailing slash; empty when only the emulator knows it."""
        return f"https://{self.domain}" if self.domain else ""

    def __post_init__(self) -> None:
        """Raise DeploymentError for a deployment that could not work."""
        required = ("oidc_issuer", "oidc_audience", "database_urls" if self.local else "domain")
        missing = [key for key in required if not getattr(self, key)]
        if missing:
            raise DeploymentError(f"missing context: {', '.join(missing)}")
        if self.local and self.streaming:
            raise DeploymentError("streaming: an emulator does not stream; leave it out")
        strangers = set(self.door_settings) - {door.name for door in self.catalogue.doors}
        if strangers:
            raise DeploymentError(f"door_settings names no door: {', '.join(sorted(strangers))}")
        for name, chosen in self.door_settings.items():
            unknown = set(chosen) - set(self.catalogue.door(name).optional)
            if unknown:
                raise DeploymentError(
                    f"door_settings: {name} knows no {', '.join(sorted(unknown))}"
                )
        if bool(self.hosted_zone_id) != bool(self.hosted_zone_name):
            raise DeploymentError("hosted_zone_id and hosted_zone_name go together")


KEYS: dict[str, str] = {
    "domain": "The API's own name, for example `judgment.example.com`. Required.",
    "oidc_issuer": "The OpenID Connect issuer of owners' tokens. Required.",
    "oidc_audience": "The audience those tokens must name. Required.",
    "oidc_admin_claim": "The claim that makes an admin (docs/api.md); absent: nobody is one.",
    "hosted_zone_id": "The Route 53 zone of the domain; absent: records are made by hand.",
    "hosted_zone_name": "That zone's name.",
    "alarm_email": "Who is told of alarms; absent: subscribe to the topic by hand.",
    "allowed_origins": "Browser origins besides the domain that may call `/mcp`, by commas.",
    "name": "What every resource's name begins with.",
    "database_min_capacity": "Aurora capacity units kept ready; 0 lets it pause.",
    "database_max_capacity": "The most it may grow to.",
    "nat_gateways": "Ways out for doors with egress `internet`: one, or one per zone (2).",
    "streaming": "`false`: answers to messages come whole, after 29 s at the latest.",
    "door_settings": "Optional settings by door, as JSON: "
    '`{"profile_read": {"LIMIT_PROFILE_PER_HOUR": "1200"}}`.',
}
"""What an operator may set, and its meaning; the rest of the context is for emulators."""

_TEXT = (
    "name",
    "domain",
    "hosted_zone_id",
    "hosted_zone_name",
    "allowed_origins",
    "oidc_issuer",
    "oidc_audience",
    "oidc_admin_claim",
    "alarm_email",
)
_NUMBER: dict[str, type[int] | type[float]] = {
    "database_min_capacity": float,
    "database_max_capacity": float,
    "nat_gateways": int,
}


def read_deployment(context: Context) -> Deployment:
    """The deployment that this CDK context describes.

    `with=<module>` joins that module's `CATALOGUE` to the product's (a tests-only door, say).
    Raises DeploymentError.
    """
    values: dict[str, Any] = {key: str(context(key)) for key in _TEXT if context(key)}
    for key, kind in _NUMBER.items():
        if context(key) is not None:
            values[key] = kind(context(key))
    values["local"] = _switch(context, "local", otherwise=False)
    values["streaming"] = _switch(context, "streaming", otherwise=not values["local"])
    if values["local"]:
        host = f"{sys.version_info.major}.{sys.version_info.minor}"
        values["python"] = str(context("python") or host)
    if urls := context("database_urls"):
        values["database_urls"] = json.loads(Path(str(urls)).read_text())
    if chosen := context("door_settings"):
        values["door_settings"] = json.loads(chosen) if isinstance(chosen, str) else chosen
    if extra := context("with"):
        values["catalogue"] = CATALOGUE.plus(importlib.import_module(str(extra)).CATALOGUE)
    return Deployment(**values)


def _switch(context: Context, key: str, *, otherwise: bool) -> bool:
    given = str(otherwise if context(key) is None else context(key)).lower()
    if given not in ("true", "false"):
        raise DeploymentError(f"{key} is true or false, not {given}")
    return given == "true"

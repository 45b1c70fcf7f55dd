"""What the supervisor tells the gateway process: one private JSON file."""

from __future__ import annotations

import importlib
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from infra.catalogue import CATALOGUE, Catalogue
from infra.local.gateway.app import INTEGRATION_SECONDS
from infra.local.private import write_private


@dataclass(frozen=True)
class GatewayConfig:
    """Ports, files, and the whole environment of every door, by door.

    `queues` holds url and arn by queue name; `with_modules` name modules whose `CATALOGUE` joins
    the product's; `host_port` is the public `host:port`.
    """

    port: int
    issuer_port: int
    issuer_url: str
    issuer_file: str
    host_port: str
    checkout: str
    logs: str
    wire_log: str
    environments: dict[str, dict[str, str]] = field(repr=False)
    queues: dict[str, dict[str, str]]
    aws: dict[str, str] = field(repr=False)
    with_modules: tuple[str, ...] = ()
    integration_seconds: float = INTEGRATION_SECONDS

    def write(self, path: Path) -> None:
        """Store it, readable by its owner alone."""
        write_private(path, json.dumps(asdict(self)))

    @classmethod
    def read(cls, path: Path) -> GatewayConfig:
        """The stored one."""
        found: dict[str, Any] = json.loads(path.read_text())
        return cls(**{**found, "with_modules": tuple(found["with_modules"])})


def catalogue_with(modules: tuple[str, ...]) -> Catalogue:
    """The product's catalogue joined with the `CATALOGUE` of each module."""
    catalogue = CATALOGUE
    for module in modules:
        catalogue = catalogue.plus(importlib.import_module(module).CATALOGUE)
    return catalogue

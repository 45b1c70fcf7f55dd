"""The app, synthesized once for AWS and once for the emulator, without layers' contents."""

from __future__ import annotations

import contextlib
import json
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from infra.catalogue import CATALOGUE, Catalogue, Door, Queue, Rule
from infra.checkout import ROOT
from infra.deployment import Deployment
from infra.node import NODE
from judgment.contract.routes import Route
from judgment.db.roles import LOGIN_ROLES

if TYPE_CHECKING:
    from infra.findings import Acknowledged

# Read when aws_cdk is first imported, which is after this file: the machine's Node may be too old.
os.environ.setdefault("JSII_NODE", str(NODE))

LATER = Catalogue(
    doors=(
        Door(
            "later_stream",
            "Streams.",
            "tests.probe.stream",
            "judgment_process",
            stream=True,
            egress="internet",
            timeout_s=300,
            optional=("INTEGRATION_SECONDS",),
        ),
    ),
    routes=(Route("POST", "/later", "later_stream", "owner", "A stream."),),
    queues=(Queue("later", consumer="maintenance", batch_size=20),),
    rules=(Rule("later-decisions", "some.app", ("decision.recorded",), "later"),),
)
"""What the product has no row of yet, so that its construct is held to account from the start."""


AS_THE_COMMAND_DOES = {
    "aws:cdk:bundling-stacks": [],
    "aws:cdk:enable-asset-metadata": True,
    "aws:cdk:enable-path-metadata": True,
}


@dataclass(frozen=True)
class Assembly:
    """One synthesis: templates by stack name, cdk-nag's report, how often each row was used."""

    catalogue: Catalogue
    templates: dict[str, dict[str, Any]]
    report: dict[str, Any]
    used: dict[Acknowledged, int]
    folder: Path

    def resources(self, stack: str, kind: str) -> dict[str, dict[str, Any]]:
        """Resources of one type by logical id."""
        found = self.templates[stack]["Resources"].items()
        return {name: row for name, row in found if row["Type"] == kind}


def synthesize(deployment: Deployment, folder: Path) -> Assembly:
    """Synthesize. Open findings make `synth` raise after it wrote everything; a test reads them."""
    import aws_cdk as cdk

    from infra.app import assemble

    context = json.loads((ROOT / "infra" / "cdk.json").read_text())["context"]
    app = cdk.App(outdir=str(folder / "out"), context={**context, **AS_THE_COMMAND_DOES})
    used = assemble(app, deployment, build=folder / "build")
    with contextlib.suppress(RuntimeError):
        app.synth()
    templates = {
        path.name.removesuffix(".template.json"): json.loads(path.read_text())
        for path in (folder / "out").glob("*.template.json")
    }
    report = json.loads((folder / "out" / "validation-report.json").read_text())
    return Assembly(deployment.catalogue, templates, report, used, folder)


ON_AWS = Deployment(
    catalogue=CATALOGUE.plus(LATER),
    domain="api.example.com",
    hosted_zone_id="Z0123456789",
    hosted_zone_name="example.com",
    oidc_issuer="https://id.example.com",
    oidc_audience="judgment",
    oidc_admin_claim="judgment_admin",
    alarm_email="ops@example.com",
)


@pytest.fixture(scope="session")
def on_aws(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """All three stacks, with a queue, a rule and a streaming door besides the product's rows."""
    return synthesize(ON_AWS, tmp_path_factory.mktemp("aws"))


@pytest.fixture(scope="session")
def on_aws_buffered(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """The same with `-c streaming=false`."""
    return synthesize(replace(ON_AWS, streaming=False), tmp_path_factory.mktemp("buffered"))


@pytest.fixture(scope="session")
def in_emulator(tmp_path_factory: pytest.TempPathFactory) -> Assembly:
    """The Service stack alone, with the same rows, as `-c local=true` makes it."""
    deployment = Deployment(
        catalogue=CATALOGUE.plus(LATER),
        local=True,
        streaming=False,
        python="3.13",
        oidc_issuer="http://127.0.0.1:9",
        oidc_audience="judgment",
        database_urls={role: f"postgresql://{role}@127.0.0.1/judgment" for role in LOGIN_ROLES},
    )
    return synthesize(deployment, tmp_path_factory.mktemp("emulator"))

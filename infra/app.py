"""The CDK app: `python -m infra.app` synthesizes, `infra/cdk.json` tells the CDK command so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from infra.acknowledgements import acknowledge
from infra.constructs.database import GivenAccess
from infra.deployment import Deployment, read_deployment
from infra.stacks.data import DataStack
from infra.stacks.edge import EdgeStack
from infra.stacks.names import DATA, EDGE, SERVICE
from infra.stacks.service import ServiceStack
from infra.staging import BUILD

if TYPE_CHECKING:
    from infra.findings import Acknowledged


def assemble(
    app: cdk.App, deployment: Deployment, *, build: Path = BUILD
) -> dict[Acknowledged, int]:
    """Put the stacks of this deployment into `app`: all three, or Service alone for an emulator.

    Returns how often each acknowledgement of cdk-nag's findings was used.
    """
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    if deployment.local:
        given = GivenAccess(deployment.database_urls)
        ServiceStack(app, SERVICE, deployment=deployment, database=given, build=build)
    else:
        data = DataStack(app, DATA, deployment=deployment, build=build)
        service = ServiceStack(
            app,
            SERVICE,
            deployment=deployment,
            database=data.access,
            place=data.place,
            build=build,
        )
        EdgeStack(
            app,
            EDGE,
            deployment=deployment,
            api=service.front.api,
            own_addresses=data.network.addresses,
        )
    return acknowledge(app, deployment.catalogue, deployment.name)


def main() -> None:
    """Synthesize what the CDK context describes. Raises DeploymentError before anything else."""
    app = cdk.App()
    assemble(app, read_deployment(app.node.try_get_context))
    app.synth()


if __name__ == "__main__":
    main()

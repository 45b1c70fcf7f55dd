"""How a door reaches Postgres: the address it is told and the right to log in as its role."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol

from aws_cdk import aws_iam as iam
from aws_cdk import aws_rds as rds

from infra.constructs.code import CA_FILE
from infra.constructs.network import DATABASE_PORT

if TYPE_CHECKING:
    from infra.catalogue import DatabaseRole

DATABASE_NAME = "judgment"
CA_BUNDLE = f"/opt/python/{CA_FILE}"


class DatabaseAccess(Protocol):
    """What the Service stack needs to know about the database."""

    def environment(self, role: DatabaseRole) -> Mapping[str, str]:
        """The settings of a door that logs in as `role`."""
        ...

    def allow(self, grantee: iam.IRole, role: DatabaseRole) -> None:
        """Let a Lambda role log in as `role` and as no other."""
        ...


class AuroraAccess:
    """IAM tokens instead of passwords, the server's certificate checked."""

    def __init__(self, cluster: rds.DatabaseCluster) -> None:
        self._cluster = cluster

    def environment(self, role: DatabaseRole) -> Mapping[str, str]:
        """See `DatabaseAccess`."""
        host = self._cluster.cluster_endpoint.hostname
        return {
            "DATABASE_URL": (
                f"postgresql://{role}@{host}:{DATABASE_PORT}/{DATABASE_NAME}"
                f"?sslmode=verify-full&sslrootcert={CA_BUNDLE}"
            )
        }

    def allow(self, grantee: iam.IRole, role: DatabaseRole) -> None:
        """See `DatabaseAccess`."""
        self._cluster.grant_connect(grantee, role)


class GivenAccess:
    """A database that stands already, reached by password: what an emulator deployment uses."""

    def __init__(self, urls: Mapping[str, str]) -> None:
        self._urls = urls

    def environment(self, role: DatabaseRole) -> Mapping[str, str]:
        """See `DatabaseAccess`. Raises KeyError for a role without an address."""
        return {"DATABASE_URL": self._urls[role]}

    def allow(self, grantee: iam.IRole, role: DatabaseRole) -> None:
        """Nothing to grant: the password in the address is the right."""

"""Fills the environment that a door's catalogue row asks for, and grants what the row grants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager
from aws_cdk import aws_sqs as sqs

if TYPE_CHECKING:
    from infra.catalogue import Door, Grant
    from infra.constructs.database import DatabaseAccess
    from infra.deployment import Deployment


INTEGRATION_SECONDS = "INTEGRATION_SECONDS"


class SettingsError(LookupError):
    """A door asks for a setting that no resource of the deployment provides."""


def environment_of(
    door: Door,
    given: Mapping[str, str],
    database: DatabaseAccess,
    chosen: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The door's environment. A setting whose value is empty is left out.

    `chosen` are optional settings of this door, which the deployment's context names. Raises
    SettingsError for a name that nothing provides, so that a new setting cannot be forgotten here.
    """
    values: dict[str, str] = {}
    for setting in door.required:
        if setting == "DATABASE_URL":
            if door.database_role is None:
                raise SettingsError(f"{door.name} wants DATABASE_URL but has no database role")
            values |= database.environment(door.database_role)
        elif setting not in given:
            raise SettingsError(f"{door.name} wants {setting}, which no resource provides")
        elif given[setting]:
            values[setting] = given[setting]
    return {**(chosen or {}), **values}


def waited_for(door: Door, seconds: int) -> dict[str, str]:
    """What tells a door that its caller's side waits no longer, where the door wants to know."""
    return {INTEGRATION_SECONDS: str(seconds)} if INTEGRATION_SECONDS in door.optional else {}


def model_secret_prefix(deployment: Deployment) -> str:
    """What the names of model keys in Secrets Manager begin with, without a trailing slash."""
    return f"{deployment.name}/models"


def settings_of(deployment: Deployment) -> dict[str, str]:
    """The settings that come from the deployment's context rather than from a resource."""
    origins = ",".join(filter(None, (deployment.api_url, deployment.allowed_origins)))
    return {
        "API_URL": deployment.api_url,
        "CONSOLE_ORIGIN": deployment.api_url,
        "ALLOWED_ORIGINS": origins,
        "OIDC_ISSUER": deployment.oidc_issuer,
        "OIDC_AUDIENCE": deployment.oidc_audience,
        "OIDC_ADMIN_CLAIM": deployment.oidc_admin_claim,
        "MODEL_SECRET_PREFIX": model_secret_prefix(deployment),
    }


class Granter:
    """The one place where a `Grant` of the catalogue becomes IAM statements."""

    def __init__(
        self,
        *,
        rate_limits: dynamodb.ITable,
        bus: events.IEventBus,
        session_secret: secretsmanager.ISecret,
        model_secrets: str,
        queues: Mapping[str, sqs.IQueue],
    ) -> None:
        """`model_secrets` is the pattern of the names of model keys (ARN resource part)."""
        self._queues = queues
        self._by_grant: dict[Grant, Callable[[iam.IRole], object]] = {
            "rate_limits:update": lambda role: rate_limits.grant(role, "dynamodb:UpdateItem"),
            "events:put": bus.grant_put_events_to,
            "session_secret:read": session_secret.grant_read,
            "model_secrets:read": lambda role: iam.Grant.add_to_principal(
                grantee=role,
                actions=["secretsmanager:GetSecretValue"],
                resource_arns=[model_secrets],
            ),
        }

    def grant(self, door: Door, role: iam.IRole) -> None:
        """Give the role what the row says. Raises KeyError for a grant or queue unknown here."""
        for grant in door.grants:
            self._by_grant[grant](role)
        for queue in door.sends:
            self._queues[queue].grant(role, "sqs:SendMessage")

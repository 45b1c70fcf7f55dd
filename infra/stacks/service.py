"""Service: everything that runs. The emulator deploys this stack as it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from aws_cdk import ArnFormat, CfnOutput, RemovalPolicy, Stack
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.constructs.alarms import Alarms
from infra.constructs.async_work import AsyncWork
from infra.constructs.code import CodeAssets
from infra.constructs.door import DoorFunction, Place, logical_name
from infra.constructs.rest import INTEGRATION_TIMEOUT_S, RestFront
from infra.constructs.settings import (
    Granter,
    environment_of,
    model_secret_prefix,
    settings_of,
    waited_for,
)
from infra.staging import BUILD

if TYPE_CHECKING:
    from infra.catalogue import Door, Table
    from infra.constructs.database import DatabaseAccess
    from infra.deployment import Deployment

SESSION_SECRET_LENGTH = 64


class ServiceStack(Stack):
    """The doors of the catalogue with their queues, tables, schedules, alarms and REST front.

    `place` says where in the network a door stands, None for an emulator.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        database: DatabaseAccess,
        place: Callable[[Door], Place] | None = None,
        build: Path = BUILD,
    ) -> None:
        super().__init__(scope, construct_id)
        self._deployment = deployment
        self._database = database
        catalogue, prefix = deployment.catalogue, deployment.name
        self._code = CodeAssets(
            self, "Code", local=deployment.local, python=deployment.python, build=build
        )
        self._place = place
        self._work = AsyncWork(self, "Work", prefix=prefix, catalogue=catalogue)
        self._tables = {row.setting: self._table(row) for row in catalogue.tables}
        self._secret = self._session_secret()
        self._granter = Granter(
            rate_limits=self._tables["RATE_LIMIT_TABLE"],
            bus=self._work.bus,
            session_secret=self._secret,
            model_secrets=self.format_arn(
                service="secretsmanager",
                resource="secret",
                resource_name=f"{model_secret_prefix(deployment)}/*",
                arn_format=ArnFormat.COLON_RESOURCE_NAME,
            ),
            queues={name: pair.queue for name, pair in self._work.queues.items()},
        )
        given = self._given()
        self.doors = {
            door.name: self._door(door, given)
            for door in catalogue.doors
            if door.trigger != "deploy"
        }
        self._work.connect(self.doors)
        self.front = RestFront(
            self,
            "Front",
            name=prefix,
            catalogue=catalogue,
            doors=self.doors,
            stream=deployment.streaming,
            own_domain=bool(deployment.domain),
        )
        self._watch()
        CfnOutput(self, "ApiId", value=self.front.api.rest_api_id)
        CfnOutput(self, "StageName", value=self.front.api.deployment_stage.stage_name)

    def _given(self) -> dict[str, str]:
        given = settings_of(self._deployment)
        given |= {name: table.table_name for name, table in self._tables.items()}
        given |= {pair.row.setting: pair.queue.queue_url for pair in self._work.queues.values()}
        given["EVENT_BUS_NAME"] = self._work.bus.event_bus_name
        given["SESSION_SECRET_ID"] = self._secret.secret_name
        return given

    def _door(self, door: Door, given: dict[str, str]) -> DoorFunction:
        stream = door.stream and self._deployment.streaming
        environment = environment_of(
            door, given, self._database, self._deployment.door_settings.get(door.name)
        )
        if not stream:
            environment |= waited_for(door, INTEGRATION_TIMEOUT_S)
        made = DoorFunction(
            self,
            door,
            prefix=self._deployment.name,
            code=self._code,
            environment=environment,
            place=self._place(door) if self._place else None,
            stream=stream,
        )
        if door.database_role:
            self._database.allow(made.role, door.database_role)
        self._granter.grant(door, made.role)
        return made

    def _table(self, row: Table) -> dynamodb.Table:
        return dynamodb.Table(
            self,
            logical_name(row.name),
            table_name=f"{self._deployment.name}-{row.name}",
            partition_key=dynamodb.Attribute(name="pk", type=dynamodb.AttributeType.STRING),
            time_to_live_attribute=row.ttl_attribute,
            billing_mode=dynamodb.BillingMode.PAY_PER_REQUEST,
            removal_policy=RemovalPolicy.DESTROY,
        )

    def _session_secret(self) -> secretsmanager.ISecret:
        """Granted by its name: an emulator's own reference to a secret is no ARN."""
        name = f"{self._deployment.name}/session"
        secretsmanager.Secret(
            self,
            "SessionSecret",
            secret_name=name,
            description="Signs CSRF tokens of console sessions.",
            generate_secret_string=secretsmanager.SecretStringGenerator(
                password_length=SESSION_SECRET_LENGTH, exclude_punctuation=True
            ),
        )
        return secretsmanager.Secret.from_secret_name_v2(self, "SessionSecretByName", name)

    def _watch(self) -> None:
        alarms = Alarms(
            self, "Alarms", prefix=self._deployment.name, email=self._deployment.alarm_email
        )
        for door in self.doors.values():
            alarms.watch_door(door)
        for pair in self._work.queues.values():
            consumer = self._deployment.catalogue.door(pair.row.consumer)
            alarms.watch_queue(pair, consumer.timeout_s)
        alarms.watch_api(self.front.api)

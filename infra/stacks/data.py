"""Data: what must outlive every release. The network, Aurora, its first role, the migrations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from aws_cdk import Duration, RemovalPolicy, Stack, triggers
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_rds as rds
from aws_cdk import custom_resources as custom
from constructs import Construct

from infra.constructs.alarms import PERIOD, Alarms
from infra.constructs.code import CodeAssets
from infra.constructs.database import DATABASE_NAME, AuroraAccess
from infra.constructs.door import LOG_RETENTION, DoorFunction, Place
from infra.constructs.network import Network
from infra.constructs.settings import environment_of, settings_of
from infra.staging import BUILD

if TYPE_CHECKING:
    from infra.catalogue import Door
    from infra.deployment import Deployment

ENGINE = rds.DatabaseClusterEngine.aurora_postgres(version=rds.AuroraPostgresEngineVersion.VER_17_9)
BOOTSTRAP_SQL = Path(__file__).with_name("bootstrap.sql")
BACKUPS_KEPT = Duration.days(14)
PAUSE_AFTER = Duration.minutes(30)
CAPACITY_ALARM_SHARE = 0.9
CONNECTIONS_ALARM = 400


class DataStack(Stack):
    """One Aurora PostgreSQL Serverless v2 cluster in isolated subnets, reached by IAM token.

    The master password is made and rotated by RDS and used by one statement, `bootstrap.sql`.
    Migrations run after that at every deployment that changes them, before Service is updated.
    Deleting the stack leaves a snapshot; two protections have to be lifted before.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, deployment: Deployment, build: Path = BUILD
    ) -> None:
        super().__init__(scope, construct_id, termination_protection=True)
        self._deployment = deployment
        self.network = Network(
            self,
            "Network",
            catalogue=deployment.catalogue,
            nat_gateways=deployment.nat_gateways,
        )
        self.cluster = self._cluster()
        self.access = AuroraAccess(self.cluster)
        bootstrap = self._bootstrap()
        code = CodeAssets(self, "Code", local=False, python=deployment.python, build=build)
        self.alarms = Alarms(
            self, "Alarms", prefix=f"{deployment.name}-data", email=deployment.alarm_email
        )
        for door in deployment.catalogue.doors:
            if door.trigger == "deploy":
                self._run_at_deploy(door, code, bootstrap)
        self._watch()

    def place(self, door: Door) -> Place:
        """Where a door of the Service stack stands."""
        return self.network.place(door)

    def _cluster(self) -> rds.DatabaseCluster:
        minimum = self._deployment.database_min_capacity
        written = logs.LogGroup(
            self,
            "ClusterLogs",
            log_group_name=f"/aws/rds/cluster/{self._deployment.name}/postgresql",
            retention=LOG_RETENTION,
            removal_policy=RemovalPolicy.DESTROY,
        )
        cluster = rds.DatabaseCluster(
            self,
            "Cluster",
            cluster_identifier=self._deployment.name,
            engine=ENGINE,
            writer=rds.ClusterInstance.serverless_v2("writer", publicly_accessible=False),
            serverless_v2_min_capacity=minimum,
            serverless_v2_max_capacity=self._deployment.database_max_capacity,
            serverless_v2_auto_pause_duration=PAUSE_AFTER if minimum == 0 else None,
            credentials=rds.Credentials.from_username("judgment_master"),
            manage_master_user_password=True,
            default_database_name=DATABASE_NAME,
            iam_authentication=True,
            enable_data_api=True,
            vpc=self.network.vpc,
            vpc_subnets=self.network.database_subnets,
            security_groups=[self.network.database_group],
            storage_encrypted=True,
            backup=rds.BackupProps(retention=BACKUPS_KEPT),
            copy_tags_to_snapshot=True,
            deletion_protection=True,
            removal_policy=RemovalPolicy.SNAPSHOT,
            cloudwatch_logs_exports=["postgresql"],
            parameters={"rds.force_ssl": "1", "log_statement": "ddl"},
        )
        cluster.node.add_dependency(written)
        return cluster

    def _bootstrap(self) -> custom.AwsCustomResource:
        """Through the Data API, so that no Lambda of ours ever holds the master password."""
        secret = self.cluster.secret
        assert secret is not None, "manage_master_user_password makes one"
        statement = custom.AwsSdkCall(
            service="rds-data",
            action="executeStatement",
            parameters={
                "resourceArn": self.cluster.cluster_arn,
                "secretArn": secret.secret_arn,
                "database": DATABASE_NAME,
                "sql": BOOTSTRAP_SQL.read_text(),
            },
            physical_resource_id=custom.PhysicalResourceId.of("judgment-migrate-role"),
        )
        resource = custom.AwsCustomResource(
            self,
            "Bootstrap",
            on_create=statement,
            on_update=statement,
            install_latest_aws_sdk=False,
            log_group=logs.LogGroup(
                self,
                "BootstrapLogs",
                retention=LOG_RETENTION,
                removal_policy=RemovalPolicy.DESTROY,
            ),
            policy=custom.AwsCustomResourcePolicy.from_statements(
                [
                    iam.PolicyStatement(
                        actions=["rds-data:ExecuteStatement"], resources=[self.cluster.cluster_arn]
                    ),
                    iam.PolicyStatement(
                        actions=["secretsmanager:GetSecretValue"], resources=[secret.secret_arn]
                    ),
                ]
            ),
        )
        resource.node.add_dependency(self.cluster)
        return resource

    def _run_at_deploy(self, door: Door, code: CodeAssets, after: Construct) -> None:
        role = door.database_role
        made = DoorFunction(
            self,
            door,
            prefix=self._deployment.name,
            code=code,
            environment=environment_of(door, settings_of(self._deployment), self.access),
            place=self.place(door),
        )
        if role:
            self.access.allow(made.role, role)
        triggers.Trigger(
            self,
            f"{door.name}-at-deploy",
            handler=made.function,
            timeout=Duration.seconds(door.timeout_s),
            execute_after=[self.cluster, after, made],
        )
        self.alarms.watch_door(made)

    def _watch(self) -> None:
        self.alarms.watch(
            "database-capacity",
            self.cluster.metric("ACUUtilization", statistic="Average", period=PERIOD),
            CAPACITY_ALARM_SHARE * 100,
            "Aurora works at its highest capacity: raise database_max_capacity.",
            periods=3,
        )
        self.alarms.watch(
            "database-connections",
            self.cluster.metric_database_connections(period=PERIOD, statistic="Maximum"),
            CONNECTIONS_ALARM,
            "Many connections: one per warm Lambda environment. See the operator guide.",
        )
        self.alarms.watch(
            "database-deadlocks",
            cloudwatch.Metric(
                namespace="AWS/RDS",
                metric_name="Deadlocks",
                dimensions_map={"DBClusterIdentifier": self.cluster.cluster_identifier},
                statistic="Sum",
                period=PERIOD,
            ),
            1,
            "Postgres resolved a deadlock by refusing a transaction.",
        )

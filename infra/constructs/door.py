"""The one construct a door is: a function with its own role, its own log group and its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aws_cdk import Aws, Duration, Fn, RemovalPolicy, Stack
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.constructs.code import RUNTIME, CodeAssets
from infra.staging import STREAM_WRAPPER_NAME

if TYPE_CHECKING:
    from infra.catalogue import Door

LOG_RETENTION = logs.RetentionDays.ONE_MONTH
STREAM_WRAPPER = f"/opt/{STREAM_WRAPPER_NAME}"

_INTERFACE_ACTIONS = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
)


@dataclass(frozen=True)
class Place:
    """Where in the network a door stands; None of it in an emulator."""

    vpc: ec2.IVpc
    subnets: ec2.SubnetSelection
    group: ec2.ISecurityGroup


class DoorFunction(Construct):
    """A catalogue row as a Lambda function.

    Its role starts with writing to its own log group and, inside the network, with the interface
    calls that the Lambda service makes for it and that its own code is denied. All else is
    granted by whoever owns the resource.
    """

    def __init__(
        self,
        scope: Construct,
        door: Door,
        *,
        prefix: str,
        code: CodeAssets,
        environment: Mapping[str, str],
        place: Place | None = None,
        stream: bool = False,
    ) -> None:
        super().__init__(scope, logical_name(door.name))
        self.door = door
        name = f"{prefix}-{door.name}"
        self.log_group = logs.LogGroup(
            self,
            "Logs",
            log_group_name=f"/aws/lambda/{name}",
            retention=LOG_RETENTION,
            removal_policy=RemovalPolicy.DESTROY,
        )
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
            description=door.purpose,
        )
        self.log_group.grant_write(self.role)
        if place:
            self._allow_interfaces(name)
        wrapper = {"AWS_LAMBDA_EXEC_WRAPPER": STREAM_WRAPPER} if stream else {}
        self.function = lambda_.Function(
            self,
            "Function",
            function_name=name,
            description=door.purpose,
            runtime=RUNTIME,
            architecture=code.architecture,
            code=code.door(door.handler),
            handler=f"{door.handler}.handler",
            layers=[code.layer(layer) for layer in door.layers],
            memory_size=door.memory_mb,
            timeout=Duration.seconds(door.timeout_s),
            environment={"POWERTOOLS_SERVICE_NAME": door.name, **environment, **wrapper},
            role=self.role,
            log_group=self.log_group,
            vpc=place.vpc if place else None,
            vpc_subnets=place.subnets if place else None,
            security_groups=[place.group] if place else None,
        )
        resource = self.function.node.default_child
        if isinstance(resource, lambda_.CfnFunction):
            resource.override_logical_id(f"{logical_name(door.name)}Function")

    def _allow_interfaces(self, name: str) -> None:
        arn = Fn.join(
            ":",
            [
                *("arn", Aws.PARTITION, "lambda", Stack.of(self).region),
                *(Stack.of(self).account, "function", name),
            ],
        )
        self.role.add_to_policy(
            iam.PolicyStatement(actions=list(_INTERFACE_ACTIONS), resources=["*"])
        )
        self.role.add_to_policy(
            iam.PolicyStatement(
                effect=iam.Effect.DENY,
                actions=list(_INTERFACE_ACTIONS),
                resources=["*"],
                conditions={"ArnEquals": {"lambda:SourceFunctionArn": arn}},
            )
        )


def logical_name(name: str) -> str:
    """`profile_read` and `rate-limits` as `ProfileRead` and `RateLimits`."""
    return "".join(word.capitalize() for word in name.replace("-", "_").split("_"))

"""The network: who stands where, who may open a connection to whom. Everything is in Data.

A door's place follows from two catalogue columns: what it may reach (`egress`) and whether it has
a database role. Each combination in use gets one security group, so a new row needs no new rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aws_cdk import RemovalPolicy
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.constructs.door import LOG_RETENTION, Place, logical_name

if TYPE_CHECKING:
    from infra.catalogue import Catalogue, Door, Egress, Grant

DATABASE_PORT = 5432
_HTTPS = ec2.Port.tcp(443)
_DATABASE = ec2.Port.tcp(DATABASE_PORT)

_DATABASE_SUBNETS = ec2.SubnetSelection(subnet_group_name="database")
_CLOSED_SUBNETS = ec2.SubnetSelection(subnet_group_name="closed")
_OUTWARD_SUBNETS = ec2.SubnetSelection(subnet_group_name="outward")

_ENDPOINT_OF: dict[Grant, ec2.InterfaceVpcEndpointAwsService] = {
    "events:put": ec2.InterfaceVpcEndpointAwsService.EVENTBRIDGE,
    "session_secret:read": ec2.InterfaceVpcEndpointAwsService.SECRETS_MANAGER,
}


class Network(Construct):
    """Two zones; subnets for the database, for doors without and with a way out.

    `egress: none` reaches the database at most; `aws` also the endpoints of the services it is
    granted; `internet` any HTTPS address through the NAT gateways, whose public addresses are
    `addresses`.
    """

    def __init__(
        self, scope: Construct, construct_id: str, *, catalogue: Catalogue, nat_gateways: int
    ) -> None:
        super().__init__(scope, construct_id)
        ways_out = [ec2.CfnEIP(self, f"WayOut{n}", domain="vpc") for n in range(nat_gateways)]
        self.addresses = [way.ref for way in ways_out]
        self.vpc = ec2.Vpc(
            self,
            "Vpc",
            max_azs=2,
            nat_gateways=nat_gateways,
            nat_gateway_provider=ec2.NatProvider.gateway(
                eip_allocation_ids=[way.attr_allocation_id for way in ways_out]
            ),
            restrict_default_security_group=False,
            subnet_configuration=[
                ec2.SubnetConfiguration(
                    name="database", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=26
                ),
                ec2.SubnetConfiguration(
                    name="closed", subnet_type=ec2.SubnetType.PRIVATE_ISOLATED, cidr_mask=22
                ),
                ec2.SubnetConfiguration(
                    name="outward", subnet_type=ec2.SubnetType.PRIVATE_WITH_EGRESS, cidr_mask=22
                ),
                ec2.SubnetConfiguration(
                    name="nat",
                    subnet_type=ec2.SubnetType.PUBLIC,
                    cidr_mask=28,
                    map_public_ip_on_launch=False,
                ),
            ],
        )
        self.database_subnets = _DATABASE_SUBNETS
        self._log_flows()
        self.database_group = self._group("Database", "Postgres: reached by doors with a role.")
        keys = {_place_key(door) for door in catalogue.doors}
        self._groups = {key: self._door_group(*key) for key in sorted(keys)}
        self._add_endpoints(catalogue)

    def place(self, door: Door) -> Place:
        """Where this door stands. Raises KeyError for a door of another catalogue."""
        subnets = _OUTWARD_SUBNETS if door.egress == "internet" else _CLOSED_SUBNETS
        return Place(self.vpc, subnets, self._groups[_place_key(door)])

    def _door_group(self, egress: Egress, with_database: bool) -> ec2.SecurityGroup:
        suffix = "Database" if with_database else ""
        group = self._group(
            f"{logical_name(egress)}{suffix}",
            f"Doors with egress {egress}{' and a database role' if with_database else ''}.",
        )
        if with_database:
            group.add_egress_rule(self.database_group, _DATABASE, "Postgres")
            self.database_group.add_ingress_rule(group, _DATABASE, f"doors, egress {egress}")
        if egress != "none":
            group.add_egress_rule(ec2.Peer.any_ipv4(), _HTTPS, "HTTPS, as far as routes go")
        return group

    def _group(self, construct_id: str, description: str) -> ec2.SecurityGroup:
        return ec2.SecurityGroup(
            self, construct_id, vpc=self.vpc, description=description, allow_all_outbound=False
        )

    def _add_endpoints(self, catalogue: Catalogue) -> None:
        closed = [door for door in catalogue.doors if door.egress == "aws"]
        grants = {grant for door in closed for grant in door.grants}
        if "rate_limits:update" in grants:
            self.vpc.add_gateway_endpoint(
                "DynamoDb",
                service=ec2.GatewayVpcEndpointAwsService.DYNAMODB,
                subnets=[_CLOSED_SUBNETS],
            )
        for grant in sorted(grants & _ENDPOINT_OF.keys()):
            name = logical_name(grant.replace(":", "_"))
            group = self._group(f"{name}EndpointGroup", f"The endpoint for {grant}.")
            # Inside the network its name means the endpoint to everybody, so all who use it may in.
            users = {_place_key(door) for door in catalogue.doors if grant in door.grants}
            for key in sorted(users):
                group.add_ingress_rule(self._groups[key], _HTTPS, f"doors granted {grant}")
            self.vpc.add_interface_endpoint(
                f"{name}Endpoint",
                service=_ENDPOINT_OF[grant],
                security_groups=[group],
                subnets=_CLOSED_SUBNETS,
                open=False,
            )

    def _log_flows(self) -> None:
        group = logs.LogGroup(
            self, "FlowLogs", retention=LOG_RETENTION, removal_policy=RemovalPolicy.DESTROY
        )
        self.vpc.add_flow_log(
            "Flows",
            destination=ec2.FlowLogDestination.to_cloud_watch_logs(group),
            traffic_type=ec2.FlowLogTrafficType.REJECT,
        )


def _place_key(door: Door) -> tuple[Egress, bool]:
    return door.egress, door.database_role is not None

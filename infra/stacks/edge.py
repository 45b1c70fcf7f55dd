"""Edge: the name, the certificate and the firewall in front of Service."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aws_cdk import ArnFormat, CfnOutput, RemovalPolicy, Stack
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_logs as logs
from aws_cdk import aws_route53 as route53
from aws_cdk import aws_route53_targets as route53_targets
from aws_cdk import aws_wafv2 as wafv2
from constructs import Construct

from infra.constructs.door import LOG_RETENTION
from infra.constructs.firewall import Firewall

if TYPE_CHECKING:
    from infra.deployment import Deployment


class EdgeStack(Stack):
    """A custom domain at the root path, so that `/.well-known` and `__Host-` cookies work.

    With a hosted zone in the context the certificate validates itself and the address record is
    made; without one, the operator makes both records by hand while the deployment waits.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        deployment: Deployment,
        api: apigateway.RestApi,
        own_addresses: Sequence[str],
    ) -> None:
        super().__init__(scope, construct_id)
        self._own_addresses = own_addresses
        zone = self._zone(deployment)
        certificate = acm.Certificate(
            self,
            "Certificate",
            domain_name=deployment.domain,
            validation=acm.CertificateValidation.from_dns(zone),
        )
        domain = apigateway.DomainName(
            self,
            "Domain",
            domain_name=deployment.domain,
            certificate=certificate,
            endpoint_type=apigateway.EndpointType.REGIONAL,
            security_policy=apigateway.SecurityPolicy.TLS_1_2,
        )
        apigateway.BasePathMapping(
            self, "Mapping", domain_name=domain, rest_api=api, stage=api.deployment_stage
        )
        if zone:
            target = route53.RecordTarget.from_alias(route53_targets.ApiGatewayDomain(domain))
            for kind in (route53.ARecord, route53.AaaaRecord):
                kind(
                    self,
                    kind.__name__,
                    zone=zone,
                    record_name=f"{deployment.domain}.",
                    target=target,
                )
        self._protect(api.deployment_stage, deployment)
        CfnOutput(self, "DomainTarget", value=domain.domain_name_alias_domain_name)

    def _zone(self, deployment: Deployment) -> route53.IHostedZone | None:
        if not deployment.hosted_zone_id:
            return None
        return route53.HostedZone.from_hosted_zone_attributes(
            self,
            "Zone",
            hosted_zone_id=deployment.hosted_zone_id,
            zone_name=deployment.hosted_zone_name,
        )

    def _protect(self, stage: apigateway.Stage, deployment: Deployment) -> None:
        firewall = Firewall(
            self, "Firewall", name=deployment.name, own_addresses=self._own_addresses
        )
        wafv2.CfnWebACLAssociation(
            self,
            "FirewallOnStage",
            resource_arn=stage.stage_arn,
            web_acl_arn=firewall.acl.attr_arn,
        )
        group = logs.LogGroup(
            self,
            "FirewallLogs",
            log_group_name=f"aws-waf-logs-{deployment.name}",
            retention=LOG_RETENTION,
            removal_policy=RemovalPolicy.DESTROY,
        )
        wafv2.CfnLoggingConfiguration(
            self,
            "FirewallLogging",
            resource_arn=firewall.acl.attr_arn,
            log_destination_configs=[self._log_destination(group)],
            redacted_fields=[
                wafv2.CfnLoggingConfiguration.FieldToMatchProperty(single_header={"Name": name})
                for name in ("authorization", "cookie", "x-csrf-token")
            ],
        )

    def _log_destination(self, group: logs.LogGroup) -> str:
        """WAF wants the group's address without the `:*` that CloudFormation's own puts there."""
        return self.format_arn(
            service="logs",
            resource="log-group",
            resource_name=group.log_group_name,
            arn_format=ArnFormat.COLON_RESOURCE_NAME,
        )

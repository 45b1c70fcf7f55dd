"""The REST front: the catalogue's routes, the authorizer, our own error bodies, the wire log."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.access_log import access_log_format
from infra.constructs.door import LOG_RETENTION, DoorFunction, logical_name
from infra.gateway_responses import GATEWAY_RESPONSES, GatewayResponse

if TYPE_CHECKING:
    from infra.catalogue import Catalogue

STAGE = "live"
INTEGRATION_TIMEOUT_S = 29
STREAM_TIMEOUT_S = 900
STAGE_REQUESTS_PER_SECOND = 200
STAGE_BURST = 400


class RestFront(Construct):
    """One Regional REST API with one stage.

    Authorizer results are never cached: a revoked key fails on its next request. The authorizer
    is asked even without an Authorization header, because a console session comes by cookie.
    """

    def __init__(
        self,
        scope: Construct,
        construct_id: str,
        *,
        name: str,
        catalogue: Catalogue,
        doors: Mapping[str, DoorFunction],
        stream: bool,
        own_domain: bool,
    ) -> None:
        super().__init__(scope, construct_id)
        self.wire_log = logs.LogGroup(
            self, "WireLog", retention=LOG_RETENTION, removal_policy=RemovalPolicy.DESTROY
        )
        self.api = apigateway.RestApi(
            self,
            "Api",
            rest_api_name=name,
            endpoint_types=[apigateway.EndpointType.REGIONAL],
            disable_execute_api_endpoint=own_domain,
            cloud_watch_role=True,
            cloud_watch_role_removal_policy=RemovalPolicy.DESTROY,
            deploy_options=apigateway.StageOptions(
                stage_name=STAGE,
                access_log_destination=apigateway.LogGroupLogDestination(self.wire_log),
                access_log_format=apigateway.AccessLogFormat.custom(access_log_format()),
                logging_level=apigateway.MethodLoggingLevel.ERROR,
                data_trace_enabled=False,
                metrics_enabled=True,
                throttling_rate_limit=STAGE_REQUESTS_PER_SECOND,
                throttling_burst_limit=STAGE_BURST,
            ),
        )
        self._stream = stream
        self._authorizer = self._make_authorizer(catalogue, doors)
        integrations: dict[str, apigateway.LambdaIntegration] = {}
        for route in catalogue.routes:
            if route.door not in integrations:
                integrations[route.door] = self._integration(doors[route.door])
            self.api.root.resource_for_path(route.path).add_method(
                route.method,
                integrations[route.door],
                **self._authorization(route.auth),
            )
        self._answer_in_our_words()

    def _authorization(self, auth: str) -> dict[str, object]:
        if auth == "none":
            return {"authorization_type": apigateway.AuthorizationType.NONE}
        return {
            "authorization_type": apigateway.AuthorizationType.CUSTOM,
            "authorizer": self._authorizer,
        }

    def _make_authorizer(
        self, catalogue: Catalogue, doors: Mapping[str, DoorFunction]
    ) -> apigateway.RequestAuthorizer:
        [door] = [door for door in catalogue.doors if door.trigger == "authorizer"]
        return apigateway.RequestAuthorizer(
            self,
            "Authorizer",
            handler=doors[door.name].function,
            identity_sources=[],
            results_cache_ttl=Duration.seconds(0),
        )

    def _integration(self, door: DoorFunction) -> apigateway.LambdaIntegration:
        if self._stream and door.door.stream:
            return apigateway.LambdaIntegration(
                door.function,
                scope_permission_to_method=False,
                response_transfer_mode=apigateway.ResponseTransferMode.STREAM,
                timeout=Duration.seconds(min(door.door.timeout_s, STREAM_TIMEOUT_S)),
            )
        return apigateway.LambdaIntegration(
            door.function,
            scope_permission_to_method=False,
            timeout=Duration.seconds(INTEGRATION_TIMEOUT_S),
        )

    def _answer_in_our_words(self) -> None:
        """A gateway response is no part of a deployment's identity for CDK, so it is put there."""
        deployment = self.api.latest_deployment
        for row in GATEWAY_RESPONSES:
            response = self.api.add_gateway_response(
                logical_name(row.type.lower()),
                type=apigateway.ResponseType.of(row.type),
                status_code=str(row.status),
                response_headers=_mapped_headers(row),
                templates={"application/json": row.body},
            )
            if deployment:
                deployment.node.add_dependency(response)
        if deployment:
            deployment.add_to_logical_id([repr(row) for row in GATEWAY_RESPONSES])


def _mapped_headers(row: GatewayResponse) -> dict[str, str]:
    headers = (("Content-Type", "application/json"), *row.headers)
    return {name: f"'{value}'" for name, value in headers}

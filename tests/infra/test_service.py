"""The Service stack against the catalogue: routes, doors, rights, answers, logs, alarms."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import pytest

from infra.access_log import FIELDS
from infra.catalogue import CATALOGUE, Door
from infra.constructs.door import logical_name
from infra.deployable import DEPLOYABLE
from infra.gateway_responses import GATEWAY_RESPONSES
from infra.stacks.names import SERVICE
from tests.infra.conftest import LATER

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

WITH_LATER = CATALOGUE.plus(LATER)
DOORS = [door for door in WITH_LATER.doors if door.trigger != "deploy"]
LOGS = {"logs:CreateLogStream", "logs:PutLogEvents"}
INTERFACES = {
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
}
CONSUMES = {
    "sqs:ChangeMessageVisibility",
    "sqs:DeleteMessage",
    "sqs:GetQueueAttributes",
    "sqs:GetQueueUrl",
    "sqs:ReceiveMessage",
}
GRANTED = {
    "rate_limits:update": {"dynamodb:UpdateItem"},
    "events:put": {"events:PutEvents"},
    "session_secret:read": {"secretsmanager:GetSecretValue", "secretsmanager:DescribeSecret"},
    "model_secrets:read": {"secretsmanager:GetSecretValue"},
}
every_door = pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)


def function(assembly: Assembly, door: Door) -> dict[str, Any]:
    name = f"{logical_name(door.name)}Function"
    return assembly.templates[SERVICE]["Resources"][name]["Properties"]


def statements(assembly: Assembly, door: Door) -> list[dict[str, Any]]:
    """Every statement of the door's role, wherever it is attached."""
    role = function(assembly, door)["Role"]["Fn::GetAtt"][0]
    policies = assembly.resources(SERVICE, "AWS::IAM::Policy").values()
    attached = [p["Properties"] for p in policies if {"Ref": role} in p["Properties"]["Roles"]]
    own = assembly.resources(SERVICE, "AWS::IAM::Role")[role]["Properties"]
    assert "ManagedPolicyArns" not in own
    documents = [*attached, *own.get("Policies", [])]
    return [row for one in documents for row in one["PolicyDocument"]["Statement"]]


def listed(value: str | list[str]) -> set[str]:
    return {value} if isinstance(value, str) else set(value)


def routes_in(assembly: Assembly) -> Iterable[tuple[str, str, dict[str, Any]]]:
    """Method, path and properties of every API Gateway method."""
    resources = assembly.resources(SERVICE, "AWS::ApiGateway::Resource")

    def path(reference: dict[str, Any]) -> str:
        if "Fn::GetAtt" in reference:
            return ""
        row = resources[reference["Ref"]]["Properties"]
        return f"{path(row['ParentId'])}/{row['PathPart']}"

    for row in assembly.resources(SERVICE, "AWS::ApiGateway::Method").values():
        properties = row["Properties"]
        yield properties["HttpMethod"], path(properties["ResourceId"]) or "/", properties


@pytest.mark.promise("P1-9", "P1-6")
def test_the_api_has_the_catalogues_routes_and_no_other(on_aws: Assembly) -> None:
    made = {(method, path) for method, path, _ in routes_in(on_aws)}
    assert made == {(route.method, route.path) for route in WITH_LATER.routes}


@pytest.mark.promise("P1-9", "R-19")
def test_each_route_is_authorized_as_its_row_says_and_served_by_its_door(on_aws: Assembly) -> None:
    rows = {(route.method, route.path): route for route in WITH_LATER.routes}
    [authorizer] = on_aws.resources(SERVICE, "AWS::ApiGateway::Authorizer")
    for method, path, properties in routes_in(on_aws):
        row = rows[method, path]
        if row.auth == "none":
            assert properties["AuthorizationType"] == "NONE"
        else:
            assert properties["AuthorizationType"] == "CUSTOM"
            assert properties["AuthorizerId"] == {"Ref": authorizer}
        uri = json.dumps(properties["Integration"]["Uri"])
        assert f'"{logical_name(row.door)}Function"' in uri
        door = WITH_LATER.door(row.door)
        seconds = door.timeout_s if door.stream else 29
        assert properties["Integration"]["TimeoutInMillis"] == seconds * 1000


@pytest.mark.promise("P1-accept-3", "R-17")
def test_no_authorizer_result_is_cached_and_none_is_skipped(on_aws: Assembly) -> None:
    [row] = on_aws.resources(SERVICE, "AWS::ApiGateway::Authorizer").values()
    assert row["Properties"]["Type"] == "REQUEST"
    assert row["Properties"]["AuthorizerResultTtlInSeconds"] == 0
    assert row["Properties"].get("IdentitySource", "") == ""


@every_door
def test_a_door_is_built_as_its_row_says(on_aws: Assembly, door: Door) -> None:
    made = function(on_aws, door)
    assert made["MemorySize"] == door.memory_mb
    assert made["Timeout"] == door.timeout_s
    assert made["Handler"] == f"{door.handler}.handler"
    assert made["Runtime"] == "python3.13"
    assert made["Architectures"] == ["arm64"]
    assert len(made["Layers"]) == len(door.layers)


@pytest.mark.promise("R-26", "P1-9", "P4-stream")
@pytest.mark.parametrize(
    ("built", "streaming"), [("on_aws", True), ("on_aws_buffered", False), ("in_emulator", False)]
)
def test_a_streaming_door_streams_in_function_and_gateway_or_in_neither(
    request: pytest.FixtureRequest, built: str, streaming: bool
) -> None:
    """One flag; without it the door is told how long the gateway waits for the whole answer."""
    assembly: Assembly = request.getfixturevalue(built)
    integrations = {
        (method, path): properties["Integration"]
        for method, path, properties in routes_in(assembly)
    }
    streamed = [door for door in DOORS if door.stream]
    assert {door.name for door in streamed} == {"guarded_message", "later_stream"}
    for door in DOORS:
        streams = streaming and door.stream
        variables = function(assembly, door)["Environment"]["Variables"]
        wrapper = "/opt/stream-door" if streams else None
        assert variables.get("AWS_LAMBDA_EXEC_WRAPPER") == wrapper
        told = "29" if door.stream and not streaming else None
        assert variables.get("INTEGRATION_SECONDS") == told
        for route in WITH_LATER.routes_of(door.name):
            made = integrations[route.method, route.path]
            uri = json.dumps(made["Uri"])
            assert (made.get("ResponseTransferMode") == "STREAM") is streams
            assert ("/response-streaming-invocations" in uri) is streams
            assert made["TimeoutInMillis"] == (door.timeout_s if streams else 29) * 1000


@pytest.mark.promise("P4-stream", "P4-stream-time")
def test_a_message_may_take_as_long_as_a_function_can(on_aws: Assembly) -> None:
    [made] = [p["Integration"] for m, path, p in routes_in(on_aws) if path == "/message"]
    assert made["TimeoutInMillis"] == 900_000
    assert function(on_aws, CATALOGUE.door("guarded_message"))["Timeout"] == 900
    [api] = on_aws.resources(SERVICE, "AWS::ApiGateway::RestApi").values()
    assert api["Properties"]["EndpointConfiguration"]["Types"] == ["REGIONAL"]


@every_door
def test_a_door_gets_the_settings_it_asks_for(on_aws: Assembly, door: Door) -> None:
    variables = dict(function(on_aws, door)["Environment"]["Variables"])
    variables.pop("AWS_LAMBDA_EXEC_WRAPPER", None)
    assert set(variables) == {"POWERTOOLS_SERVICE_NAME", *door.required}
    if "DATABASE_URL" in door.settings:
        url = json.dumps(variables["DATABASE_URL"])
        assert f"postgresql://{door.database_role}@" in url
        assert "sslmode=verify-full" in url


@every_door
@pytest.mark.promise("P1-9")
def test_a_role_may_do_what_its_row_grants_and_nothing_else(on_aws: Assembly, door: Door) -> None:
    allowed: set[str] = set()
    for row in statements(on_aws, door):
        if row["Effect"] == "Allow":
            allowed |= listed(row["Action"])
    wanted = LOGS | INTERFACES
    for grant in door.grants:
        wanted |= GRANTED[grant]
    if door.database_role:
        wanted.add("rds-db:connect")
    if door.sends:
        wanted.add("sqs:SendMessage")
    if any(queue.consumer == door.name for queue in on_aws.catalogue.queues):
        wanted |= CONSUMES
    assert allowed == wanted


@every_door
def test_only_interface_calls_know_no_narrower_resource_and_code_is_denied_them(
    on_aws: Assembly, door: Door
) -> None:
    everywhere = [row for row in statements(on_aws, door) if row["Resource"] == "*"]
    assert [(row["Effect"], listed(row["Action"])) for row in everywhere] == [
        ("Allow", INTERFACES),
        ("Deny", INTERFACES),
    ]
    source = everywhere[1]["Condition"]["ArnEquals"]["lambda:SourceFunctionArn"]
    assert function(on_aws, door)["FunctionName"] in json.dumps(source)


@every_door
@pytest.mark.promise("R-18")
def test_a_door_logs_in_as_its_own_database_role_alone(on_aws: Assembly, door: Door) -> None:
    connects = [
        json.dumps(row["Resource"])
        for row in statements(on_aws, door)
        if "rds-db:connect" in listed(row["Action"])
    ]
    if door.database_role is None:
        assert connects == []
    else:
        [resource] = connects
        assert f"/{door.database_role}" in resource
        assert "*" not in resource


def test_no_two_doors_share_a_role(on_aws: Assembly) -> None:
    roles = [function(on_aws, door)["Role"]["Fn::GetAtt"][0] for door in DOORS]
    assert len(set(roles)) == len(roles)


@pytest.mark.promise("P1-6", "R-20")
def test_api_gateway_answers_in_the_contracts_form(on_aws: Assembly) -> None:
    made = {
        row["Properties"]["ResponseType"]: row["Properties"]
        for row in on_aws.resources(SERVICE, "AWS::ApiGateway::GatewayResponse").values()
    }
    assert set(made) == {row.type for row in GATEWAY_RESPONSES}
    for row in GATEWAY_RESPONSES:
        assert made[row.type]["StatusCode"] == str(row.status)
        assert made[row.type]["ResponseTemplates"] == {"application/json": row.body}
        headers = made[row.type]["ResponseParameters"]
        assert headers["gatewayresponse.header.Content-Type"] == "'application/json'"
        for name, value in row.headers:
            assert headers[f"gatewayresponse.header.{name}"] == f"'{value}'"


def test_a_deployment_waits_for_the_gateways_answers(on_aws: Assembly) -> None:
    [deployment] = on_aws.resources(SERVICE, "AWS::ApiGateway::Deployment").values()
    answers = set(on_aws.resources(SERVICE, "AWS::ApiGateway::GatewayResponse"))
    assert answers <= set(deployment["DependsOn"])


@pytest.mark.promise("R-33")
def test_the_wire_log_has_a_group_of_its_own_and_no_secret_in_its_format(on_aws: Assembly) -> None:
    [stage] = on_aws.resources(SERVICE, "AWS::ApiGateway::Stage").values()
    setting = stage["Properties"]["AccessLogSetting"]
    assert json.loads(setting["Format"]) == {k: f"$context.{v}" for k, v in FIELDS.items()}
    destination = json.dumps(setting["DestinationArn"])
    groups = on_aws.resources(SERVICE, "AWS::Logs::LogGroup")
    [group] = [name for name in groups if f'"{name}"' in destination]
    doors = {function(on_aws, door)["LoggingConfig"]["LogGroup"]["Ref"] for door in DOORS}
    assert group not in doors
    assert not destination.endswith(':*"}')
    [method] = stage["Properties"]["MethodSettings"]
    assert method["DataTraceEnabled"] is False


@pytest.mark.promise("P1-9")
def test_every_log_is_kept_thirty_days(on_aws: Assembly) -> None:
    for stack in on_aws.templates:
        for name, row in on_aws.resources(stack, "AWS::Logs::LogGroup").items():
            assert row["Properties"]["RetentionInDays"] == 30, name


@pytest.mark.promise("P1-accept-5", "R-26")
def test_service_holds_only_what_the_emulator_deploys(
    on_aws: Assembly, in_emulator: Assembly
) -> None:
    for assembly in (on_aws, in_emulator):
        kinds = {row["Type"] for row in assembly.templates[SERVICE]["Resources"].values()}
        assert kinds <= DEPLOYABLE


@pytest.mark.promise("R-26")
def test_the_emulators_service_differs_only_as_said(
    on_aws: Assembly, in_emulator: Assembly
) -> None:
    assert set(in_emulator.templates) == {SERVICE}
    for door in DOORS:
        there, here = function(on_aws, door), function(in_emulator, door)
        assert "VpcConfig" in there
        assert "VpcConfig" not in here
        same = ("Handler", "MemorySize", "Timeout", "Runtime", "FunctionName")
        assert {key: here[key] for key in same} == {key: there[key] for key in same}
        if "API_URL" in door.settings:
            assert "API_URL" not in here["Environment"]["Variables"]
    ours = {(method, path) for method, path, _ in routes_in(in_emulator)}
    assert ours == {(method, path) for method, path, _ in routes_in(on_aws)}

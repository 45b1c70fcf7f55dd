"""What keeps and what faces the world: network, database, domain, firewall, cdk-nag."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from infra.catalogue import CATALOGUE, Door
from infra.constructs.door import logical_name
from infra.constructs.firewall import OWN_WORDS_PATHS
from infra.findings import OPEN_ROUTE, ROWS
from infra.stacks.names import DATA, EDGE, SERVICE

if TYPE_CHECKING:
    from tests.infra.conftest import Assembly

ANYWHERE = "0.0.0.0/0"


@pytest.mark.promise("P1-accept-5")
def test_no_finding_is_open_and_every_acknowledgement_is_needed(on_aws: Assembly) -> None:
    [nag] = on_aws.report["pluginReports"]
    assert nag["violations"] == []
    assert [row for row, times in on_aws.used.items() if times == 0] == []
    prefix = "AwsSolutions-"
    found = {row["ruleName"].removeprefix(prefix) for row in nag["suppressedViolations"]}
    assert found == {row.rule_for("judgment") for row in (*ROWS, OPEN_ROUTE)}


@pytest.mark.promise("P1-accept-5")
def test_the_emulators_form_has_no_open_finding(in_emulator: Assembly) -> None:
    [nag] = in_emulator.report["pluginReports"]
    assert nag["violations"] == []


def test_cloudformations_own_rules_find_nothing(on_aws: Assembly) -> None:
    folder = on_aws.folder / "out"
    templates = [str(folder / f"{stack}.template.json") for stack in (DATA, SERVICE, EDGE)]
    lint = Path(sys.executable).parent / "cfn-lint"
    # W3005: CDK names dependencies that a reference implies already.
    done = subprocess.run(
        [str(lint), "--ignore-checks", "W3005", "--regions", "eu-central-1", "--", *templates],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr


def rules(assembly: Assembly, door: Door) -> list[dict[str, Any]]:
    """The egress rules of the door's one security group."""
    made = assembly.templates[SERVICE]["Resources"][f"{logical_name(door.name)}Function"]
    [imported] = made["Properties"]["VpcConfig"]["SecurityGroupIds"]
    exports = assembly.templates[DATA]["Outputs"].values()
    [group] = [
        row["Value"]["Fn::GetAtt"][0]
        for row in exports
        if row["Export"]["Name"] == imported["Fn::ImportValue"]
    ]
    inline = assembly.resources(DATA, "AWS::EC2::SecurityGroup")[group]["Properties"]
    apart = [
        row["Properties"]
        for row in assembly.resources(DATA, "AWS::EC2::SecurityGroupEgress").values()
        if row["Properties"]["GroupId"] == {"Fn::GetAtt": [group, "GroupId"]}
    ]
    return [*inline.get("SecurityGroupEgress", []), *apart]


@pytest.mark.parametrize(
    "door", [d for d in CATALOGUE.doors if d.trigger != "deploy"], ids=lambda door: door.name
)
@pytest.mark.promise("R-28")
def test_a_door_reaches_what_its_egress_column_says(on_aws: Assembly, door: Door) -> None:
    reached = rules(on_aws, door)
    abroad = [row for row in reached if row.get("CidrIp") == ANYWHERE]
    database = [row for row in reached if row.get("FromPort") == 5432]
    assert len(database) == (1 if door.database_role else 0)
    if door.egress == "none":
        assert abroad == []
    else:
        assert [(row["FromPort"], row["ToPort"]) for row in abroad] == [(443, 443)]


@pytest.mark.promise("R-28")
def test_only_doors_that_need_the_internet_stand_where_there_is_a_way_out(
    on_aws: Assembly,
) -> None:
    resources = on_aws.templates[DATA]["Resources"]
    outward = {
        row["Properties"]["SubnetId"]["Ref"]
        for row in on_aws.resources(DATA, "AWS::EC2::SubnetRouteTableAssociation").values()
        if any(
            route["Properties"].get("NatGatewayId")
            and route["Properties"]["RouteTableId"] == row["Properties"]["RouteTableId"]
            for route in on_aws.resources(DATA, "AWS::EC2::Route").values()
        )
    }
    assert outward
    exported = {
        row["Export"]["Name"]: row["Value"].get("Ref")
        for row in on_aws.templates[DATA]["Outputs"].values()
    }
    for door in CATALOGUE.doors:
        if door.trigger == "deploy":
            made = resources[f"{logical_name(door.name)}Function"]["Properties"]
            stands = {row["Ref"] for row in made["VpcConfig"]["SubnetIds"]}
        else:
            made = on_aws.templates[SERVICE]["Resources"][f"{logical_name(door.name)}Function"]
            subnets = made["Properties"]["VpcConfig"]["SubnetIds"]
            stands = {exported[row["Fn::ImportValue"]] for row in subnets}
        assert (stands <= outward) is (door.egress == "internet"), door.name
        assert stands.isdisjoint(outward) is (door.egress != "internet"), door.name


def test_postgres_is_reached_by_doors_alone(on_aws: Assembly) -> None:
    groups = on_aws.resources(DATA, "AWS::EC2::SecurityGroup")
    [database] = [name for name in groups if name.startswith("NetworkDatabase")]
    assert "SecurityGroupIngress" not in groups[database]["Properties"]
    for row in on_aws.resources(DATA, "AWS::EC2::SecurityGroupIngress").values():
        assert "SourceSecurityGroupId" in row["Properties"]
        assert "CidrIp" not in row["Properties"]


@pytest.mark.promise("P1-9")
def test_the_database_is_encrypted_backed_up_guarded_and_entered_by_token(
    on_aws: Assembly,
) -> None:
    [row] = on_aws.resources(DATA, "AWS::RDS::DBCluster").values()
    cluster = row["Properties"]
    assert cluster["EngineVersion"].startswith("17.")
    assert cluster["StorageEncrypted"] is True
    assert cluster["DeletionProtection"] is True
    assert cluster["EnableIAMDatabaseAuthentication"] is True
    assert cluster["ManageMasterUserPassword"] is True
    assert cluster["BackupRetentionPeriod"] == 14
    assert cluster["ServerlessV2ScalingConfiguration"] == {"MinCapacity": 0.5, "MaxCapacity": 4}
    assert row["DeletionPolicy"] == "Snapshot"
    [instance] = on_aws.resources(DATA, "AWS::RDS::DBInstance").values()
    assert instance["Properties"]["PubliclyAccessible"] is False


@pytest.mark.promise("R-26")
def test_migrations_run_after_the_first_role_is_made(on_aws: Assembly) -> None:
    [trigger] = on_aws.resources(DATA, "Custom::Trigger").values()
    [bootstrap] = on_aws.resources(DATA, "Custom::AWS")
    assert any(name.startswith(bootstrap) for name in trigger["DependsOn"])
    made = on_aws.templates[DATA]["Resources"]["MigrateFunction"]["Properties"]
    assert "postgresql://judgment_migrate@" in json.dumps(made["Environment"])


@pytest.mark.promise("R-26")
def test_the_domain_stands_at_the_root_path_behind_the_firewall(on_aws: Assembly) -> None:
    [mapping] = on_aws.resources(EDGE, "AWS::ApiGateway::BasePathMapping").values()
    assert "BasePath" not in mapping["Properties"]
    [domain] = on_aws.resources(EDGE, "AWS::ApiGateway::DomainName").values()
    assert domain["Properties"]["DomainName"] == "api.example.com"
    assert domain["Properties"]["SecurityPolicy"] == "TLS_1_2"
    assert on_aws.resources(EDGE, "AWS::WAFv2::WebACLAssociation")
    [api] = on_aws.resources(SERVICE, "AWS::ApiGateway::RestApi").values()
    assert api["Properties"]["DisableExecuteApiEndpoint"] is True


@pytest.mark.promise("R-26")
def test_the_common_rules_count_where_people_write_and_block_elsewhere(on_aws: Assembly) -> None:
    [acl] = on_aws.resources(EDGE, "AWS::WAFv2::WebACL").values()
    made = {row["Name"]: row for row in acl["Properties"]["Rules"]}
    assert made["common"]["OverrideAction"] == {"None": {}}
    assert made["common-counted"]["OverrideAction"] == {"Count": {}}
    own_words = made["common-counted"]["Statement"]["ManagedRuleGroupStatement"][
        "ScopeDownStatement"
    ]
    elsewhere = made["common"]["Statement"]["ManagedRuleGroupStatement"]["ScopeDownStatement"]
    assert elsewhere == {"NotStatement": {"Statement": own_words}}
    paths = [
        row["ByteMatchStatement"]["SearchString"] for row in own_words["OrStatement"]["Statements"]
    ]
    assert paths == list(OWN_WORDS_PATHS)


def test_our_own_ways_out_are_not_rate_limited(on_aws: Assembly) -> None:
    """The MCP door calls REST for everybody from there."""
    [acl] = on_aws.resources(EDGE, "AWS::WAFv2::WebACL").values()
    made = {row["Name"]: row for row in acl["Properties"]["Rules"]}
    limited = made["rate-per-address"]["Statement"]["RateBasedStatement"]["ScopeDownStatement"]
    [own] = on_aws.resources(EDGE, "AWS::WAFv2::IPSet")
    reference = limited["NotStatement"]["Statement"]["IPSetReferenceStatement"]
    assert reference == {"Arn": {"Fn::GetAtt": [own, "Arn"]}}
    ways_out = on_aws.resources(DATA, "AWS::EC2::EIP")
    gateways = on_aws.resources(DATA, "AWS::EC2::NatGateway").values()
    used = {row["Properties"]["AllocationId"]["Fn::GetAtt"][0] for row in gateways}
    assert used == set(ways_out)
    addresses = json.dumps(on_aws.resources(EDGE, "AWS::WAFv2::IPSet")[own]["Properties"])
    assert all(name in addresses for name in ways_out)


def test_an_endpoint_admits_every_door_that_is_granted_its_service(on_aws: Assembly) -> None:
    [endpoint] = [
        row["Properties"]
        for row in on_aws.resources(DATA, "AWS::EC2::VPCEndpoint").values()
        if row["Properties"]["VpcEndpointType"] == "Interface"
    ]
    [group] = [row["Fn::GetAtt"][0] for row in endpoint["SecurityGroupIds"]]
    admitted = {
        json.dumps(row["Properties"]["SourceSecurityGroupId"])
        for row in on_aws.resources(DATA, "AWS::EC2::SecurityGroupIngress").values()
        if row["Properties"]["GroupId"] == {"Fn::GetAtt": [group, "GroupId"]}
    }
    places = {
        (door.egress, door.database_role is not None)
        for door in on_aws.catalogue.doors
        if "events:put" in door.grants
    }
    assert len(admitted) == len(places)


def test_the_firewalls_log_holds_no_credential(on_aws: Assembly) -> None:
    [logging] = on_aws.resources(EDGE, "AWS::WAFv2::LoggingConfiguration").values()
    redacted = {row["SingleHeader"]["Name"] for row in logging["Properties"]["RedactedFields"]}
    assert {"authorization", "cookie"} <= redacted

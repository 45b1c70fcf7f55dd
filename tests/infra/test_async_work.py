"""Queues, rules, schedules and alarms, with rows that the product has not yet."""

from __future__ import annotations

import json
from typing import Any

import pytest

from infra.catalogue import CATALOGUE
from infra.stacks.names import DATA, SERVICE
from judgment.contract.jobs import SOURCE, SYNC_SOURCE
from tests.infra.conftest import LATER, Assembly

[LATER_QUEUE] = LATER.queues


def queues(assembly: Assembly) -> dict[str, dict[str, Any]]:
    rows = assembly.resources(SERVICE, "AWS::SQS::Queue").values()
    return {row["Properties"]["QueueName"]: row["Properties"] for row in rows}


@pytest.mark.promise("P1-1-outbox", "P1-9")
def test_a_queue_keeps_its_poison_and_hides_messages_long_enough(on_aws: Assembly) -> None:
    made = queues(on_aws)
    queue = made["judgment-later"]
    timeout = CATALOGUE.door(LATER_QUEUE.consumer).timeout_s
    assert queue["VisibilityTimeout"] == 6 * timeout
    assert queue["RedrivePolicy"]["maxReceiveCount"] == LATER_QUEUE.max_receive_count
    assert made["judgment-later-dead-letters"]["MessageRetentionPeriod"] == 14 * 86_400


def test_no_queue_listens_without_tls(on_aws: Assembly) -> None:
    policies = on_aws.resources(SERVICE, "AWS::SQS::QueuePolicy").values()
    refused = {
        json.dumps(row["Properties"]["Queues"][0])
        for row in policies
        for rule in row["Properties"]["PolicyDocument"]["Statement"]
        if rule["Effect"] == "Deny"
        and rule["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    }
    assert len(refused) == len(queues(on_aws))


@pytest.mark.promise("P1-1-outbox")
def test_a_consumer_returns_failed_records_alone(on_aws: Assembly) -> None:
    mappings = [
        row["Properties"]
        for row in on_aws.resources(SERVICE, "AWS::Lambda::EventSourceMapping").values()
    ]
    rows = [*CATALOGUE.queues, LATER_QUEUE]
    assert sorted(mapping["BatchSize"] for mapping in mappings) == sorted(
        row.batch_size for row in rows
    )
    for mapping in mappings:
        assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
        assert mapping["ScalingConfig"] == {"MaximumConcurrency": LATER_QUEUE.max_concurrency}
        window = 1 if mapping["BatchSize"] > 10 else None
        assert mapping.get("MaximumBatchingWindowInSeconds") == window


@pytest.mark.promise("R-24")
def test_a_rule_matches_its_source_and_types_and_loses_nothing(on_aws: Assembly) -> None:
    made = {
        row["Properties"]["Name"]: row["Properties"]
        for row in on_aws.resources(SERVICE, "AWS::Events::Rule").values()
    }
    rows = [*CATALOGUE.rules, *LATER.rules]
    assert set(made) == {f"judgment-{row.name}" for row in rows}
    for row in rows:
        rule = made[f"judgment-{row.name}"]
        assert rule["EventPattern"] == {"source": [row.source], "detail-type": list(row.types)}
        [target] = rule["Targets"]
        assert "DeadLetterConfig" in target


@pytest.mark.promise("R-24-intake")
def test_no_rule_brings_our_own_events_to_the_intake() -> None:
    into = [row for row in CATALOGUE.rules if row.queue == "rounds"]
    assert [row.source for row in into] == [SYNC_SOURCE]
    assert SYNC_SOURCE != SOURCE


def test_schedules_tick_as_the_catalogue_says_and_invoke_one_door_each(on_aws: Assembly) -> None:
    made = {
        row["Properties"]["Name"]: row["Properties"]
        for row in on_aws.resources(SERVICE, "AWS::Scheduler::Schedule").values()
    }
    assert set(made) == {f"judgment-{row.name}" for row in CATALOGUE.schedules}
    for row in CATALOGUE.schedules:
        schedule = made[f"judgment-{row.name}"]
        unit = "minute" if row.every_minutes == 1 else "minutes"
        assert schedule["ScheduleExpression"] == f"rate({row.every_minutes} {unit})"
        assert json.loads(schedule["Target"]["Input"]) == {"task": row.task}
        arn = schedule["Target"]["Arn"]
        role = schedule["Target"]["RoleArn"]["Fn::GetAtt"][0]
        [policy] = [
            policy["Properties"]["PolicyDocument"]["Statement"]
            for policy in on_aws.resources(SERVICE, "AWS::IAM::Policy").values()
            if {"Ref": role} in policy["Properties"]["Roles"]
        ]
        assert policy == [{"Action": "lambda:InvokeFunction", "Effect": "Allow", "Resource": arn}]


@pytest.mark.promise("P1-9")
def test_every_door_and_queue_is_watched_and_every_alarm_tells_somebody(on_aws: Assembly) -> None:
    alarms: dict[str, dict[str, Any]] = {}
    for stack in (DATA, SERVICE):
        for row in on_aws.resources(stack, "AWS::CloudWatch::Alarm").values():
            alarms[row["Properties"]["AlarmName"]] = row["Properties"]
    for door in CATALOGUE.doors:
        prefix = "judgment-data" if door.trigger == "deploy" else "judgment"
        for kind in ("errors", "internal-errors", "throttles", "slow"):
            assert f"{prefix}-{door.name}-{kind}" in alarms
    for queue in [*CATALOGUE.queues, LATER_QUEUE]:
        for kind in ("dead-letters", "old"):
            assert f"judgment-{queue.name}-{kind}" in alarms
    assert alarms["judgment-profile_read-slow"]["ExtendedStatistic"] == "p99"
    for name, alarm in alarms.items():
        assert alarm["AlarmActions"], name
        assert alarm["TreatMissingData"] == "notBreaching", name


@pytest.mark.promise("R-19")
def test_wrong_keys_wake_nobody(on_aws: Assembly) -> None:
    alarm = next(
        row["Properties"]
        for row in on_aws.resources(SERVICE, "AWS::CloudWatch::Alarm").values()
        if row["Properties"]["AlarmName"] == "judgment-authorizer-errors"
    )
    [row] = on_aws.resources(SERVICE, "AWS::Logs::MetricFilter").values()
    assert row["Properties"]["FilterPattern"] == '"[ERROR]" -"Exception: Unauthorized"'
    [metric] = row["Properties"]["MetricTransformations"]
    assert (alarm["Namespace"], alarm["MetricName"]) == (
        metric["MetricNamespace"],
        metric["MetricName"],
    )
    assert row["Properties"]["LogGroupName"] == {
        "Ref": on_aws.templates[SERVICE]["Resources"]["AuthorizerFunction"]["Properties"][
            "LoggingConfig"
        ]["LogGroup"]["Ref"]
    }


@pytest.mark.promise("P1-refuse-outage")
def test_an_uncounted_read_raises_an_alarm(on_aws: Assembly) -> None:
    names = {
        row["Properties"]["AlarmName"]: row["Properties"]
        for row in on_aws.resources(SERVICE, "AWS::CloudWatch::Alarm").values()
    }
    alarm = names["judgment-profile_read-rate-limiter-down"]
    assert (alarm["Namespace"], alarm["MetricName"]) == ("Judgment", "RateLimiterUnavailable")
    assert alarm["Dimensions"] == [{"Name": "service", "Value": "profile_read"}]


def test_alarms_may_publish_and_nobody_may_without_tls(on_aws: Assembly) -> None:
    for stack in (DATA, SERVICE):
        [policy] = on_aws.resources(stack, "AWS::SNS::TopicPolicy").values()
        rows = policy["Properties"]["PolicyDocument"]["Statement"]
        assert {row["Effect"] for row in rows} == {"Allow", "Deny"}
        [allowed] = [row for row in rows if row["Effect"] == "Allow"]
        assert allowed["Principal"] == {"Service": "cloudwatch.amazonaws.com"}
        assert allowed["Action"] == "sns:Publish"

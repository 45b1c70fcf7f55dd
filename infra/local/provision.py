"""The catalogue's tables, bus, queues, rules and secrets, made in an AWS-compatible service.

Idempotent, so that it can run against an endpoint that is already provisioned. What CDK makes on
AWS is made here by the same names, with the same redrive and visibility rules.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import boto3

from infra.catalogue import VISIBILITY_PER_TIMEOUT

if TYPE_CHECKING:
    from infra.catalogue import Catalogue, Queue, Table

PREFIX = "judgment"
BUS = PREFIX
SESSION_SECRET = f"{PREFIX}/session"
MODEL_SECRETS = f"{PREFIX}/models"


@dataclass(frozen=True)
class Provisioned:
    """The settings that doors get from it, and where each queue is (url, arn, by queue name)."""

    settings: dict[str, str]
    queues: dict[str, dict[str, str]]


def aws_access(endpoint: str) -> dict[str, str]:
    """Arguments of `boto3.client` for a local endpoint: dummy credentials, never real ones."""
    return {
        "endpoint_url": endpoint,
        "region_name": "us-east-1",
        "aws_access_key_id": "test",
        "aws_secret_access_key": "test",
    }


def aws_environment(endpoint: str) -> dict[str, str]:
    """The same as the variables that the AWS SDKs read, with every other source closed."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_CONFIG_FILE": "/dev/null",
        "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def provision(catalogue: Catalogue, endpoint: str, session_secret: str) -> Provisioned:
    """Make everything the catalogue names. Raises botocore's errors."""
    access: Any = aws_access(endpoint)
    settings = {
        "EVENT_BUS_NAME": BUS,
        "SESSION_SECRET_ID": SESSION_SECRET,
        "MODEL_SECRET_PREFIX": MODEL_SECRETS,
    }
    dynamodb = boto3.client("dynamodb", **access)
    for table in catalogue.tables:
        settings[table.setting] = _table(dynamodb, table)
    _secret(boto3.client("secretsmanager", **access), session_secret)
    events = boto3.client("events", **access)
    _bus(events)
    sqs = boto3.client("sqs", **access) if catalogue.queues else None
    queues: dict[str, dict[str, str]] = {}
    for queue in catalogue.queues:
        timeout = catalogue.door(queue.consumer).timeout_s
        queues[queue.name] = _queue(sqs, queue, timeout)
        settings[queue.setting] = queues[queue.name]["url"]
    for rule in catalogue.rules:
        pattern = {"source": [rule.source], "detail-type": list(rule.types)}
        name = f"{PREFIX}-{rule.name}"
        events.put_rule(Name=name, EventBusName=BUS, EventPattern=json.dumps(pattern))
        target = {"Id": rule.queue, "Arn": queues[rule.queue]["arn"]}
        events.put_targets(Rule=name, EventBusName=BUS, Targets=[target])
    return Provisioned(settings, queues)


def dead_letter_name(queue: str) -> str:
    """The name of a queue's dead-letter queue."""
    return f"{PREFIX}-{queue}-dead-letters"


def _table(dynamodb: Any, table: Table) -> str:
    name = f"{PREFIX}-{table.name}"
    try:
        dynamodb.create_table(
            TableName=name,
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            BillingMode="PAY_PER_REQUEST",
        )
    except dynamodb.exceptions.ResourceInUseException:
        return name
    ttl = {"Enabled": True, "AttributeName": table.ttl_attribute}
    dynamodb.update_time_to_live(TableName=name, TimeToLiveSpecification=ttl)
    return name


def _secret(secrets: Any, value: str) -> None:
    try:
        secrets.create_secret(Name=SESSION_SECRET, SecretString=value)
    except secrets.exceptions.ResourceExistsException:
        secrets.put_secret_value(SecretId=SESSION_SECRET, SecretString=value)


def _bus(events: Any) -> None:
    try:
        events.create_event_bus(Name=BUS)
    except events.exceptions.ResourceAlreadyExistsException:
        return


def _queue(sqs: Any, queue: Queue, timeout_s: int) -> dict[str, str]:
    dead = sqs.create_queue(QueueName=dead_letter_name(queue.name))["QueueUrl"]
    redrive = {
        "deadLetterTargetArn": _arn(sqs, dead),
        "maxReceiveCount": queue.max_receive_count,
    }
    url = sqs.create_queue(
        QueueName=f"{PREFIX}-{queue.name}",
        Attributes={
            "VisibilityTimeout": str(VISIBILITY_PER_TIMEOUT * timeout_s),
            "RedrivePolicy": json.dumps(redrive),
        },
    )["QueueUrl"]
    return {"url": url, "arn": _arn(sqs, url)}


def _arn(sqs: Any, url: str) -> str:
    found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    return found["Attributes"]["QueueArn"]

"""The port of rate-limit counters: memory and DynamoDB's emulator answer alike, and exactly."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import boto3
import pytest

from infra.local.ministack import ministack, wait_until_ready
from infra.local.places import Places
from infra.local.ports import free_port
from infra.local.provision import aws_access
from judgment.access.counters import CLIENT_CONFIG, DynamoCounters
from judgment.access.limits import Counters, Limit
from judgment.kit.errors import Unavailable
from tests.fakes.counters import MemoryCounters

NOW = datetime(2026, 11, 30, 12, 30, tzinfo=UTC)
READS = Limit("profile", 50)
TABLE = "rate-limits"


@pytest.fixture(scope="module")
def dynamodb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A boto3 client of the emulator that the local stack uses, with one table."""
    places = Places(tmp_path_factory.mktemp("emulator"))
    for folder in (places.logs, places.scratch):
        folder.mkdir(parents=True, exist_ok=True)
    port = free_port()
    child = ministack(places, port)
    child.start()
    try:
        wait_until_ready(child, port)
        access: Any = aws_access(f"http://127.0.0.1:{port}")
        client = boto3.client("dynamodb", config=CLIENT_CONFIG, **access)
        client.create_table(
            TableName=TABLE,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
        yield client
        client.close()
    finally:
        child.stop()


@pytest.fixture(params=["memory", "dynamodb"])
def counters(request: pytest.FixtureRequest) -> Counters:
    if request.param == "memory":
        return MemoryCounters()
    return DynamoCounters(request.getfixturevalue("dynamodb"), TABLE)


def subject() -> str:
    return str(uuid4())


@pytest.mark.promise("000-10.2", "000-4-limits")
def test_a_window_takes_its_limit_and_no_more_and_the_next_begins_anew(counters: Counters):
    who, few = subject(), Limit("recent_decisions", 3)
    assert [counters.take(who, few, NOW) for _ in range(5)] == [True] * 3 + [False] * 2
    assert counters.take(who, few, NOW + timedelta(minutes=30))
    assert counters.take(subject(), few, NOW)
    assert counters.take(who, Limit("profile", 3), NOW)


@pytest.mark.promise("P1-accept-3")
def test_32_clients_at_once_get_exactly_the_limit(counters: Counters):
    who = subject()
    with ThreadPoolExecutor(32) as clients:
        taken = list(clients.map(lambda _: counters.take(who, READS, NOW), range(200)))
    assert sum(taken) == READS.most


def test_a_use_is_kept_until_its_window_and_the_next_are_over(dynamodb: Any):
    who = subject()
    DynamoCounters(dynamodb, TABLE).take(who, READS, NOW)
    start, end = READS.window(NOW)
    key = {"pk": {"S": f"profile#{who}#{start}"}}
    item = dynamodb.get_item(TableName=TABLE, Key=key, ConsistentRead=True)["Item"]
    assert (item["uses"], item["ttl"]) == ({"N": "1"}, {"N": str(end + 3600)})


@pytest.mark.promise("P1-refuse-outage")
def test_a_table_or_an_endpoint_that_is_not_there_is_an_outage(dynamodb: Any):
    with pytest.raises(Unavailable):
        DynamoCounters(dynamodb, "no-such-table").take(subject(), READS, NOW)
    access: Any = aws_access(f"http://127.0.0.1:{free_port()}")
    nowhere = boto3.client("dynamodb", config=CLIENT_CONFIG, **access)
    with pytest.raises(Unavailable):
        DynamoCounters(nowhere, TABLE).take(subject(), READS, NOW)
    nowhere.close()

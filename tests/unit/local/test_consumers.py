"""Polling a queue: what is deleted, what comes back, what the door is shown."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from typing import Any

import boto3
import pytest
from moto import mock_aws

from infra.local.gateway.consumers import Consumer, Source, batch_event, succeeded
from infra.local.gateway.invoking import FunctionError


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop that runs in another thread, as the gateway's does beside its pollers."""
    running = asyncio.new_event_loop()
    thread = threading.Thread(target=running.run_forever)
    thread.start()
    yield running
    running.call_soon_threadsafe(running.stop)
    thread.join()
    running.close()


def _messages(*ids: str) -> list[dict[str, Any]]:
    return [{"MessageId": one, "ReceiptHandle": f"r-{one}"} for one in ids]


def _failures(*ids: str) -> dict[str, Any]:
    return {"batchItemFailures": [{"itemIdentifier": one} for one in ids]}


@pytest.mark.promise("P1-9")
@pytest.mark.parametrize(
    ("answer", "deleted"),
    [
        (None, ["a", "b", "c"]),
        ({}, ["a", "b", "c"]),
        (_failures(), ["a", "b", "c"]),
        (_failures("b"), ["a", "c"]),
        (_failures("a", "b", "c"), []),
        (_failures("unknown"), []),
        ({"batchItemFailures": [{}]}, []),
        ({"batchItemFailures": None}, []),
        ({"something": "else"}, []),
        ("text", []),
    ],
)
def test_only_what_surely_succeeded_is_deleted(answer: Any, deleted: list[str]) -> None:
    kept = succeeded(_messages("a", "b", "c"), answer)
    assert [message["MessageId"] for message in kept] == deleted


def _queue(sqs: Any, bodies: list[str]) -> Source:
    attributes = {"VisibilityTimeout": "0"}
    url = sqs.create_queue(QueueName="q", Attributes=attributes)["QueueUrl"]
    found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])
    for body in bodies:
        sqs.send_message(
            QueueUrl=url,
            MessageBody=body,
            MessageAttributes={"correlation_id": {"StringValue": "c-1", "DataType": "String"}},
        )
    return Source("q", url, found["Attributes"]["QueueArn"], 10)


def _left(sqs: Any, source: Source) -> set[str]:
    received = sqs.receive_message(QueueUrl=source.url, MaxNumberOfMessages=10)
    return {message["Body"] for message in received.get("Messages", [])}


@mock_aws
def test_a_batch_goes_through_the_door_and_only_the_failed_item_stays(
    loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqs = _client(monkeypatch)
    source = _queue(sqs, ["good", "poison", "fine"])
    shown: list[dict[str, Any]] = []

    async def invoke(event: dict[str, Any]) -> Any:
        shown.extend(event["Records"])
        failed = [r["messageId"] for r in event["Records"] if r["body"] == "poison"]
        return _failures(*failed)

    consumer = Consumer(source, sqs, invoke, loop)
    deleted = sum(consumer.poll_once(wait_seconds=0) for _ in range(3))
    assert deleted == 2
    assert _left(sqs, source) == {"poison"}
    record = shown[0]
    assert record["eventSource"] == "aws:sqs"
    assert record["eventSourceARN"] == source.arn
    assert record["messageAttributes"]["correlation_id"]["stringValue"] == "c-1"
    assert int(record["attributes"]["ApproximateReceiveCount"]) >= 1


@mock_aws
def test_a_door_that_raises_leaves_the_whole_batch(
    loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqs = _client(monkeypatch)
    source = _queue(sqs, ["one", "two"])

    async def invoke(event: dict[str, Any]) -> Any:
        raise FunctionError("ValueError", "no")

    assert Consumer(source, sqs, invoke, loop).poll_once(wait_seconds=0) == 0
    assert _left(sqs, source) == {"one", "two"}


class _FailingOnce:
    """A queue service that is away for one call."""

    def __init__(self) -> None:
        self.polled = threading.Event()
        self._calls = 0

    def receive_message(self, **_: Any) -> dict[str, Any]:
        self._calls += 1
        if self._calls == 1:
            raise ConnectionError("away")
        self.polled.set()
        return {}

    def delete_message_batch(self, **_: Any) -> dict[str, Any]:
        raise AssertionError("there was nothing to delete")


def test_a_poller_survives_an_outage_of_the_queue_service(
    loop: asyncio.AbstractEventLoop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.local.gateway.consumers.BACK_OFF_SECONDS", 0.0)
    sqs = _FailingOnce()

    async def invoke(event: dict[str, Any]) -> Any:
        raise AssertionError("there was nothing to do")

    consumer = Consumer(Source("q", "u", "arn:aws:sqs:r:0:q", 10), sqs, invoke, loop)
    consumer.start()
    assert sqs.polled.wait(10)
    consumer.stop()


def test_the_batch_event_can_be_sent_to_a_function() -> None:
    message = {"MessageId": "m", "ReceiptHandle": "r", "Body": "b", "MD5OfBody": "5"}
    event = batch_event(Source("q", "u", "arn:aws:sqs:eu-1:0:q", 10), [message])
    assert json.loads(json.dumps(event))["Records"][0]["awsRegion"] == "eu-1"


def _client(monkeypatch: pytest.MonkeyPatch) -> Any:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "test")
    return boto3.client("sqs", region_name="us-east-1")

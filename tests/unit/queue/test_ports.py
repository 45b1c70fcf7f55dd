"""The fake bus and queue do what EventBridge and SQS do behind the same ports."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from moto import mock_aws

from judgment.contract.jobs import SOURCE, Event
from judgment.kit.errors import InvalidRequest, TooLarge, Unavailable
from judgment.queue.bus import BATCH, EventBridgeBus, EventBus, event_of_message
from judgment.queue.jobs import MESSAGE_LIMIT, JobQueue, SqsQueue
from tests.fakes.bus import FakeBus, FakeQueue

pytestmark = pytest.mark.promise("P1-1-outbox", "R-24")

REGION: dict[str, Any] = {
    "region_name": "eu-west-1",
    "aws_access_key_id": "test",
    "aws_secret_access_key": "test",
}


def event(**changes: Any) -> Event:
    values: dict[str, Any] = {
        "id": uuid.uuid4(),
        "type": "profile.changed",
        "user_id": uuid.uuid4(),
        "subject_id": uuid.uuid4(),
        "correlation_id": "c-1",
    }
    return Event(**(values | changes))


@dataclass
class Bus:
    """A bus, what came out of it, and a way to cut it off."""

    port: EventBus
    delivered: Callable[[], list[Event]]
    cut: Callable[[], None]


@pytest.fixture(params=["fake", "eventbridge"])
def bus(request: pytest.FixtureRequest) -> Iterator[Bus]:
    if request.param == "fake":
        fake = FakeBus()
        yield Bus(fake, lambda: fake.taken, lambda: setattr(fake, "down", True))
        return
    with mock_aws():
        yield _eventbridge()


def _eventbridge() -> Bus:
    sqs, events = boto3.client("sqs", **REGION), boto3.client("events", **REGION)
    url = sqs.create_queue(QueueName="out")["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]
    events.create_event_bus(Name="bus")
    pattern = json.dumps({"source": [SOURCE], "detail-type": ["profile.changed"]})
    events.put_rule(Name="all", EventBusName="bus", EventPattern=pattern)
    events.put_targets(
        Rule="all", EventBusName="bus", Targets=[{"Id": "q", "Arn": arn["QueueArn"]}]
    )

    def delivered() -> list[Event]:
        found: list[Event] = []
        while messages := sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get(
            "Messages", []
        ):
            found += [event_of_message(message["Body"]) for message in messages]
        return found

    class Cut:
        """Forwards to the client until it is cut off."""

        off = False

        def put_events(self, **arguments: Any) -> Any:
            if self.off:
                client = boto3.client("events", endpoint_url="http://127.0.0.1:1", **REGION)
                client.meta.config.retries = {"total_max_attempts": 1}
                return client.put_events(**arguments)
            return events.put_events(**arguments)

    cut = Cut()
    return Bus(EventBridgeBus(cut, "bus"), delivered, lambda: setattr(cut, "off", True))


def test_what_is_accepted_comes_out_as_it_went_in(bus: Bus) -> None:
    sent = [event() for _ in range(BATCH)]
    assert bus.port.put(sent) == {e.id for e in sent}
    assert sorted(bus.delivered(), key=lambda e: e.id) == sorted(sent, key=lambda e: e.id)


def test_nothing_is_a_batch_too(bus: Bus) -> None:
    assert bus.port.put([]) == frozenset()
    bus.cut()
    assert bus.port.put([]) == frozenset()


def test_an_outage_is_unavailable(bus: Bus) -> None:
    bus.cut()
    with pytest.raises(Unavailable):
        bus.port.put([event()])


def test_too_many_or_too_large_is_refused_before_anything_is_sent(bus: Bus) -> None:
    with pytest.raises(ValueError, match="11 events"):
        bus.port.put([event() for _ in range(BATCH + 1)])
    whale = event().model_copy(update={"correlation_id": "x" * 256 * 1024})
    with pytest.raises(TooLarge):
        bus.port.put([event(), whale])
    assert bus.delivered() == []


def test_eventbridge_says_which_entries_it_refused() -> None:
    class Partly:
        def put_events(self, **arguments: Any) -> Any:
            answers: list[dict[str, str]] = [{"EventId": "1"} for _ in arguments["Entries"]]
            answers[1] = {"ErrorCode": "ThrottlingException", "ErrorMessage": "slow down"}
            return {"FailedEntryCount": 1, "Entries": answers}

    first, second, third = event(), event(), event()
    bus = EventBridgeBus(Partly(), "bus")
    assert bus.put([first, second, third]) == {first.id, third.id}


@pytest.mark.parametrize(
    "body",
    [
        *("", "no json", "[]", "{}", '{"detail": {}}', '{"detail": {"id": "x"}}', '{"detail": 1}'),
        pytest.param('{"detail": ' + "[" * 50_000, id="deep"),
    ],
)
def test_a_message_that_is_no_event_is_refused(body: str) -> None:
    with pytest.raises(InvalidRequest):
        event_of_message(body)


def test_an_event_with_an_unknown_key_is_refused() -> None:
    detail = json.loads(event().model_dump_json()) | {"more": 1}
    with pytest.raises(InvalidRequest):
        event_of_message(json.dumps({"detail": detail}))


@dataclass
class Queue:
    """A queue and what is in it."""

    port: JobQueue
    bodies: Callable[[], list[str]]


@pytest.fixture(params=["fake", "sqs"])
def queue(request: pytest.FixtureRequest) -> Iterator[Queue]:
    if request.param == "fake":
        fake = FakeQueue()
        yield Queue(fake, lambda: [body for body, _ in fake.sent])
        return
    with mock_aws():
        client = boto3.client("sqs", **REGION)
        url = client.create_queue(QueueName="jobs")["QueueUrl"]

        def bodies() -> list[str]:
            answer = client.receive_message(QueueUrl=url, MaxNumberOfMessages=10)
            return [message["Body"] for message in answer.get("Messages", [])]

        yield Queue(SqsQueue(client, url), bodies)


def test_a_message_arrives_as_it_was_sent(queue: Queue) -> None:
    queue.port.send('{"user": "ü"}')
    assert queue.bodies() == ['{"user": "ü"}']


@pytest.mark.parametrize("delay", [-1, 901])
def test_a_delay_out_of_range_is_refused(queue: Queue, delay: int) -> None:
    with pytest.raises(ValueError, match="delay"):
        queue.port.send("x", delay_seconds=delay)
    assert queue.bodies() == []


def test_the_size_limit_is_exact_and_counts_bytes(queue: Queue) -> None:
    queue.port.send("x" * MESSAGE_LIMIT)
    with pytest.raises(TooLarge):
        queue.port.send("x" * (MESSAGE_LIMIT + 1))
    with pytest.raises(TooLarge):
        queue.port.send("ü" * (MESSAGE_LIMIT // 2 + 1))
    assert [len(body) for body in queue.bodies()] == [MESSAGE_LIMIT]


def test_an_unreachable_queue_is_unavailable() -> None:
    with mock_aws():
        gone = SqsQueue(boto3.client("sqs", **REGION), "https://sqs.eu-west-1.test/1/none")
        with pytest.raises(Unavailable):
            gone.send("x")

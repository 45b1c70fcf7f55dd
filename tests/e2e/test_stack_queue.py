"""An event's whole way through the running stack: outbox, bus, rule, queue, consumer, and back.

All events are sent at the beginning and looked for afterwards, because a failed message must stay
invisible for a while before it may come again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import boto3
import httpx
import psycopg
import pytest

from infra.local.provision import dead_letter_name
from infra.local.waiting import wait_for
from judgment.queue.jobs import SqsQueue
from tests.probe.consume import CONSUMER, CURE
from tests.probe.tick import CONSUMER as TICKER

if TYPE_CHECKING:
    from tests.e2e.running import RunningStack

pytestmark = pytest.mark.promise("P1-9-probe", "R-25")

_PATIENCE_SECONDS = 240.0


@dataclass(frozen=True)
class _Sent:
    """Ids of the events that were sent, and what looks at their traces."""

    good: list[str]
    poison: str
    unpublished: str
    sqs: Any
    queue: str
    dead: str
    database: psycopg.Connection[Any]

    def noted(self, event_id: str) -> int:
        """How often the consumer has noted the event."""
        statement = (
            "SELECT count(*) FROM judgment.processed WHERE consumer = %s AND message_id = %s"
        )
        row = self.database.execute(statement, (CONSUMER, event_id)).fetchone()
        assert row is not None
        return row[0]

    def counted(self, url: str, name: str) -> int:
        """One of SQS's approximate counts."""
        found = self.sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])
        return int(found["Attributes"][name])


@pytest.fixture(scope="module")
def sent(stack: RunningStack) -> Iterator[_Sent]:
    """Good events, a poisoned one among them, one left in the outbox, one delayed message."""
    sqs = boto3.client("sqs", **stack.aws)
    queue = sqs.get_queue_url(QueueName="judgment-probe")["QueueUrl"]
    dead = sqs.get_queue_url(QueueName=dead_letter_name("probe"))["QueueUrl"]
    user = str(stack.owners["demo"].user_id)
    marks = [f"good-{number}" for number in range(3)]
    with httpx.Client(base_url=stack.api_url, timeout=30) as client:
        SqsQueue(sqs, queue).send("nobody reads this within ten minutes", delay_seconds=600)
        unpublished = _emit(client, user, ["swept"], publish=False)
        *good, poison = _emit(client, user, [*marks, "poison"], publish=True)
    with psycopg.connect(stack.database_url, autocommit=True) as database:
        yield _Sent(good, poison, unpublished[0], sqs, queue, dead, database)


def _emit(client: httpx.Client, user: str, marks: list[str], *, publish: bool) -> list[str]:
    body = {"user_id": user, "correlation_ids": marks, "publish": publish}
    answer = client.post("/probe/events", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["sent"] == (len(marks) if publish else 0)
    return answer.json()["ids"]


def _dead_poison(sent: _Sent) -> list[Any]:
    """The poisoned message if it is among the dead letters; a look hides them for a second."""
    received = sent.sqs.receive_message(
        QueueUrl=sent.dead, MaxNumberOfMessages=10, VisibilityTimeout=1
    )
    return [one for one in received.get("Messages", []) if sent.poison in one["Body"]]


def _redrive(sent: _Sent) -> None:
    """What StartMessageMoveTask does on AWS; the emulator does not have it."""
    found: list[Any] = []
    _until(lambda: bool(found) or found.extend(_dead_poison(sent)))
    message = found[0]
    sent.sqs.send_message(QueueUrl=sent.queue, MessageBody=message["Body"])
    sent.sqs.delete_message(QueueUrl=sent.dead, ReceiptHandle=message["ReceiptHandle"])


def _until(condition: Callable[[], object]) -> None:
    assert wait_for(condition, _PATIENCE_SECONDS)


def test_published_events_reach_the_consumer_once_beside_a_poisoned_one(sent: _Sent) -> None:
    _until(lambda: all(sent.noted(one) for one in sent.good))
    assert [sent.noted(one) for one in sent.good] == [1, 1, 1]
    assert sent.noted(sent.poison) == 0


def test_a_schedule_ticks_its_door(sent: _Sent) -> None:
    statement = "SELECT count(*) FROM judgment.processed WHERE consumer = %s"
    _until(lambda: (sent.database.execute(statement, (TICKER,)).fetchone() or (0,))[0] > 0)


def test_a_delay_of_ten_minutes_is_taken_and_nothing_comes_early(sent: _Sent) -> None:
    _until(lambda: all(sent.noted(one) for one in sent.good))  # sent after it, come before it
    assert sent.counted(sent.queue, "ApproximateNumberOfMessagesDelayed") == 1


def test_poison_ends_among_the_dead_letters_and_a_redrive_brings_it_back(sent: _Sent) -> None:
    _until(lambda: sent.counted(sent.dead, "ApproximateNumberOfMessages") > 0)
    assert sent.noted(sent.poison) == 0
    sent.database.execute(
        "INSERT INTO judgment.processed (consumer, message_id) VALUES (%s, %s)",
        (CURE, sent.poison),
    )
    _redrive(sent)
    _until(lambda: sent.noted(sent.poison) == 1)
    assert not _dead_poison(sent)


def test_an_event_left_in_the_outbox_is_swept_to_its_consumer(sent: _Sent) -> None:
    _until(lambda: sent.noted(sent.unpublished) == 1)

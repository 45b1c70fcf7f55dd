"""The probe in an emulator deployment: its rows, and a walk from the outbox to the dead letters.

The same way is walked in the running stack by tests/e2e/test_stack_queue.py; here CloudFormation
made the queue, the rule, the schedule and the rights.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx
import psycopg

from infra.local.provision import dead_letter_name
from infra.local.waiting import wait_for
from judgment.queue.jobs import SqsQueue
from tests.probe.catalogue import CATALOGUE as CATALOGUE
from tests.probe.consume import CONSUMER, CURE
from tests.probe.tick import CONSUMER as TICKER

if TYPE_CHECKING:
    from infra.emulator.deployed import Deployed

PATIENCE_SECONDS = 300.0
DELAY_SECONDS = 600


def walk(deployed: Deployed, client: httpx.Client) -> list[str]:
    """Send good, poisoned, unpublished and delayed work; say what became of it."""
    sqs = deployed.aws("sqs")
    queue = sqs.get_queue_url(QueueName="judgment-probe")["QueueUrl"]
    dead = sqs.get_queue_url(QueueName=dead_letter_name("probe"))["QueueUrl"]
    _hear_it_whole(client)
    _wake(deployed)
    with psycopg.connect(deployed.database_url, autocommit=True) as database:
        owner = _new_owner(database)
        SqsQueue(sqs, queue).send("too early for anybody", delay_seconds=DELAY_SECONDS)
        [unpublished] = _emit(client, owner, ["swept"], publish=False)
        *good, poison = _emit(client, owner, ["good-1", "good-2", "poison"], publish=True)
        _until(lambda: all(_noted(database, one) for one in good), "good events are consumed")
        assert [_noted(database, one) for one in good] == [1, 1]
        assert _noted(database, poison) == 0
        _until(lambda: _count(sqs, dead, "") == 1, "poison ends among the dead letters")
        assert _count(sqs, queue, "Delayed") == 1
        database.execute(
            "INSERT INTO judgment.processed (consumer, message_id) VALUES (%s, %s)", (CURE, poison)
        )
        _redrive(sqs, dead, queue)
        _until(lambda: _noted(database, poison) == 1, "a redrive brings it back")
        _until(lambda: _noted(database, unpublished) == 1, "the sweep sends what was left")
        _until(lambda: _ticks(database) > 0, "the schedule ticks")
    return [
        "Published events reach the consumer once; poison beside them fails alone.",
        "Poison ends among the dead letters and comes back cured.",
        f"A delay of {DELAY_SECONDS} s is taken and nothing comes early.",
        "An event left in the outbox is swept to its consumer.",
        "A schedule ticks its door.",
        "Where none streams, a streaming door answers in one piece and fails in our form.",
    ]


def _hear_it_whole(client: httpx.Client) -> None:
    whole = client.get("/probe/stream", params={"count": "3"})
    assert whole.status_code == 200, whole.text
    assert whole.headers["content-type"].startswith("text/event-stream")
    assert whole.text.count("data: ") == 3
    refused = client.get("/probe/stream", params={"refuse": "1"})
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "7")
    failed = client.get("/probe/stream", params={"count": "3", "fail_at": "2"})
    assert (failed.status_code, failed.json()["code"]) == (500, "internal_error")


def _wake(deployed: Deployed) -> None:
    """The emulator counts a cold start into a timeout, and the consumer's is short."""
    answer = deployed.aws("lambda").invoke(
        FunctionName=deployed.function("probe_consume"), Payload=json.dumps({"Records": []})
    )
    answer["Payload"].read()


def _new_owner(database: psycopg.Connection[Any]) -> str:
    owner = str(uuid4())
    database.execute("SELECT judgment.ensure_owner(%s, 'probe', %s)", (owner, owner))
    return owner


def _emit(client: httpx.Client, owner: str, marks: list[str], *, publish: bool) -> list[str]:
    body = {"user_id": owner, "correlation_ids": marks, "publish": publish}
    answer = client.post("/probe/events", json=body)
    assert answer.status_code == 200, answer.text
    assert answer.json()["sent"] == (len(marks) if publish else 0)
    return answer.json()["ids"]


def _noted(database: psycopg.Connection[Any], event: str) -> int:
    return _counted(database, "consumer = %s AND message_id = %s", (CONSUMER, event))


def _ticks(database: psycopg.Connection[Any]) -> int:
    return _counted(database, "consumer = %s", (TICKER,))


def _counted(database: psycopg.Connection[Any], where: str, values: tuple[str, ...]) -> int:
    statement = f"SELECT count(*) FROM judgment.processed WHERE {where}"
    row = database.execute(statement.encode(), values).fetchone()
    assert row is not None
    return row[0]


def _count(sqs: Any, url: str, kind: str) -> int:
    name = f"ApproximateNumberOfMessages{kind}"
    found = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])
    return int(found["Attributes"][name])


def _redrive(sqs: Any, dead: str, queue: str) -> None:
    received = sqs.receive_message(QueueUrl=dead, MaxNumberOfMessages=1)["Messages"][0]
    sqs.send_message(QueueUrl=queue, MessageBody=received["Body"])
    sqs.delete_message(QueueUrl=dead, ReceiptHandle=received["ReceiptHandle"])


def _until(condition: Callable[[], bool], hoped: str) -> None:
    seen = wait_for(condition, PATIENCE_SECONDS)
    assert seen, f"in {PATIENCE_SECONDS:.0f} s it was not so: {hoped}"

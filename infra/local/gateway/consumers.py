"""SQS event source mappings: poll a queue, run its door on a batch, delete what succeeded.

As Lambda does it: the door reports the failed items; they, or the whole batch when the door
raises or answers nonsense, become visible again after the visibility timeout, and the queue's
redrive policy moves them to the dead-letter queue.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Protocol

from infra.local.gateway.invoking import InvocationFailed

POLL_SECONDS = 5
BACK_OFF_SECONDS = 1.0
Invoke = Callable[[Any], Awaitable[Any]]


class Sqs(Protocol):
    """The part of boto3's SQS client that a mapping uses."""

    def receive_message(self, **request: Any) -> dict[str, Any]:
        """As boto3."""
        ...

    def delete_message_batch(self, **request: Any) -> dict[str, Any]:
        """As boto3."""
        ...


@dataclass(frozen=True)
class Source:
    """A queue and how much of it a door takes at once (at most 10)."""

    name: str
    url: str
    arn: str
    batch_size: int


def batch_event(source: Source, messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The event of an SQS batch (Lambda developer guide, "Using Lambda with Amazon SQS")."""
    return {"Records": [_record(source, message) for message in messages]}


def succeeded(messages: list[dict[str, Any]], answer: Any) -> list[dict[str, Any]]:
    """The messages to delete. None of them when the answer is not a partial-batch response."""
    if not answer:
        return messages
    try:
        failed = {item["itemIdentifier"] for item in answer["batchItemFailures"]}
    except (KeyError, TypeError):
        return []
    if failed - {message["MessageId"] for message in messages}:
        return []
    return [message for message in messages if message["MessageId"] not in failed]


class Consumer:
    """Polls in daemon threads of its own; doors run on the gateway's loop."""

    def __init__(self, source: Source, sqs: Sqs, invoke: Invoke, loop: asyncio.AbstractEventLoop):
        self._source = source
        self._sqs = sqs
        self._invoke = invoke
        self._loop = loop
        self._stopped = threading.Event()

    def start(self, threads: int = 1) -> None:
        """Begin polling with so many concurrent batches."""
        for number in range(threads):
            name = f"poll-{self._source.name}-{number}"
            threading.Thread(target=self._run, name=name, daemon=True).start()

    def stop(self) -> None:
        """Take no further batch."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.is_set():
            try:
                self.poll_once()
            except Exception as failure:  # noqa: BLE001  (the queue service is away: try again)
                print(f"[ERROR] queue {self._source.name}: {type(failure).__name__}", flush=True)
                self._stopped.wait(BACK_OFF_SECONDS)

    def poll_once(self, wait_seconds: int = POLL_SECONDS) -> int:
        """Take one batch through the door; how many messages were deleted."""
        received = self._sqs.receive_message(
            QueueUrl=self._source.url,
            MaxNumberOfMessages=min(10, self._source.batch_size),
            WaitTimeSeconds=wait_seconds,
            AttributeNames=["All"],
            MessageAttributeNames=["All"],
        )
        messages = received.get("Messages", [])
        if not messages or self._stopped.is_set():
            return 0
        done = self._process(messages)
        if done:
            entries = [
                {"Id": str(index), "ReceiptHandle": message["ReceiptHandle"]}
                for index, message in enumerate(done)
            ]
            self._sqs.delete_message_batch(QueueUrl=self._source.url, Entries=entries)
        return len(done)

    def _process(self, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
        async def run() -> Any:
            return await self._invoke(batch_event(self._source, messages))

        try:
            answer = asyncio.run_coroutine_threadsafe(run(), self._loop).result()
        except InvocationFailed:
            return []
        return succeeded(messages, answer)


def _record(source: Source, message: dict[str, Any]) -> dict[str, Any]:
    attributes = message.get("MessageAttributes", {})
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message.get("Attributes", {}),
        "messageAttributes": {name: _attribute(value) for name, value in attributes.items()},
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": source.arn,
        "awsRegion": source.arn.split(":")[3],
    }


def _attribute(value: dict[str, Any]) -> dict[str, Any]:
    return {
        "stringValue": value.get("StringValue"),
        "stringListValues": [],
        "binaryListValues": [],
        "dataType": value["DataType"],
    }

"""Direct messages to a queue, at once or after a delay, without the bus in between."""

from __future__ import annotations

from typing import Any, Protocol, Self

from judgment.kit.errors import TooLarge
from judgment.queue.bus import aws_client, called

MESSAGE_LIMIT = 1024 * 1024
"""Bytes of an SQS message (AWS raised it from 256 KiB in 2025)."""
DELAY_LIMIT_SECONDS = 900


class JobQueue(Protocol):
    """Takes a message for one consumer; it may be delivered more than once, and in any order."""

    def send(self, body: str, *, delay_seconds: int = 0) -> None:
        """Raises Unavailable, TooLarge over 1 MiB, and ValueError for a delay over 15 minutes."""
        ...


class SqsQueue:
    """An SQS queue, by the boto3 `sqs` client."""

    def __init__(self, client: Any, url: str):
        self._client = client
        self._url = url

    @classmethod
    def at(cls, url: str) -> Self:
        """The queue of that URL, with region, credentials and endpoint as boto3 finds them."""
        return cls(aws_client("sqs"), url)

    def send(self, body: str, *, delay_seconds: int = 0) -> None:
        """See `JobQueue.send`."""
        check_message(body, delay_seconds)
        called(
            self._client.send_message,
            QueueUrl=self._url,
            MessageBody=body,
            DelaySeconds=delay_seconds,
        )


def check_message(body: str, delay_seconds: int) -> None:
    """What SQS would refuse. Raises TooLarge or ValueError."""
    if len(body.encode()) > MESSAGE_LIMIT:
        raise TooLarge(f"The message is over {MESSAGE_LIMIT} bytes.")
    if not 0 <= delay_seconds <= DELAY_LIMIT_SECONDS:
        raise ValueError(f"a delay of {delay_seconds} s is not within 0 to {DELAY_LIMIT_SECONDS}")

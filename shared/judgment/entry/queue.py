"""A queue consumer as a handler: one call per message, and only what failed comes back.

A message may arrive twice; `consume` is told its id and must make its effect idempotent (the
`processed` row of `judgment.queue`). What it raises fails that message alone: SQS delivers it
again and, after the queue's limit, moves it to the dead letters.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from aws_lambda_powertools.utilities import batch

from judgment.entry import event as read
from judgment.entry import observability as seen
from judgment.kit.deadline import Deadline

if TYPE_CHECKING:
    from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

    from judgment.entry.observability import Telemetry

CORRELATION_SHOWN = 128


@dataclass(frozen=True, slots=True)
class Message:
    """One delivery: SQS's id for the message, its text, how often it was received by now, and when
    this invocation ends."""

    id: str
    body: str
    received: int
    deadline: Deadline


class QueueDoor:
    """The handler of an SQS consumer in partial batches."""

    def __init__(self, consume: Callable[[Message], None], telemetry: Telemetry):
        self._consume = consume
        self._telemetry = telemetry
        self._deadline = Deadline.after(0)

    def __call__(self, event: read.Event, context: Any) -> dict[str, Any]:
        """The batch item failures, in SQS's form."""
        self._deadline = Deadline.of_lambda(context)
        try:
            answer = cast("Any", batch).process_partial_response(
                event=event,
                record_handler=self._one,
                processor=batch.BatchProcessor(
                    event_type=batch.EventType.SQS, raise_on_entire_batch_failure=False
                ),
                context=context,
            )
        finally:
            self._telemetry.flush()
        return answer

    def _one(self, record: SQSRecord) -> None:
        received = int(record.attributes.approximate_receive_count)
        message = Message(record.message_id, record.body, received, self._deadline)
        try:
            self._consume(message)
        except Exception as error:  # whatever a consumer raises, SQS redelivers this message
            self._telemetry.count(seen.MESSAGE_FAILED)
            self._telemetry.failure(
                seen.MESSAGE_FAILED,
                error,
                correlation_id=_correlation_id(message.body),
                message_id=message.id,
                received=received,
            )
            raise


def _correlation_id(body: str) -> str | None:
    """The id in an event of the bus, or at the top of a direct message; None in any other body."""
    try:
        message: object = json.loads(body)
    except (ValueError, RecursionError):
        return None
    found = _member(_member(message, "detail"), "correlation_id")
    found = found or _member(message, "correlation_id")
    return found[:CORRELATION_SHOWN] if isinstance(found, str) else None


def _member(value: object, name: str) -> object:
    return cast("dict[str, object]", value).get(name) if isinstance(value, dict) else None

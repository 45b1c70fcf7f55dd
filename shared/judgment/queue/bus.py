"""Where events go: the port, EventBridge behind it, and the message that comes out at a queue."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Protocol, Self, cast
from uuid import UUID

from pydantic import ValidationError

from judgment.contract.jobs import SOURCE, Event
from judgment.kit.errors import InvalidRequest, TooLarge, Unavailable

BATCH = 10
"""Entries of one PutEvents call (EventBridge quota)."""
ENTRY_LIMIT = 256 * 1024
"""Bytes of one PutEvents call; the emulator takes more, so the producer guards it."""


class EventBus(Protocol):
    """Takes up to `BATCH` events and says which of them it has."""

    def put(self, events: Sequence[Event]) -> frozenset[UUID]:
        """The ids of the accepted events. Raises Unavailable, and TooLarge before sending any."""
        ...


class EventBridgeBus:
    """EventBridge, by the boto3 `events` client."""

    def __init__(self, client: Any, name: str):
        self._client = client
        self._name = name

    @classmethod
    def named(cls, name: str) -> Self:
        """The bus of that name, with region, credentials and endpoint as boto3 finds them."""
        return cls(aws_client("events"), name)

    def put(self, events: Sequence[Event]) -> frozenset[UUID]:
        """See `EventBus.put`."""
        entries = [self._entry(event) for event in events]
        if len(entries) > BATCH:
            raise ValueError(f"{len(entries)} events in one call; the limit is {BATCH}")
        if sum(map(_entry_bytes, entries)) > ENTRY_LIMIT:
            raise TooLarge(f"The events are over {ENTRY_LIMIT} bytes.")
        if not entries:
            return frozenset()
        answers = called(self._client.put_events, Entries=entries)["Entries"]
        pairs = zip(events, answers, strict=True)
        return frozenset(event.id for event, answer in pairs if "ErrorCode" not in answer)

    def _entry(self, event: Event) -> dict[str, str]:
        return {
            "Source": SOURCE,
            "DetailType": event.type,
            "Detail": event.model_dump_json(),
            "EventBusName": self._name,
        }


def _entry_bytes(entry: dict[str, str]) -> int:
    # What EventBridge counts: source, type and detail in UTF-8 (its user guide, "event size").
    return sum(len(entry[part].encode()) for part in ("Source", "DetailType", "Detail"))


def event_of_message(body: str) -> Event:
    """The event in the body of a queue message that a rule of the bus has put there.

    Raises InvalidRequest for anything else, which only the dead letters can take.
    """
    try:
        envelope = json.loads(body)
        if not isinstance(envelope, dict):
            raise InvalidRequest("The message is no event of ours.")
        return Event.model_validate_json(json.dumps(cast("Any", envelope)["detail"]))
    except (KeyError, ValueError, ValidationError, RecursionError) as error:
        raise InvalidRequest("The message is no event of ours.") from error


SENDING_SECONDS = 11.0
"""What one call of `aws_client` may take when it hangs; with less left, leave it to the sweep."""


def aws_client(service: str) -> Any:
    """A boto3 client that gives up within the time a request has."""
    import boto3  # doors that send nothing must not pay for it
    from botocore.config import Config

    patience = Config(
        connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 2}
    )
    return cast("Any", boto3).client(service, config=patience)


def called(call: Any, **arguments: Any) -> Any:
    """The answer of an AWS call. Raises Unavailable for whatever AWS or the way there refuses."""
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        return call(**arguments)
    except (BotoCoreError, ClientError) as error:
        raise Unavailable() from error

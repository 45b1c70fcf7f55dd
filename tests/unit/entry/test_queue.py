"""One failed message comes back alone."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judgment.entry.observability import Telemetry
from judgment.entry.queue import Message, QueueDoor
from tests.fakes.events import sqs_event


def batch(*bodies: str) -> dict[str, Any]:
    return sqs_event("q", *bodies, received=2)


@pytest.mark.promise("P1-9-probe")
def test_only_what_failed_comes_back(capsys: pytest.CaptureFixture[str]):
    seen: list[Message] = []

    def consume(message: Message) -> None:
        seen.append(message)
        if message.body == "poison":
            raise ValueError("cannot")

    answer = QueueDoor(consume, Telemetry("probe"))(batch("a", "poison", "b"), None)
    assert answer == {"batchItemFailures": [{"itemIdentifier": "m1"}]}
    assert [(m.id, m.body, m.received) for m in seen] == [
        ("m0", "a", 2),
        ("m1", "poison", 2),
        ("m2", "b", 2),
    ]
    assert '"MessageFailed":[1.0]' in capsys.readouterr().out


def test_a_batch_that_fails_as_a_whole_names_every_message():
    def consume(message: Message) -> None:
        raise ValueError(message.body)

    answer = QueueDoor(consume, Telemetry("probe"))(batch("a", "b"), None)
    assert [f["itemIdentifier"] for f in answer["batchItemFailures"]] == ["m0", "m1"]


def test_a_failure_is_found_in_the_log_by_the_correlation_id_of_its_event(
    capsys: pytest.CaptureFixture[str],
):
    def consume(message: Message) -> None:
        raise ValueError("cannot")

    bodies = {
        json.dumps({"detail": {"correlation_id": "c-1"}}): "c-1",
        json.dumps({"correlation_id": "c-2"}): "c-2",
        json.dumps({"detail": "text", "correlation_id": 3}): None,
        json.dumps({"correlation_id": "x" * 1_000}): "x" * 128,
        "[" * 100_000: None,
        "no JSON": None,
        "[1]": None,
    }
    QueueDoor(consume, Telemetry("probe"))(batch(*bodies), None)
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    failures = [line for line in lines if line.get("level") == "ERROR"]
    assert [line.get("correlation_id") for line in failures] == list(bodies.values())

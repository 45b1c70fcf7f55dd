"""Counters are written in the form that CloudWatch reads, under the names that alarms watch."""

from __future__ import annotations

import json
from typing import Any

import pytest

from judgment.entry.observability import NAMESPACE, RATE_LIMITER_UNAVAILABLE, Telemetry


def written(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.promise("P1-refuse-outage", "P1-6")
def test_a_count_is_a_metric_of_the_alarms_namespace_with_the_door_as_its_only_dimension(
    capsys: pytest.CaptureFixture[str],
):
    telemetry = Telemetry("profile_read")
    for _ in range(2):
        telemetry.count(RATE_LIMITER_UNAVAILABLE)
    telemetry.flush()
    [line] = written(capsys)
    assert line["_aws"]["CloudWatchMetrics"] == [
        {
            "Namespace": NAMESPACE,
            "Dimensions": [["service"]],
            "Metrics": [{"Name": RATE_LIMITER_UNAVAILABLE, "Unit": "Count"}],
        }
    ]
    assert line["service"] == "profile_read"
    assert sum(line[RATE_LIMITER_UNAVAILABLE]) == 2
    assert line["_aws"]["Timestamp"] > 0


def test_nothing_is_written_twice_nor_without_a_count(capsys: pytest.CaptureFixture[str]):
    telemetry = Telemetry("door")
    telemetry.flush()
    telemetry.count("RateLimited")
    telemetry.flush()
    telemetry.flush()
    assert [line["RateLimited"] for line in written(capsys)] == [[1.0]]


@pytest.mark.promise("000-10.3-correlation")
def test_a_failure_names_its_request_and_no_credential(capsys: pytest.CaptureFixture[str]):
    key = "sync_" + "k7" * 21 + "x"
    try:
        raise ValueError(f"refused {key}")
    except ValueError as error:
        Telemetry("door").failure("InternalError", error, correlation_id="c-1")
    [line] = written(capsys)
    assert (line["level"], line["correlation_id"], line["service"]) == ("ERROR", "c-1", "door")
    assert (line["error_type"], line["error"]) == ("ValueError", "refused sync_[redacted]")
    assert "test_observability" in line["stack"]

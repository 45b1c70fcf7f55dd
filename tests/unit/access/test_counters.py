"""What the DynamoDB counters ask for and how they read the answer; the emulator proves more."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectionClosedError, ConnectTimeoutError

from judgment.access.counters import DynamoCounters
from judgment.access.limits import Limit
from judgment.kit.errors import Unavailable

NOW = datetime(2026, 11, 30, 12, 34, 56, tzinfo=UTC)
READS = Limit("profile", 600)


class Client:
    """Answers `update_item` from a script of results and errors."""

    def __init__(self, *script: Any):
        self.script = list(script)
        self.sent: list[dict[str, Any]] = []

    def update_item(self, **kwargs: Any) -> Any:
        self.sent.append(kwargs)
        result = self.script.pop(0)
        if isinstance(result, Exception):
            raise result
        return result


def error(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "UpdateItem")


def test_a_use_is_one_conditional_update_of_its_window():
    client = Client({})
    assert DynamoCounters(client, "limits").take("k1", READS, NOW) is True
    (sent,) = client.sent
    assert sent["Key"] == {"pk": {"S": "profile#k1#1796040000"}}
    assert sent["ConditionExpression"] == "attribute_not_exists(uses) OR uses < :most"
    assert sent["ExpressionAttributeValues"][":most"] == {"N": "600"}
    assert int(sent["ExpressionAttributeValues"][":ttl"]["N"]) == 1796040000 + 7200


def test_a_failed_condition_is_a_full_window():
    client = Client(error("ConditionalCheckFailedException"))
    assert DynamoCounters(client, "limits").take("k1", READS, NOW) is False


@pytest.mark.promise("P1-refuse-outage")
@pytest.mark.parametrize(
    "failure",
    [error("ProvisionedThroughputExceededException"), ConnectTimeoutError(endpoint_url="http://x")],
)
def test_anything_else_is_an_outage(failure: Exception):
    with pytest.raises(Unavailable):
        DynamoCounters(Client(failure), "limits").take("k1", READS, NOW)


def test_a_stale_kept_connection_is_tried_once_more():
    closed = ConnectionClosedError(endpoint_url="http://x")
    assert DynamoCounters(Client(closed, {}), "limits").take("k1", READS, NOW) is True
    with pytest.raises(Unavailable):
        DynamoCounters(Client(closed, closed), "limits").take("k1", READS, NOW)

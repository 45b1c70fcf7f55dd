"""Rate-limit counters in DynamoDB: one conditional update per use, exact under concurrency."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any, Protocol, cast

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError, ConnectionClosedError

from judgment.kit.errors import Unavailable

if TYPE_CHECKING:
    from judgment.access.limits import Limit

CLIENT_CONFIG = Config(
    connect_timeout=0.5,
    read_timeout=0.5,
    retries={"total_max_attempts": 1, "mode": "standard"},
    max_pool_connections=4,
)
_REFUSED = "ConditionalCheckFailedException"


class DynamoDBClient(Protocol):
    """The one call we make of a boto3 DynamoDB client."""

    def update_item(self, **kwargs: Any) -> Any:
        """See the DynamoDB API."""
        ...


class DynamoCounters:
    """Counters in a table with string key `pk` and TTL attribute `ttl`.

    The window is part of the key, because TTL deletion may come days late.
    """

    def __init__(self, client: DynamoDBClient, table: str):
        self._client = client
        self._table = table

    def take(self, subject: str, limit: Limit, now: datetime) -> bool:
        """See `limits.Counters`."""
        start, end = limit.window(now)
        update = {
            "TableName": self._table,
            "Key": {"pk": {"S": f"{limit.name}#{subject}#{start}"}},
            "UpdateExpression": "ADD uses :one SET #ttl = if_not_exists(#ttl, :ttl)",
            "ConditionExpression": "attribute_not_exists(uses) OR uses < :most",
            "ExpressionAttributeNames": {"#ttl": "ttl"},
            "ExpressionAttributeValues": {
                ":one": {"N": "1"},
                ":most": {"N": str(limit.most)},
                ":ttl": {"N": str(end + limit.window_seconds)},
            },
        }
        try:
            self._update(update)
        except ClientError as error:
            if cast("dict[str, Any]", error.response)["Error"]["Code"] == _REFUSED:
                return False
            raise Unavailable("The rate limiter is unavailable.") from error
        except BotoCoreError as error:
            raise Unavailable("The rate limiter is unavailable.") from error
        return True

    def _update(self, update: dict[str, Any]) -> None:
        """One update; once more, without the SDK's pause, when a kept connection was stale."""
        try:
            self._client.update_item(**update)
        except ConnectionClosedError:
            self._client.update_item(**update)

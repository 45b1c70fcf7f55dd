"""Secrets by id from Secrets Manager, kept for five minutes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, cast

from judgment.kit.errors import Unavailable

KEPT_SECONDS = 300


def secret(secret_id: str) -> Callable[[], bytes]:
    """A function that returns the secret's text as bytes. It raises Unavailable.

    The SDK is imported on the first call: only requests that need a secret pay for it.
    """

    def read() -> bytes:
        from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

        try:
            value = _provider().get(secret_id, max_age=KEPT_SECONDS)
        except GetParameterError as error:
            raise Unavailable("A secret cannot be read.") from error
        return value if isinstance(value, bytes) else str(value).encode()

    return read


@cache
def _provider() -> Any:
    """One client, which gives up while whoever waits for the answer still has time."""
    from aws_lambda_powertools.utilities.parameters import SecretsProvider
    from botocore.config import Config

    patience = Config(
        connect_timeout=1, read_timeout=2, retries={"mode": "standard", "total_max_attempts": 2}
    )
    return cast("Any", SecretsProvider)(boto_config=patience)

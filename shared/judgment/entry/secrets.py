"""Secrets by id from Secrets Manager, kept for five minutes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from judgment.kit.errors import Unavailable

KEPT_SECONDS = 300


def secret(secret_id: str) -> Callable[[], bytes]:
    """A function that returns the secret's text as bytes. It raises Unavailable.

    The SDK is imported on the first call: only requests that need a secret pay for it.
    """

    def read() -> bytes:
        from aws_lambda_powertools.utilities import parameters
        from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError

        try:
            value = cast("Any", parameters).get_secret(secret_id, max_age=KEPT_SECONDS)
        except GetParameterError as error:
            raise Unavailable("A secret cannot be read.") from error
        return value if isinstance(value, bytes) else str(value).encode()

    return read

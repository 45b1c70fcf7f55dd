"""What a door really asks of Postgres and DynamoDB in one call, and the same asked bare.

The bare side of a budget is not written down twice: one call of the door is listened to, and the
statements and SDK calls heard are replayed on a plain psycopg connection and a plain boto3 client.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import patch

import psycopg
from botocore.client import BaseClient


@dataclass
class Heard:
    """SQL statements with parameters, and SDK operations with theirs, in order."""

    statements: list[tuple[Any, Any]] = field(default_factory=list)
    operations: list[tuple[str, dict[str, Any]]] = field(default_factory=list)


@contextmanager
def listening() -> Iterator[Heard]:
    """Everything that psycopg and botocore are asked for inside the block."""
    heard = Heard()
    execute, call = psycopg.Cursor.execute, BaseClient._make_api_call  # type: ignore[attr-defined]

    def executing(cursor: Any, query: Any, params: Any = None, **options: Any) -> Any:
        heard.statements.append((query, params))
        return execute(cursor, query, params, **options)

    def calling(client: Any, operation: str, parameters: dict[str, Any]) -> Any:
        heard.operations.append((operation, parameters))
        return call(client, operation, parameters)

    with (
        patch.object(psycopg.Cursor, "execute", executing),
        patch.object(BaseClient, "_make_api_call", calling),
    ):
        yield heard


def replay_sql(connection: psycopg.Connection[Any], heard: Heard) -> Callable[[], None]:
    """A call that executes the statements heard and fetches every row they give."""
    statements = tuple(heard.statements)

    def replay() -> None:
        for query, params in statements:
            cursor = connection.execute(query, params)
            if cursor.description:
                cursor.fetchall()

    return replay


def replay_operations(client: Any, heard: Heard) -> Callable[[], None]:
    """A call that makes the SDK calls heard."""
    operations = tuple(heard.operations)

    def replay() -> None:
        for operation, parameters in operations:
            client._make_api_call(operation, parameters)

    return replay


def selects_of(heard: Heard) -> Heard:
    """The same without what only opens and closes a transaction."""
    frame = ("BEGIN", "COMMIT", "ROLLBACK")
    return Heard([one for one in heard.statements if not _text(one[0]).startswith(frame)])


def _text(query: Any) -> str:
    return query.decode() if isinstance(query, bytes) else str(query)

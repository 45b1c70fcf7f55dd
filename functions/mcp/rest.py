"""The one way this door gets data: a GET of our own REST API in the caller's name.

httpx2 is the MCP SDK's own HTTP client; using it keeps a second client out of the cold start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

from judgment.kit.errors import Unavailable

TIMEOUT = httpx2.Timeout(20.0, connect=3.0)
_STALE = (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError)


@dataclass(frozen=True)
class Caller:
    """In whose name a call is made, and to which deployment.

    `authorization` is the header as it came, never parsed here; `api_url` has no trailing slash.
    """

    authorization: str
    correlation_id: str
    api_url: str
    scopes: frozenset[str]


@dataclass(frozen=True)
class Answer:
    """What REST said."""

    status: int
    body: bytes


class Rest:
    """A client of our REST API whose connections outlive an invocation."""

    def __init__(self, client: httpx2.AsyncClient):
        self._client = client

    async def get(self, path: str, query: Mapping[str, Any], caller: Caller) -> Answer:
        """GET `path` as `caller`. Raises Unavailable when no answer arrives.

        A kept connection may have been closed while the environment was frozen; a read is safe
        to repeat, so that case is tried once more on a fresh one.
        """
        try:
            return await self._get(path, query, caller)
        except _STALE:
            pass
        except httpx2.HTTPError as error:
            raise Unavailable from error
        try:
            return await self._get(path, query, caller)
        except httpx2.HTTPError as error:
            raise Unavailable from error

    async def _get(self, path: str, query: Mapping[str, Any], caller: Caller) -> Answer:
        response = await self._client.get(
            caller.api_url + path,
            params=dict(query) or None,
            headers={
                "Authorization": caller.authorization,
                "X-Correlation-Id": caller.correlation_id,
                "X-Judgment-Via": "mcp",
                "Accept": "application/json",
            },
        )
        return Answer(response.status_code, response.content)

    async def close(self) -> None:
        """Close the kept connections."""
        await self._client.aclose()

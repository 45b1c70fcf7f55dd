"""The custom domain of an emulator deployment: the API at the root path of a plain local address.

On AWS the Edge stack does this. The emulator shows an API only below a stage prefix, and in its
strict form only by a certificate that a door rightly does not trust.
"""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx

TIMEOUT_SECONDS = 60.0
_HOP_BY_HOP = {"connection", "content-length", "host", "transfer-encoding"}


class Domain:
    """Passes each request on to `target` (an address with a path) and the answer back, whole."""

    def __init__(self, certificate: Path | None):
        trusted = ssl.create_default_context(cafile=certificate) if certificate else True
        self._client = httpx.AsyncClient(verify=trusted, timeout=TIMEOUT_SECONDS, trust_env=False)
        self.target = ""

    async def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[dict[str, Any]]],
        send: Callable[[dict[str, Any]], Awaitable[None]],
    ) -> None:
        """One request (ASGI)."""
        if scope["type"] != "http":
            return
        query = f"?{scope['query_string'].decode()}" if scope["query_string"] else ""
        answer = await self._client.request(
            scope["method"],
            f"{self.target}{scope['raw_path'].decode()}{query}",
            headers=_passed(scope["headers"]),
            content=await _body(receive),
        )
        headers = _passed(answer.headers.raw)
        start = {"type": "http.response.start", "status": answer.status_code, "headers": headers}
        await send(start)
        await send({"type": "http.response.body", "body": answer.content})


def _passed(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    return [(k.lower(), v) for k, v in headers if k.decode().lower() not in _HOP_BY_HOP]


async def _body(receive: Callable[[], Awaitable[dict[str, Any]]]) -> bytes:
    content = b""
    while True:
        message = await receive()
        content += message.get("body", b"")
        if not message.get("more_body"):
            return content

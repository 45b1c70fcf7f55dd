"""Fetching an issuer's documents over HTTP: short, bounded, without following redirects."""

from __future__ import annotations

from typing import Any, cast

from judgment.kit.errors import Unavailable

DOCUMENT_LIMIT = 256 * 1024
TIMEOUT_SECONDS = 3.0


def fetch_json(url: str) -> dict[str, Any]:
    """The JSON object at `url`. Raises Unavailable for anything else, whatever the reason."""
    import httpx

    try:
        with httpx.stream("GET", url, timeout=TIMEOUT_SECONDS, trust_env=False) as answer:
            answer.raise_for_status()
            content = bytearray()
            for chunk in answer.iter_bytes():
                content += chunk
                if len(content) > DOCUMENT_LIMIT:
                    raise Unavailable("The identity provider's document is too large.")
        document = _parsed(bytes(content))
    except (httpx.HTTPError, httpx.InvalidURL, ValueError, TypeError, RecursionError) as error:
        raise Unavailable("The identity provider is unavailable.") from error
    return document


def _parsed(content: bytes) -> dict[str, Any]:
    import json

    document = json.loads(content)
    if not isinstance(document, dict):
        raise TypeError("not an object")
    return cast("dict[str, Any]", document)

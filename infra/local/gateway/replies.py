"""A door's reply as HTTP, as strict about its form as API Gateway is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from infra.gateway_responses import gateway_response

# API Gateway developer guide, "Known issues": names that leave as X-Amzn-Remapped-<name>.
_REMAPPED = {"authorization", "connection", "content-md5", "date", "server", "www-authenticate"}
_DROPPED = {"content-length", "transfer-encoding"}
_KEYS = {"statusCode", "headers", "multiValueHeaders", "cookies", "body", "isBase64Encoded"}


class MalformedReply(Exception):
    """A door returned what API Gateway would not take for a proxy response."""


@dataclass(frozen=True)
class HttpResponse:
    """Status, headers and the whole body."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes


def own_response(type_: str) -> HttpResponse:
    """What the gateway says itself, by response type."""
    row = gateway_response(type_)
    headers = (("Content-Type", "application/json"), *row.headers)
    return HttpResponse(row.status, headers, row.body.encode())


def rendered(reply: Any) -> HttpResponse:
    """A buffered door's reply. Raises MalformedReply."""
    status, headers = head_of(reply)
    body = reply.get("body")
    if not isinstance(body, str | None):
        raise MalformedReply("body is neither text nor null")
    return HttpResponse(status, headers, (body or "").encode("utf-8", "surrogatepass"))


def head_of(reply: Any) -> tuple[int, tuple[tuple[str, str], ...]]:
    """Status and headers of a reply, or of a streamed reply's head. Raises MalformedReply."""
    if not isinstance(reply, dict) or set(reply) - _KEYS:
        raise MalformedReply("not an object of the known keys")
    try:
        status = int(reply["statusCode"])
    except (KeyError, TypeError, ValueError) as failure:
        raise MalformedReply("statusCode is not a number") from failure
    if not 100 <= status <= 599:
        raise MalformedReply("statusCode is out of range")
    return status, _headers(reply)


def _headers(reply: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    single, multi = reply.get("headers") or {}, reply.get("multiValueHeaders") or {}
    if not isinstance(single, dict) or not isinstance(multi, dict):
        raise MalformedReply("headers are not an object")
    repeated = {name.lower() for name in multi}
    pairs = [(name, value) for name, value in single.items() if name.lower() not in repeated]
    for name, values in multi.items():
        if not isinstance(values, list):
            raise MalformedReply(f"multiValueHeaders of {name} are not a list")
        pairs.extend((name, value) for value in values)
    pairs.extend(("Set-Cookie", value) for value in reply.get("cookies") or ())
    kept = [(_leaving(name), str(value)) for name, value in pairs if name.lower() not in _DROPPED]
    if not any(name.lower() == "content-type" for name, _ in kept):
        kept.append(("Content-Type", "application/json"))
    return tuple(kept)


def _leaving(name: str) -> str:
    return f"x-amzn-Remapped-{name}" if name.lower() in _REMAPPED else name
